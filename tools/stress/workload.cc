// See workload.h.
#include "tools/stress/workload.h"

#include <algorithm>

#include "tools/generator/generator.h"
#include "tools/stress/schema.h"
#include "tools/tandem/format_text.h"

namespace tandem::stress {
namespace {

using test::Dice;
using test::Mix;
using test::ModelOperation;
using test::RandomValue;
using test::ValueKind;
using OperationKind = ModelOperation::Kind;
using tools::Format;

constexpr uint64_t kLoosePart = 4;       // One loose row for this many others.
constexpr uint64_t kWideEvery = 64;      // Rows that become wide,
constexpr uint64_t kOverflowEvery = 32;  // and rows with values that lie beside them.
constexpr size_t kOverflowBytes = 66'000;
constexpr int64_t kTimesOfGeneration = 16;

ModelOperation Operation(OperationKind kind, int64_t time, std::string family = {}) {
  ModelOperation operation;
  operation.kind = kind;
  operation.family = std::move(family);
  operation.timestamp = time;
  return operation;
}

ModelOperation DeleteOne(OperationKind kind, int64_t time, std::string family, std::string column) {
  ModelOperation operation = Operation(kind, time, std::move(family));
  operation.columns = {{std::move(column), ""}};
  return operation;
}

}  // namespace

Workload::Workload(uint64_t seed, uint64_t rows, uint32_t threads)
    : seed_(seed),
      threads_(threads),
      mirrored_of_(threads),
      markers_of_(threads),
      loose_of_(threads) {
  // The kinds begin at multiples of the number of threads, so that each has its share of each.
  const uint64_t share = std::max<uint64_t>(1, rows / threads);
  const uint64_t loose_share = std::max<uint64_t>(1, share / kLoosePart);
  first_marker_ = static_cast<uint32_t>(share * threads);
  first_loose_ = first_marker_ + kMarkersOfThread * threads;
  tables_ = NewTables(seed, first_loose_ + loose_share * threads);
  keys_ = tables_[0].keys;
  for (uint32_t slot = 0; slot < slot_count(); ++slot) {
    slots_.emplace(keys_[slot], slot);
    auto& list = is_loose(slot) ? loose_of_ : is_marker(slot) ? markers_of_ : mirrored_of_;
    list[OwnerOf(slot)].push_back(slot);
    (is_loose(slot) ? loose_in_order_ : logged_in_order_).push_back(slot);
  }
  const auto by_key = [this](uint32_t a, uint32_t b) { return keys_[a] < keys_[b]; };
  std::ranges::sort(logged_in_order_, by_key);
  std::ranges::sort(loose_in_order_, by_key);
}

const std::vector<uint32_t>& Workload::SlotsOf(std::string_view table) const {
  return table == kLoose ? loose_in_order_ : logged_in_order_;
}

const test::TablePlan& Workload::TableOf(std::string_view table) const {
  return *std::ranges::find_if(tables_,
                               [&](const auto& plan) { return plan.options.name == table; });
}

std::optional<uint32_t> Workload::Find(std::string_view key) const {
  const auto found = slots_.find(key);
  if (found == slots_.end()) return std::nullopt;
  return found->second;
}

std::vector<ModelOperation> Workload::OperationsOf(uint32_t slot, uint64_t generation,
                                                   std::string_view table) const {
  Dice dice(Mix(Mix(seed_, slot), generation));
  const int64_t time = static_cast<int64_t>(generation) * kTimesOfGeneration;
  std::vector<ModelOperation> operations;
  const bool reset = generation % kGenerationsOfReset == 0 || stands_alone(slot);
  if (reset) operations.push_back(Operation(OperationKind::kDeleteRow, time));
  const bool goes = !is_marker(slot) && dice.Chance(6);
  if (goes && !reset) operations.push_back(Operation(OperationKind::kDeleteRow, time + 1));
  if (!goes) {
    ModelOperation put = Operation(OperationKind::kPut, time + 2, "d");
    put.columns = {{"gen", std::to_string(generation)},
                   {"check", Format("slot {} thread {} generation {} {:x}", slot, OwnerOf(slot),
                                    generation, dice.Next())}};
    if (reset || dice.Chance(60))
      put.columns.emplace_back("word", RandomValue(&dice, ValueKind::kText));
    operations.push_back(std::move(put));
    if (!is_loose(slot)) AddChange(slot, generation, &operations);
  }
  for (ModelOperation& operation : operations) {
    operation.table = table;
    operation.row = keys_[slot];
  }
  return operations;
}

/// Changes of the families that loose lacks.
void Workload::AddChange(uint32_t slot, uint64_t generation,
                         std::vector<ModelOperation>* to) const {
  Dice dice(Mix(Mix(seed_ + 1, slot), generation));
  const int64_t time = static_cast<int64_t>(generation) * kTimesOfGeneration;
  const uint64_t choice = dice.Below(100);
  if (choice < 8) {
    to->push_back(DeleteOne(OperationKind::kDeleteColumn, time + 3, "h", "tag"));
  } else if (choice < 16) {
    to->push_back(Operation(OperationKind::kDeleteFamily, time + 3, dice.Chance(50) ? "h" : "w"));
  } else if (choice < 24) {
    ModelOperation newest = DeleteOne(OperationKind::kDeleteCell, time + 3, "h", "tag");
    newest.timestamp.reset();
    to->push_back(std::move(newest));
  } else if (choice < 60) {
    ModelOperation put = Operation(OperationKind::kPut, time + 4, "h");
    put.columns = {{"tag", RandomValue(&dice, ValueKind::kBytes)}};
    to->push_back(std::move(put));
  } else if (choice < 85) {
    ModelOperation put = Operation(OperationKind::kPut, time + 5, "w");
    put.columns = {{"size", std::to_string(static_cast<int64_t>(dice.Below(100)) - 20)}};
    to->push_back(std::move(put));
  } else if (slot % kWideEvery == 0) {
    ModelOperation put = Operation(OperationKind::kPut, time + 6, "w");
    for (uint64_t i = 0; i < 100; ++i) {
      put.columns.emplace_back("wide-" + std::to_string(i), std::string(dice.Below(800), 'v'));
    }
    to->push_back(std::move(put));
  } else if (slot % kOverflowEvery == 1) {
    ModelOperation put = Operation(OperationKind::kPut, time + 7, "w");
    put.columns = {{"far", std::string(kOverflowBytes + dice.Below(5000), 'f')}};
    to->push_back(std::move(put));
  }
}

void Workload::AddTo(uint32_t slot, uint64_t generation, WriteBatch* batch) const {
  const std::vector<std::string_view> tables = is_loose(slot)
                                                   ? std::vector<std::string_view>{kLoose}
                                                   : std::vector<std::string_view>{kNorth, kSouth};
  for (const std::string_view table : tables) {
    for (const ModelOperation& operation : OperationsOf(slot, generation, table)) {
      operation.AddTo(batch);
    }
  }
}

std::optional<test::ModelRow> Workload::StateAt(uint32_t slot, uint64_t generation,
                                                std::string_view table,
                                                const test::ModelRead& read) const {
  if (generation == 0) return std::nullopt;
  test::Model model;
  model.CreateTable(TableOf(table).options);
  const uint64_t reset = generation - generation % kGenerationsOfReset;
  for (uint64_t g = std::max<uint64_t>(1, stands_alone(slot) ? generation : reset); g <= generation;
       ++g) {
    for (const ModelOperation& operation : OperationsOf(slot, g, table)) {
      model.Apply(operation, 0, 0);
    }
  }
  return model.Get(std::string(table), keys_[slot], read);
}

}  // namespace tandem::stress
