// The merge looks at every source for each value: there are few sources, so the scan over their
// cached key heads is cheaper than a heap.
#include "index/merge.h"

#include <algorithm>

#include "base/status_macros.h"
#include "format/coding.h"

namespace tandem::format {
namespace {

// Prefetch distance, in values.
constexpr uint32_t kAhead = 16;

class CollectedSource final : public ValueSource {
 public:
  explicit CollectedSource(std::span<const CollectedEntry> entries) : left_(entries) {}

  Status Start() override {
    TakeValue();
    return {};
  }
  Status Next() override {
    left_ = left_.subspan(count_);
    TakeValue();
    return {};
  }
  bool valid() const override { return !left_.empty(); }
  std::string_view key() const override { return left_.front().key_view(); }
  Status AppendOrdinals(std::vector<uint32_t>* out) override {
    for (const CollectedEntry& entry : left_.first(count_)) out->push_back(entry.ordinal);
    return {};
  }

 private:
  // Counts the entries of the first remaining value. The hardware cannot predict where the next
  // keys are in the arena, so they are prefetched. Equal keys have equal heads after SortByKey,
  // which saves most comparisons.
  void TakeValue() {
    count_ = 0;
    while (count_ < left_.size() && left_[count_].head == left_.front().head &&
           left_[count_].key_view() == key()) {
      if (count_ + kAhead < left_.size()) __builtin_prefetch(left_[count_ + kAhead].key);
      ++count_;
    }
  }

  std::span<const CollectedEntry> left_;
  size_t count_ = 0;
};

class MappedSource final : public ValueSource {
 public:
  MappedSource(std::unique_ptr<IndexValueCursor> cursor, std::span<const uint32_t> map)
      : cursor_(std::move(cursor)), map_(map) {}

  Status Start() override { return cursor_->Seek(""); }
  Status Next() override {
    RETURN_IF_ERROR(cursor_->Next());
    if (!cursor_->valid()) return {};
    // Ordinals of successive values are scattered over the map, which does not fit the CPU caches.
    const std::optional<uint32_t> ahead = cursor_->OrdinalAhead(kAhead);
    if (ahead.has_value() && *ahead < map_.size()) __builtin_prefetch(&map_[*ahead]);
    return {};
  }
  bool valid() const override { return cursor_->valid(); }
  std::string_view key() const override { return cursor_->key(); }
  Status AppendOrdinals(std::vector<uint32_t>* out) override {
    // In place, and no larger than needed: a value may have all rows.
    size_t kept = out->size();
    const size_t coming = std::min<size_t>(cursor_->count(), map_.size());
    if (out->capacity() - kept < coming) out->reserve(kept + coming);
    RETURN_IF_ERROR(cursor_->AppendOrdinals(out));
    for (size_t i = kept; i < out->size(); ++i) {
      const uint32_t ordinal = (*out)[i];
      if (ordinal >= map_.size()) {
        return Status::Corruption("an index section names a row that its file does not have");
      }
      const uint32_t mapped = map_[ordinal];
      if (mapped != kNotCopied) (*out)[kept++] = mapped;
    }
    out->resize(kept);
    return {};
  }

 private:
  std::unique_ptr<IndexValueCursor> cursor_;
  std::span<const uint32_t> map_;
};

// The sources that have values left, each with its current key.
class Merge {
 public:
  Status Start(std::span<const std::unique_ptr<ValueSource>> sources) {
    for (const auto& source : sources) {
      RETURN_IF_ERROR(source->Start());
      if (source->valid()) inputs_.push_back(InputOf(source.get()));
    }
    return {};
  }
  bool done() const { return inputs_.empty(); }
  std::string_view key() const { return smallest_.key; }

  // Finds the smallest key and the ordinals it has over all sources.
  Status TakeSmallest(std::vector<uint32_t>* ordinals) {
    smallest_ = inputs_.front();
    for (const Input& input : inputs_) {
      if (Less(input, smallest_)) smallest_ = input;
    }
    ordinals->clear();
    for (const Input& input : inputs_) {
      if (!Equal(input, smallest_)) continue;
      const auto before = static_cast<std::ptrdiff_t>(ordinals->size());
      RETURN_IF_ERROR(input.source->AppendOrdinals(ordinals));
      std::inplace_merge(ordinals->begin(), ordinals->begin() + before, ordinals->end());
    }
    return {};
  }

  // Advances the sources at the smallest key; its bytes are then invalid.
  Status Advance() {
    // The bytes of smallest_.key belong to this source, so it is advanced last.
    ValueSource* last = smallest_.source;
    for (Input& input : inputs_) {
      if (input.source != last && Equal(input, smallest_)) RETURN_IF_ERROR(Step(&input));
    }
    for (Input& input : inputs_) {
      if (input.source == last) RETURN_IF_ERROR(Step(&input));
    }
    std::erase_if(inputs_, [](const Input& input) { return !input.source->valid(); });
    return {};
  }

 private:
  struct Input {
    ValueSource* source = nullptr;
    uint64_t head = 0;
    std::string_view key;
  };
  static Input InputOf(ValueSource* source) {
    return {source, KeyHead(source->key()), source->key()};
  }
  static bool Less(const Input& a, const Input& b) {
    return a.head != b.head ? a.head < b.head : a.key < b.key;
  }
  static bool Equal(const Input& a, const Input& b) { return a.head == b.head && a.key == b.key; }
  static Status Step(Input* input) {
    RETURN_IF_ERROR(input->source->Next());
    if (input->source->valid()) *input = InputOf(input->source);
    return {};
  }

  std::vector<Input> inputs_;
  Input smallest_;
};

}  // namespace

std::unique_ptr<ValueSource> NewCollectedSource(std::span<const CollectedEntry> entries) {
  return std::make_unique<CollectedSource>(entries);
}

std::unique_ptr<ValueSource> NewMappedSource(std::unique_ptr<IndexValueCursor> cursor,
                                             std::span<const uint32_t> map) {
  return std::make_unique<MappedSource>(std::move(cursor), map);
}

Status MergeValues(std::span<const std::unique_ptr<ValueSource>> sources, IndexPartWriter* out) {
  Merge merge;
  RETURN_IF_ERROR(merge.Start(sources));
  std::vector<uint32_t> ordinals;
  while (!merge.done()) {
    RETURN_IF_ERROR(merge.TakeSmallest(&ordinals));
    if (!ordinals.empty()) RETURN_IF_ERROR(out->Add(merge.key(), ordinals));
    RETURN_IF_ERROR(merge.Advance());
  }
  return {};
}

}  // namespace tandem::format
