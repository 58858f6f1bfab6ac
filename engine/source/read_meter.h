// What a read has cost, against its budget; and how far it has come, for a read that is stopped.
// One meter is for a call and its cursor, whatever contexts they have in turn.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/cancellation.h"
#include "base/clock.h"
#include "engine/source/position.h"
#include "engine/source/read_counters.h"
#include "tandem/options.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Threads: one at a time.
class ReadMeter {
 public:
  explicit ReadMeter(const ReadBudget& budget) : budget_(budget) {}
  ReadMeter(const ReadMeter&) = delete;
  ReadMeter& operator=(const ReadMeter&) = delete;

  /// kOverBudget if the read has passed its blocks or bytes, with `counters` of the present
  /// context.
  Status Check(const ReadCounters& counters) const;
  /// Rows that it may still look at; of at least one row that it will look at otherwise.
  uint64_t rows_left() const { return budget_.rows == 0 ? UINT64_MAX : budget_.rows - rows_; }
  void CountRows(uint64_t rows) { rows_ += rows; }
  /// kOverBudget if no row is left.
  Status CheckRows() const;
  /// kOverBudget if that is more than the read may use.
  Status CheckMemory(uint64_t bytes) const;
  /// kOverBudget if a read that certainly looks at so much is over the budget.
  Status CheckPlan(uint64_t rows, uint64_t blocks, uint64_t bytes) const;
  /// The present context has ended.
  void Add(const ReadCounters& counters) {
    blocks_ += counters.blocks;
    bytes_ += counters.bytes;
  }

  /// What a key that was looked at says about how far the read has come.
  enum class KeysAre : uint8_t {
    kPositions,    ///< All rows before it are done, of the entry of SetEntry if there is one.
    kNoPositions,  ///< Nothing.
  };
  void SetKeys(KeysAre keys) { keys_ = keys; }
  void SetEntry(std::string entry) { entry_ = std::move(entry); }
  /// The row was looked at.
  void Pass(std::string_view key) {
    if (keys_ == KeysAre::kNoPositions) return;
    if (!passed_.has_value()) passed_.emplace();
    passed_->entry = entry_;
    passed_->key = key;
  }
  void PassTo(Position position) { passed_ = std::move(position); }
  /// All rows so far were returned, so the last one says how far it has come.
  void ForgetPassed() { passed_.reset(); }
  const std::optional<Position>& passed() const { return passed_; }

 private:
  const ReadBudget budget_;
  uint64_t rows_ = 0, blocks_ = 0, bytes_ = 0;
  KeysAre keys_ = KeysAre::kPositions;
  std::optional<std::string> entry_;
  std::optional<Position> passed_;  // Since ForgetPassed.
};

/// What ends a call early.
struct ReadLimits {
  base::Cancellation cancellation;
  std::shared_ptr<ReadMeter> meter;  ///< Null: there is no budget.

  /// Those that the options give a call that begins now. `clock` may be null: time is no limit.
  static ReadLimits Of(const ReadOptions& options, base::Clock* clock);
};

}  // namespace tandem::engine
