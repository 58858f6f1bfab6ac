// The sources are merged by a loser tree over their key heads: the first eight bytes as a number.
#include "index/merge.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/loser_tree.h"
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

// The sources by their current keys, in a loser tree; those that have ended come last.
class Merge {
 public:
  explicit Merge(std::span<const std::unique_ptr<ValueSource>> sources) : inputs_(sources.size()) {
    for (size_t i = 0; i < sources.size(); ++i) inputs_[i].source = sources[i].get();
  }

  Status Start() {
    for (Input& input : inputs_) {
      RETURN_IF_ERROR(input.source->Start());
      input.TakeKey();
    }
    tree_.emplace(inputs_.size(), Before{&inputs_});
    return {};
  }
  bool done() const { return top().is_over; }

  // Takes the smallest key and its ordinals in all sources, and moves these sources on.
  Status TakeSmallest(std::string* key, std::vector<uint32_t>* ordinals) {
    key->assign(top().key);
    const uint64_t head = top().head;
    ordinals->clear();
    do {
      const auto before = static_cast<std::ptrdiff_t>(ordinals->size());
      RETURN_IF_ERROR(top().source->AppendOrdinals(ordinals));
      std::inplace_merge(ordinals->begin(), ordinals->begin() + before, ordinals->end());
      RETURN_IF_ERROR(top().source->Next());
      top().TakeKey();
      tree_->Replay();
    } while (!done() && top().head == head && top().key == *key);
    return {};
  }

 private:
  struct Input {
    ValueSource* source = nullptr;
    bool is_over = false;
    uint64_t head = 0;
    std::string_view key{};

    void TakeKey() {
      is_over = !source->valid();
      key = is_over ? std::string_view() : source->key();
      head = is_over ? ~uint64_t{0} : KeyHead(key);
    }
  };
  struct Before {
    const std::vector<Input>* inputs;

    bool operator()(size_t a, size_t b) const {
      const Input& left = (*inputs)[a];
      const Input& right = (*inputs)[b];
      if (left.head != right.head) return left.head < right.head;
      if (left.is_over || right.is_over) return !left.is_over || (right.is_over && a < b);
      const int order = left.key.compare(right.key);
      return order != 0 ? order < 0 : a < b;
    }
  };
  Input& top() { return inputs_[tree_->top()]; }
  const Input& top() const { return inputs_[tree_->top()]; }

  std::vector<Input> inputs_;
  std::optional<base::LoserTree<Before>> tree_;
};

}  // namespace

std::unique_ptr<ValueSource> NewCollectedSource(std::span<const CollectedEntry> entries) {
  return std::make_unique<CollectedSource>(entries);
}

std::unique_ptr<ValueSource> NewMappedSource(std::unique_ptr<IndexValueCursor> cursor,
                                             std::span<const uint32_t> map) {
  return std::make_unique<MappedSource>(std::move(cursor), map);
}

Status MergeValues(std::span<const std::unique_ptr<ValueSource>> sources, IndexPartWriter* out,
                   std::vector<uint32_t>* order) {
  Merge merge(sources);
  RETURN_IF_ERROR(merge.Start());
  std::string key;
  std::vector<uint32_t> ordinals;
  while (!merge.done()) {
    RETURN_IF_ERROR(merge.TakeSmallest(&key, &ordinals));
    if (ordinals.empty()) continue;
    RETURN_IF_ERROR(out->Add(key, ordinals));
    if (order != nullptr) order->insert(order->end(), ordinals.begin(), ordinals.end());
  }
  return {};
}

}  // namespace tandem::format
