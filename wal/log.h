// The write-ahead log: a chain of preallocated segments that are never overwritten or reused. The
// writer appends frames to the last segment; the reader replays all segments and tells a torn tail
// (the log ends there) from damage (kCorruption).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.h"
#include "format/frame.h"
#include "format/root.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::wal {

/// The end of a segment that a successor's header vouches for.
struct SegmentEnd {
  uint64_t length_bytes = 0;
  uint64_t last_checksum = 0;
};

/// Writes one segment. Threads: one at a time.
class SegmentWriter {
 public:
  /// Writes the header of a new segment (which names its predecessor's end; zeros for the first) and
  /// syncs it. `preallocate_bytes` reserves space.
  static Result<std::unique_ptr<SegmentWriter>> Create(std::unique_ptr<base::File> file,
                                                       const struct SegmentSpec& spec);
  /// Appends one frame to the buffer; `frame.previous` is filled in here.
  void Append(format::Frame frame);
  /// Gives the buffer to the operating system. Errors: kNoSpace (the segment is cut back to its last
  /// good frame, the frames since the last Write are gone and the segment takes no more), kIoError.
  Status Write();
  /// Write, then makes it durable. Errors: as Write; after any failed sync nothing more is accepted.
  Status Sync();
  /// Where the last frame that was written (not only buffered) ends.
  SegmentEnd end() const;
  uint64_t size_bytes() const;  ///< With what is buffered.
  bool sealed() const;          ///< After kNoSpace.
  /// Cuts the preallocated rest off, so that the file has its exact length, and syncs.
  Status Close();
  ~SegmentWriter();

 private:
  struct Parts;
  explicit SegmentWriter(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

struct SegmentSpec {
  format::DatabaseId database;
  format::FileNumber number;
  format::FileId id;
  SegmentEnd predecessor;
  uint64_t preallocate_bytes = 0;
};

/// What replay found.
struct ReplayReport {
  uint64_t frames = 0;
  uint64_t operations = 0;
  uint64_t last_sequence = 0;      ///< Of the last good frame's last operation; 0 when none.
  int64_t last_timestamp = 0;
  uint64_t durable_mark = 0;       ///< Highest seen in any frame.
  uint64_t torn_bytes = 0;         ///< Behind the end of the log in its last segment, not zeros.
  format::FileNumber last_segment; ///< Where the log ends ...
  SegmentEnd end;                  ///< ... and at which byte.
};

/// One segment to replay. `bound` is set when ROOT says closed: length and checksum must agree.
struct ReplaySegment {
  format::FileNumber number;
  format::FileId id;
  std::unique_ptr<base::File> file;
  const format::BoundFile* bound = nullptr;
};

/// Gives each frame of the segments, in order, to `visit` and reports where the log ends. A bad frame
/// that no later good frame's durable mark reaches is a torn tail; otherwise, and wherever a header,
/// a chain link or a bound length does not agree, kCorruption with segment, offset, expected, found.
Result<ReplayReport> Replay(std::vector<ReplaySegment> segments, const format::DatabaseId& database,
                            const std::function<Status(const format::Frame&)>& visit);

}  // namespace tandem::wal
