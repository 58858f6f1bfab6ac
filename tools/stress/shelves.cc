// See shelves.h.
#include "tools/stress/shelves.h"

#include <limits>
#include <optional>

#include "tools/generator/dice.h"
#include "tools/stress/finding.h"
#include "tools/stress/schema.h"
#include "tools/tandem/format_text.h"

namespace tandem::stress {
namespace {

using test::ModelCell;
using test::ModelRow;
using tools::Format;

constexpr uint64_t kNotYet = std::numeric_limits<uint64_t>::max();
constexpr uint64_t kGenerationsOfClearing = 8;
constexpr size_t kOverflowBytes = 66'000;

/// Cells by family and qualifier; one row of each generation has a long value.
ModelRow RowAt(uint32_t thread, uint32_t row, uint64_t generation) {
  const auto timestamp = static_cast<int64_t>(generation);
  const uint64_t mixed = test::Mix(test::Mix(thread, row), generation);
  const size_t length =
      row == generation % kShelfRows ? kOverflowBytes + mixed % 1000 : mixed % 200;
  ModelRow made;
  made.key = StockKey(thread, row);
  made.cells = {{"d", "check", timestamp, Format("{:x}", mixed)},
                {"d", "gen", timestamp, std::to_string(generation)},
                {"d", "shelf", timestamp, ShelfName(thread)},
                {"w", "text", timestamp, std::string(length, 't')}};
  return made;
}

Span SpanOf(const Stamps& stamps) {
  const uint64_t began = stamps.began, ended = stamps.ended;
  return {began, began != 0 && ended == 0 ? kNotYet : ended};
}

Span TruncationAt(const TruncationState& state, uint64_t number) {
  return number == 0 ? Span() : SpanOf(state.stamps[number % kTruncations]);
}

ShelfBounds BoundsFrom(const ShelfState& shelf, uint64_t low) {
  const Span write = low == 0 ? Span() : SpanOf(shelf.writes[low % kEntries]);
  return {.low = low, .high = low, .write = write};
}

/// Of what was acknowledged last, once its stamps cannot have become those of a later write.
ShelfBounds AcknowledgedOf(const ShelfState& shelf) {
  while (true) {
    const ShelfBounds bounds = BoundsFrom(shelf, shelf.acked);
    if (shelf.begun - bounds.low < kEntries) return bounds;
  }
}

bool MayBeEmpty(const ShelfBounds& shelf, const Span& last_truncation) {
  if (shelf.low == 0 || last_truncation.ended > shelf.write.began) return true;
  for (uint64_t generation = shelf.low; generation <= shelf.high; ++generation) {
    if (IsCleared(generation)) return true;
  }
  return false;
}

bool MayHave(const ShelfBounds& shelf, const Span& truncation_before, uint64_t generation) {
  if (generation < shelf.low || generation > shelf.high || IsCleared(generation)) return false;
  return generation > shelf.low || truncation_before.began < shelf.write.ended;
}

/// Whether the shelf is empty only if the next truncation has come.
bool TellsOfNext(const StockBounds& bounds, const ShelfBounds& shelf) {
  return shelf.write.ended < bounds.next.began && !MayBeEmpty(shelf, bounds.before);
}

std::string TextOf(const StockBounds& bounds, const ShelfBounds& shelf) {
  return Format(
      "generations {} to {}, the first one written from {} to {}; truncations from {} to {}, and "
      "from {} to {}",
      shelf.low, shelf.high, shelf.write.began, shelf.write.ended, bounds.before.began,
      bounds.before.ended, bounds.last.began, bounds.last.ended);
}

}  // namespace

bool IsCleared(uint64_t generation) { return generation % kGenerationsOfClearing == 0; }

std::string ShelfName(uint32_t thread) { return Format("shelf-{:02}", thread); }

std::vector<ModelRow> ShelfAt(uint32_t thread, uint64_t generation) {
  std::vector<ModelRow> rows;
  if (IsCleared(generation)) return rows;
  for (uint32_t row = 0; row < kShelfRows; ++row) rows.push_back(RowAt(thread, row, generation));
  return rows;
}

void AddShelfRow(uint32_t thread, uint32_t row, uint64_t generation, WriteBatch* batch) {
  if (IsCleared(generation)) {
    return batch->DeleteRow(kStock, StockKey(thread, row), static_cast<int64_t>(generation));
  }
  const ModelRow made = RowAt(thread, row, generation);
  for (const ModelCell& cell : made.cells) {
    batch->Put(kStock, made.key, cell.family, cell.qualifier, cell.value, cell.timestamp);
  }
}

StockBounds BeginStockBounds(Expected* expected) {
  const TruncationState& truncations = expected->header().truncations;
  StockBounds bounds;
  bounds.truncations = truncations.ended;
  bounds.before = TruncationAt(truncations, bounds.truncations);
  for (uint32_t thread = 0; thread < expected->header().threads; ++thread) {
    bounds.shelves.push_back(AcknowledgedOf(expected->thread(thread).shelf));
  }
  return bounds;
}

void EndStockBounds(Expected* expected, StockBounds* bounds) {
  const TruncationState& truncations = expected->header().truncations;
  const uint64_t begun = truncations.begun;
  bounds->last = TruncationAt(truncations, begun);
  if (begun > bounds->truncations) {
    bounds->next = TruncationAt(truncations, bounds->truncations + 1);
  }
  for (uint32_t thread = 0; thread < bounds->shelves.size(); ++thread) {
    bounds->shelves[thread].high = expected->thread(thread).shelf.begun;
  }
}

ShelfBounds SurvivingBounds(const ShelfState& shelf, uint64_t generation) {
  const uint64_t kept = shelf.kept, begun = shelf.begun;
  if (generation >= kept && generation <= begun && generation > 0) {
    return BoundsFrom(shelf, generation);
  }
  ShelfBounds bounds = BoundsFrom(shelf, kept);
  bounds.high = begun;
  return bounds;
}

Status CheckShelves(const std::string& where, const StockBounds& bounds,
                    const std::vector<uint64_t>& found) {
  std::optional<uint32_t> kept, gone;
  for (uint32_t thread = 0; thread < found.size(); ++thread) {
    const ShelfBounds& shelf = bounds.shelves[thread];
    const uint64_t generation = found[thread];
    const bool is_right = generation == 0 ? MayBeEmpty(shelf, bounds.last)
                                          : MayHave(shelf, bounds.before, generation);
    if (!is_right) {
      return Mismatch(Format("{}: {}", where, ShelfName(thread)), TextOf(bounds, shelf),
                      generation == 0 ? "no row" : Format("generation {}", generation));
    }
    if (!TellsOfNext(bounds, shelf)) continue;
    if (generation == shelf.low) kept = thread;
    if (generation == 0) gone = thread;
  }
  if (!kept.has_value() || !gone.has_value()) return {};
  return Mismatch(where + ": a truncation takes all shelves or none",
                  TextOf(bounds, bounds.shelves[*gone]),
                  Format("{} is empty, {} is not", ShelfName(*gone), ShelfName(*kept)));
}

}  // namespace tandem::stress
