// See loads.h.
#include "tools/stress/loads.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "tandem/bulk_load.h"
#include "tools/generator/dice.h"
#include "tools/stress/finding.h"
#include "tools/stress/schema.h"
#include "tools/stress/shelves.h"
#include "tools/tandem/format_text.h"

namespace tandem::stress {
namespace {

using tools::Format;

/// Generations of a shelf that may be lost at the end of the process; there are stamps for more.
constexpr uint64_t kUnkeptMax = 40;

void BeginWrite(Expected* expected, uint32_t thread, uint64_t generation) {
  ShelfState& shelf = expected->thread(thread).shelf;
  Stamps& write = shelf.writes[generation % kEntries];
  write.ended = 0;
  write.began = expected->NextStamp();
  shelf.begun = generation;
}

void EndWrite(Expected* expected, uint32_t thread, uint64_t generation) {
  ShelfState& shelf = expected->thread(thread).shelf;
  shelf.writes[generation % kEntries].ended = expected->NextStamp();
  shelf.acked = std::max(shelf.acked.load(), generation);
}

std::vector<uint32_t> RowsInOrder(const ShelfLoad& load) {
  std::vector<uint32_t> rows(kShelfRows);
  std::iota(rows.begin(), rows.end(), 0);
  if (!load.any_order) return rows;
  test::Dice dice(load.seed);
  for (size_t i = rows.size() - 1; i > 0; --i) std::swap(rows[i], rows[dice.Below(i + 1)]);
  return rows;
}

/// What refuses a load does not refuse a write.
Status WriteMeanwhile(const Stressed& stressed, uint32_t thread) {
  const Status status = WriteShelf(stressed, thread, Durability::kBuffered);
  stressed.Begin("bulk load");
  return status.ok() ? status : Mismatch("stock: write beside a load", "OK", status.ToString());
}

Status AddRows(const Stressed& stressed, const ShelfLoad& load, uint64_t generation,
               BulkLoad* bulk) {
  const std::vector<uint32_t> rows = RowsInOrder(load);
  for (size_t i = 0; i < rows.size(); ++i) {
    const bool writes = load.writes_meanwhile && !IsCleared(generation + 1);
    if (writes && i == rows.size() / 2) {
      RETURN_IF_ERROR(WriteMeanwhile(stressed, load.thread));
    }
    WriteBatch batch;
    AddShelfRow(load.thread, rows[i], generation, &batch);
    RETURN_IF_ERROR(bulk->Add(batch));
  }
  return {};
}

/// kNotFound: the table was truncated meanwhile.
Status RunLoad(const Stressed& stressed, const ShelfLoad& load, uint64_t generation) {
  auto bulk = stressed.database->BeginBulkLoad(kStock, {.any_order = load.any_order});
  if (!bulk.has_value()) return bulk.error();
  RETURN_IF_ERROR(AddRows(stressed, load, generation, &*bulk));
  stressed.Begin("commit of a bulk load");
  if (!load.is_abandoned) return bulk->Commit();
  bulk->Abandon();
  return {};
}

/// Of a load: the next one that has rows, or one that nobody writes soon, and which is not to be
/// seen.
uint64_t GenerationOf(const ShelfLoad& load, uint64_t begun) {
  const uint64_t next = IsCleared(begun + 1) ? begun + 2 : begun + 1;
  return load.is_abandoned ? next + kEntries : next;
}

}  // namespace

Status WriteShelf(const Stressed& stressed, uint32_t thread, Durability durability) {
  Expected& expected = *stressed.expected;
  ShelfState& shelf = expected.thread(thread).shelf;
  const uint64_t generation = shelf.begun + 1;
  if (generation - shelf.kept >= kUnkeptMax) durability = Durability::kWritten;
  WriteBatch batch;
  for (uint32_t row = 0; row < kShelfRows; ++row) AddShelfRow(thread, row, generation, &batch);
  stressed.Begin("write of a shelf");
  stressed.log->Add(Format("{} write shelf at {}", thread, generation));
  BeginWrite(&expected, thread, generation);
  WriteOptions options;
  options.durability = durability;
  const Status status = stressed.database->Write(options, batch);
  if (!status.ok()) return In("stock: write of a shelf", status);
  EndWrite(&expected, thread, generation);
  if (durability >= Durability::kWritten) shelf.kept = generation;
  expected.Add(Count::kShelfWrites);
  return {};
}

Status LoadShelf(const Stressed& stressed, const ShelfLoad& load) {
  Expected& expected = *stressed.expected;
  const TruncationState& truncations = expected.header().truncations;
  ShelfState& shelf = expected.thread(load.thread).shelf;
  const uint64_t begun_before = shelf.begun;
  const uint64_t generation = GenerationOf(load, begun_before);
  stressed.Begin("bulk load");
  stressed.log->Add(Format("{} {} shelf at {}{}", load.thread,
                           load.is_abandoned ? "abandon" : "load", generation,
                           load.any_order ? " in any order" : ""));
  if (!load.is_abandoned) BeginWrite(&expected, load.thread, generation);
  const uint64_t truncations_before = truncations.ended;
  const Status status = RunLoad(stressed, load, generation);
  if (status.code() == StatusCode::kNotFound && truncations.begun > truncations_before) {
    if (shelf.begun == generation) shelf.begun = begun_before;
    return {};
  }
  if (!status.ok()) return In("stock: bulk load of a shelf", status);
  if (load.is_abandoned) return {};
  EndWrite(&expected, load.thread, generation);
  // Its commit flushes what was written before.
  shelf.kept = shelf.acked.load();
  expected.Add(Count::kBulkLoads);
  return {};
}

Status TruncateStock(const Stressed& stressed) {
  Expected& expected = *stressed.expected;
  TruncationState& truncations = expected.header().truncations;
  if (truncations.is_claimed.exchange(1) != 0) return {};
  const uint64_t number = truncations.begun + 1;
  Stamps& stamps = truncations.stamps[number % kTruncations];
  stamps.ended = 0;
  stamps.began = expected.NextStamp();
  truncations.begun = number;
  stressed.Begin("truncation");
  stressed.log->Add(Format("truncate {}", number));
  const Status status = stressed.database->TruncateTable(kStock);
  if (!status.ok()) return In("stock: truncation", status);
  stamps.ended = expected.NextStamp();
  truncations.ended = number;
  truncations.is_claimed = 0;
  expected.Add(Count::kTruncations);
  return {};
}

}  // namespace tandem::stress
