// Sort ranks the values and then distributes the entries by value in one pass.
#include "index/value_collector.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "format/hash.h"

namespace tandem::format {
namespace {

constexpr size_t kSlotsMin = 1024;
// The table grows when half of it is used.
constexpr size_t kSlotsPerValue = 2;

}  // namespace

class ValueCollector::Source final : public ValueSource {
 public:
  Source(std::span<const Value> values, std::span<const uint32_t> ordinals)
      : values_(values), ordinals_(ordinals) {}

  Status Start() override { return {}; }
  Status Next() override {
    values_ = values_.subspan(1);
    return {};
  }
  bool valid() const override { return !values_.empty(); }
  std::string_view key() const override { return values_.front().key; }
  Status AppendOrdinals(std::vector<uint32_t>* out) override {
    const Value& value = values_.front();
    const auto here = ordinals_.subspan(value.end - value.entries, value.entries);
    out->insert(out->end(), here.begin(), here.end());
    return {};
  }

 private:
  std::span<const Value> values_;
  std::span<const uint32_t> ordinals_;
};

void ValueCollector::Add(std::string_view key, uint32_t ordinal) {
  const uint32_t value = Find(key);
  ++values_[value].entries;
  entries_.push_back({value, ordinal});
}

// Adds the value if it is new.
uint32_t ValueCollector::Find(std::string_view key) {
  if (values_.size() * kSlotsPerValue >= slots_.size()) Grow();
  const size_t mask = slots_.size() - 1;
  size_t slot = Hash64(key) & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    if (values_[slots_[slot] - 1].key == key) return slots_[slot] - 1;
  }
  values_.push_back({.key = keys_.Copy(key)});
  slots_[slot] = static_cast<uint32_t>(values_.size());
  return slots_[slot] - 1;
}

void ValueCollector::Grow() {
  std::vector<uint32_t> larger(std::max(kSlotsMin, slots_.size() * 2));
  const size_t mask = larger.size() - 1;
  for (size_t value = 0; value < values_.size(); ++value) {
    size_t slot = Hash64(values_[value].key) & mask;
    while (larger[slot] != 0) slot = (slot + 1) & mask;
    larger[slot] = static_cast<uint32_t>(value) + 1;
  }
  slots_ = std::move(larger);
}

void ValueCollector::Sort() {
  std::vector<uint32_t> order(values_.size()), places(values_.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [this](uint32_t a, uint32_t b) { return values_[a].key < values_[b].key; });
  std::vector<Value> sorted;
  sorted.reserve(values_.size());
  uint64_t end = 0;
  for (const uint32_t value : order) {
    places[value] = static_cast<uint32_t>(end);
    end += values_[value].entries;
    sorted.push_back(values_[value]);
    sorted.back().end = end;
  }
  DCHECK(end == entries_.size());
  ordinals_.resize(entries_.size());
  for (const Entry& entry : entries_) ordinals_[places[entry.value]++] = entry.ordinal;
  values_ = std::move(sorted);
  entries_ = std::vector<Entry>();  // Which frees the memory; = {} would not.
  slots_ = std::vector<uint32_t>();
}

std::unique_ptr<ValueSource> ValueCollector::NewSource() const {
  return std::make_unique<Source>(values_, ordinals_);
}

uint64_t ValueCollector::memory_bytes() const {
  return keys_.size_bytes() + values_.capacity() * sizeof(Value) +
         slots_.capacity() * sizeof(slots_[0]) + entries_.capacity() * sizeof(Entry) +
         ordinals_.capacity() * sizeof(ordinals_[0]);
}

}  // namespace tandem::format
