// The log of an emulated table: its segments, and when memstores are flushed to shorten it.
#pragma once

#include <cstdint>
#include <deque>

namespace tandem::emulator {

/// Positions are bytes since the beginning.
class Log {
 public:
  /// Sizes of engine::Tuning.
  Log(uint64_t memstore_bytes, uint64_t segment_bytes);

  /// True: so much was logged that the length is to be looked at.
  bool Append(double bytes);
  double end() const { return end_; }
  /// Rolls a segment that is large enough.
  void RollIfDue();
  /// Removes segments that end at or before `needed`.
  void DropBefore(double needed);
  /// Memstores with a put before it are to be flushed; 0: none.
  double FlushBefore() const;

 private:
  double bytes() const { return end_ - begin_; }

  const double bytes_max_, segment_bytes_, look_bytes_;
  double begin_ = 0, end_ = 0;
  double segment_begin_ = 0;   // Of the one that is written.
  std::deque<double> sealed_;  // Where each ends.
  double looked_at_ = 0;
};

}  // namespace tandem::emulator
