// Errors name the limit, and how much of it was needed or reached.
#include "engine/source/read_meter.h"

namespace tandem::engine {
namespace {

Status Passed(uint64_t limit, std::string_view what, std::string_view reached, uint64_t count) {
  return Status::OverBudget("the read would pass its budget of " + std::to_string(limit) + " " +
                            std::string(what) + ": it " + std::string(reached) + " " +
                            std::to_string(count));
}

}  // namespace

Status ReadMeter::Check(const ReadCounters& counters) const {
  const uint64_t blocks = blocks_ + counters.blocks, bytes = bytes_ + counters.bytes;
  if (budget_.blocks != 0 && blocks > budget_.blocks) {
    return Passed(budget_.blocks, "blocks", "has come to block", blocks);
  }
  if (budget_.bytes != 0 && bytes > budget_.bytes) {
    return Passed(budget_.bytes, "bytes of blocks", "has come to byte", bytes);
  }
  return {};
}

Status ReadMeter::CheckRows() const {
  if (rows_left() > 0) return {};
  return Passed(budget_.rows, "rows", "has come to row", rows_ + 1);
}

Status ReadMeter::CheckMemory(uint64_t bytes) const {
  if (budget_.memory == 0 || bytes <= budget_.memory) return {};
  return Passed(budget_.memory, "bytes of memory", "needs at least", bytes);
}

Status ReadMeter::CheckPlan(uint64_t rows, uint64_t blocks, uint64_t bytes) const {
  if (budget_.rows != 0 && rows > rows_left()) {
    return Passed(budget_.rows, "rows", "was not begun, since it looks at", rows_ + rows);
  }
  if (budget_.blocks != 0 && blocks_ + blocks > budget_.blocks) {
    return Passed(budget_.blocks, "blocks", "was not begun, since it reads", blocks_ + blocks);
  }
  if (budget_.bytes != 0 && bytes_ + bytes > budget_.bytes) {
    return Passed(budget_.bytes, "bytes of blocks", "was not begun, since it reads",
                  bytes_ + bytes);
  }
  return {};
}

ReadLimits ReadLimits::Of(const ReadOptions& options, base::Clock* clock) {
  ReadLimits limits;
  const ReadBudget& budget = options.budget;
  if (!budget.is_limited()) {
    limits.cancellation = base::Cancellation(options.cancelled);
    return limits;
  }
  limits.meter = std::make_shared<ReadMeter>(budget);
  limits.cancellation = budget.micros == 0 || clock == nullptr
                            ? base::Cancellation(options.cancelled)
                            : base::Cancellation(options.cancelled, clock, budget.micros);
  return limits;
}

}  // namespace tandem::engine
