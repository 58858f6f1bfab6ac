// Accumulating the values of groups, and writing them as text.
#include "engine/group/groups.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "base/status_macros.h"
#include "engine/predicate/bound.h"
#include "format/value_text.h"
#include "index/key.h"
#include "index/put_key.h"

namespace tandem::engine {
namespace {

using Kind = AggregateKind;

// Of a node of the table besides its strings and values.
constexpr uint64_t kNodeBytes = sizeof(std::string) + sizeof(std::vector<Accumulator>) + 32;

// Of the groups that one of several threads holds: a part of what a read may.
constexpr uint64_t kPartOfFold = 8;
constexpr uint64_t kFoldBytesMax = 1 << 20;

// What strings have beside their own memory.
uint64_t HeapBytes(size_t bytes) { return bytes < sizeof(std::string) / 2 ? 0 : bytes + 16; }

// The number in an ascending key, after its tag: its bits in order, the sign's turned.
uint64_t BitsOf(std::string_view key) {
  uint64_t bits = 0;
  for (size_t i = 1; i <= sizeof(bits); ++i) bits = bits << 8 | static_cast<uint8_t>(key[i]);
  return bits;
}

constexpr uint64_t kSign = uint64_t{1} << 63;

void AddNumber(ColumnType type, std::string_view key, Accumulator* sum) {
  const uint64_t bits = BitsOf(key);
  switch (TextType(type)) {
    case ColumnType::kInt64:
      sum->integer += static_cast<int64_t>(bits ^ kSign);
      return;
    case ColumnType::kUint64:
      sum->integer += bits;
      return;
    default:
      break;
  }
  const auto number = std::bit_cast<double>((bits & kSign) != 0 ? bits ^ kSign : ~bits);
  const double total = sum->real + number;
  const bool is_smaller = std::abs(sum->real) < std::abs(number);
  sum->rest += is_smaller ? (number - total) + sum->real : (sum->real - total) + number;
  sum->real = total;
}

// The rest of a sum that is infinite is no number.
double RealOf(const Accumulator& sum) {
  return std::isfinite(sum.real) ? sum.real + sum.rest : sum.real;
}

// Of int64 and uint64 values. Errors: kInvalidArgument.
Result<std::string> IntegerText(const format::IndexColumnRecord& column, __int128 sum) {
  const bool is_signed = TextType(column.type) == ColumnType::kInt64;
  const __int128 least = is_signed ? std::numeric_limits<int64_t>::min() : 0;
  const __int128 most = is_signed ? static_cast<__int128>(std::numeric_limits<int64_t>::max())
                                  : static_cast<__int128>(std::numeric_limits<uint64_t>::max());
  if (sum < least || sum > most) {
    return Status::InvalidArgument(
        "the sum of " + format::Described(column) + " does not fit its type " +
        std::string(ColumnTypeName(column.type)) + ": cast it to double");
  }
  return is_signed ? std::to_string(static_cast<int64_t>(sum))
                   : std::to_string(static_cast<uint64_t>(sum));
}

// nullopt: absent. Errors: kInvalidArgument, kCorruption.
Result<std::optional<std::string>> TextOf(const GroupSpec::Value& value, const Accumulator& found) {
  using Text = std::optional<std::string>;
  if (value.kind == Kind::kRows || value.kind == Kind::kCount) {
    return Text(std::to_string(found.count));
  }
  const format::IndexColumnRecord& column = *value.column;
  const bool is_double = TextType(column.type) == ColumnType::kDouble;
  if (value.kind == Kind::kSum) {
    if (is_double) return Text(format::DoubleText(RealOf(found)));
    ASSIGN_OR_RETURN(std::string text, IntegerText(column, found.integer));
    return Text(std::move(text));
  }
  if (found.count == 0) return Text();
  if (value.kind == Kind::kAverage) {
    const double sum = is_double ? RealOf(found) : static_cast<double>(found.integer);
    return Text(format::DoubleText(sum / static_cast<double>(found.count)));
  }
  std::string_view key = found.extreme;
  return format::DecodeIndexKey(column, &key);
}

void TakeExtreme(Kind kind, std::string_view key, Accumulator* value) {
  const bool is_first = value->extreme.empty();
  if (is_first || (kind == Kind::kMin ? key < value->extreme : key > value->extreme)) {
    value->extreme = key;
  }
}

// Adds rows that were added up apart. The value is no sum of doubles.
void AddAccumulated(Kind kind, const Accumulator& more, Accumulator* value) {
  value->count += more.count;
  value->integer += more.integer;
  if (!more.extreme.empty()) TakeExtreme(kind, more.extreme, value);
}

uint64_t ExtremeBytes(const std::vector<Accumulator>& values) {
  uint64_t bytes = 0;
  for (const Accumulator& value : values) bytes += HeapBytes(value.extreme.size());
  return bytes;
}

class GroupSource final : public RowSource {
 public:
  GroupSource(std::shared_ptr<const GroupSpec> spec,
              std::vector<std::unique_ptr<GroupMaker>> makers)
      : spec_(std::move(spec)),
        makers_(std::move(makers)),
        left_(spec_->limit == 0 ? UINT64_MAX : spec_->limit) {}

  Result<bool> NextBatch(format::RowBatch* batch) override {
    batch->Clear();
    while (at_ == groups_.size() && left_ > 0) {
      groups_.clear();
      at_ = 0;
      if (maker_ == makers_.size()) return false;
      ASSIGN_OR_RETURN(const bool more, makers_[maker_]->Next(&groups_));
      if (!more) makers_[maker_++].reset();
    }
    const size_t rows =
        std::min({groups_.size() - at_, format::RowBatch::kRowsMax, static_cast<size_t>(left_)});
    if (rows == 0) return false;
    const size_t width = spec_->keys.size() + spec_->values.size();
    texts_.clear();
    for (size_t i = 0; i < rows; ++i) RETURN_IF_ERROR(AddTexts(groups_[at_ + i]));
    cells_.clear();
    for (const std::optional<std::string>& text : texts_) {
      Cell& cell = cells_.emplace_back();
      cell.timestamp = text.has_value() ? 1 : 0;
      if (text.has_value()) cell.value = *text;
    }
    for (size_t i = 0; i < rows; ++i) {
      batch->Add({groups_[at_ + i].key, std::span(cells_).subspan(i * width, width)});
    }
    at_ += rows;
    left_ -= rows;
    return true;
  }

 private:
  Status AddTexts(const Group& group) {
    std::string_view key = group.key;
    for (const format::IndexColumnRecord& column : spec_->keys) {
      ASSIGN_OR_RETURN(texts_.emplace_back(), format::DecodeIndexKey(column, &key));
    }
    for (size_t i = 0; i < group.values.size(); ++i) {
      ASSIGN_OR_RETURN(texts_.emplace_back(), TextOf(spec_->values[i], group.values[i]));
    }
    return {};
  }

  const std::shared_ptr<const GroupSpec> spec_;
  std::vector<std::unique_ptr<GroupMaker>> makers_;
  size_t maker_ = 0;  // That the next groups come from.
  std::vector<Group> groups_;
  size_t at_ = 0;  // The next one.
  uint64_t left_;
  std::vector<std::optional<std::string>> texts_;  // Of the batch, and views of them.
  std::vector<Cell> cells_;
};

}  // namespace

GroupedRow::GroupedRow(const GroupSpec& spec) : spec_(spec) {
  for (const format::IndexColumnRecord& key : spec.keys) keys_.emplace_back(key, *spec.table);
  for (const GroupSpec::Value& value : spec.values) {
    auto& column = values_.emplace_back();
    if (value.column.has_value()) column.emplace(*value.column, *spec.table);
  }
}

void GroupedRow::KeyOf(const RowView& row, std::string* key) const {
  key->clear();
  for (const RowColumn& column : keys_) {
    if (!column.AppendKeyIn(row, key)) format::AppendAbsentKey(column.record(), key);
  }
}

void GroupedRow::AddTo(const RowView& row, std::vector<Accumulator>* values) {
  for (size_t i = 0; i < values->size(); ++i) {
    Accumulator& value = (*values)[i];
    const std::optional<RowColumn>& column = values_[i];
    if (!column.has_value()) {
      ++value.count;
      continue;
    }
    scratch_.clear();
    if (!column->AppendKeyIn(row, &scratch_)) continue;
    ++value.count;
    switch (spec_.values[i].kind) {
      case Kind::kMin:
      case Kind::kMax:
        TakeExtreme(spec_.values[i].kind, scratch_, &value);
        break;
      case Kind::kSum:
      case Kind::kAverage:
        AddNumber(column->record().type, scratch_, &value);
        break;
      default:
        break;
    }
  }
}

void GroupedRow::AddCounted(std::string_view key, uint64_t rows,
                            std::vector<Accumulator>* values) const {
  const bool is_absent = format::StartsAbsent(spec_.keys.front(), key);
  for (size_t i = 0; i < values->size(); ++i) {
    const Kind kind = spec_.values[i].kind;
    if (is_absent && kind != Kind::kRows) continue;
    (*values)[i].count += rows;
    if (kind == Kind::kMin || kind == Kind::kMax) (*values)[i].extreme = key;
  }
}

GroupTable::GroupTable(const GroupSpec& spec, const ReadResources& resources,
                       std::shared_ptr<ReadMeter> meter)
    : spec_(spec),
      row_(spec),
      bytes_max_(resources.read_buffer_bytes),
      meter_(std::move(meter)),
      charge_(resources.memory, base::MemoryPart::kHits) {}

Status GroupTable::Add(const RowView& row) {
  row_.KeyOf(row, &key_);
  auto found = groups_.find(std::string_view(key_));
  uint64_t added = 0;
  if (found == groups_.end()) {
    found = groups_.try_emplace(key_, spec_.values.size()).first;
    added = BytesOfGroup(key_);
  }
  const uint64_t before = ExtremeBytes(found->second);
  row_.AddTo(row, &found->second);
  added += ExtremeBytes(found->second) - before;  // Modulo 2^64, so that it may shrink.
  return added == 0 ? Status() : Charge(added);
}

// Each group is in one of the tables at any time.
Status GroupTable::AddAll(GroupTable* other) {
  while (!other->groups_.empty()) {
    auto node = other->groups_.extract(other->groups_.begin());
    const auto found = groups_.find(std::string_view(node.key()));
    if (found == groups_.end()) {
      const uint64_t added = BytesOfGroup(node.key()) + ExtremeBytes(node.mapped());
      groups_.insert(std::move(node));
      RETURN_IF_ERROR(Charge(added));
      continue;
    }
    std::vector<Accumulator>& values = found->second;
    const uint64_t before = ExtremeBytes(values);
    for (size_t i = 0; i < values.size(); ++i) {
      AddAccumulated(spec_.values[i].kind, node.mapped()[i], &values[i]);
    }
    RETURN_IF_ERROR(Charge(ExtremeBytes(values) - before));
  }
  other->bytes_ = 0;
  other->charge_.Set(0);
  return {};
}

// Without what its values have elsewhere.
uint64_t GroupTable::BytesOfGroup(std::string_view key) const {
  return kNodeBytes + HeapBytes(key.size()) + spec_.values.size() * sizeof(Accumulator);
}

Status GroupTable::Charge(uint64_t bytes) {
  constexpr uint64_t kStep = 64 << 10;
  const uint64_t steps = bytes_ / kStep;
  bytes_ += bytes;
  if (bytes_ / kStep == steps) return {};
  charge_.Set(bytes_);
  if (meter_ != nullptr) RETURN_IF_ERROR(meter_->CheckMemory(bytes_));
  if (bytes_ <= bytes_max_) return {};
  return Status::OverBudget(
      std::to_string(groups_.size()) + " groups take more than the " + std::to_string(bytes_max_) +
      " bytes that a read may hold: group by an index in whose order rows are "
      "read (use_indexes), or give the database more memory");
}

std::vector<Group> GroupTable::TakeSorted() {
  std::vector<Group> sorted;
  sorted.reserve(groups_.size());
  while (!groups_.empty()) {
    auto node = groups_.extract(groups_.begin());
    sorted.push_back({std::move(node.key()), std::move(node.mapped())});
  }
  std::ranges::sort(sorted, {}, &Group::key);
  if (spec_.descending) std::ranges::reverse(sorted);
  return sorted;
}

struct GroupFold::Worker {
  Worker(const GroupSpec& spec, const ReadResources& resources)
      : table(spec, resources, /*meter=*/nullptr) {}

  GroupTable table;
  format::RowBatch batch;
};

GroupFold::GroupFold(const GroupSpec& spec, const ReadResources& resources)
    : spec_(spec), resources_(resources), all_(spec, resources, /*meter=*/nullptr) {}

GroupFold::~GroupFold() = default;

bool GroupFold::Serves(const GroupSpec& spec) {
  return std::ranges::none_of(spec.values, [](const GroupSpec::Value& value) {
    const bool is_sum = value.kind == Kind::kSum || value.kind == Kind::kAverage;
    return is_sum && TextType(value.column->type) == ColumnType::kDouble;
  });
}

Status GroupFold::Take(RowSource* rows) {
  std::unique_ptr<Worker> worker;
  {
    base::MutexLock lock(mutex_);
    if (!idle_.empty()) {
      worker = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (worker == nullptr) worker = std::make_unique<Worker>(spec_, resources_);
  while (true) {
    ASSIGN_OR_RETURN(const bool more, rows->NextBatch(&worker->batch));
    if (!more) break;
    for (const RowView& row : worker->batch.rows()) RETURN_IF_ERROR(worker->table.Add(row));
  }
  worker->batch.Clear();
  const uint64_t most = std::min(resources_.read_buffer_bytes / kPartOfFold, kFoldBytesMax);
  base::MutexLock lock(mutex_);
  if (worker->table.bytes() > most) RETURN_IF_ERROR(all_.AddAll(&worker->table));
  idle_.push_back(std::move(worker));
  return {};
}

Result<std::vector<Group>> GroupFold::TakeSorted() {
  base::MutexLock lock(mutex_);
  for (const std::unique_ptr<Worker>& worker : idle_) {
    RETURN_IF_ERROR(all_.AddAll(&worker->table));
  }
  return all_.TakeSorted();
}

std::unique_ptr<RowSource> NewGroupSource(std::shared_ptr<const GroupSpec> spec,
                                          std::vector<std::unique_ptr<GroupMaker>> makers) {
  return std::make_unique<GroupSource>(std::move(spec), std::move(makers));
}

}  // namespace tandem::engine
