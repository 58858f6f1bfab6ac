// The cursor holds one leaf and a position in it, and the key and count of the value there.
#include "index/cursor.h"

#include <optional>
#include <string>

#include "base/check.h"
#include "base/status_macros.h"
#include "index/part_reader.h"

namespace tandem::format {
namespace {

class PartCursor final : public IndexValueCursor {
 public:
  PartCursor(const IndexPartReader& part, StreamReader::Through through)
      : part_(part), through_(through), postings_(part.Postings(through)) {}

  Status Seek(std::string_view key) override {
    valid_ = false;
    if (part_.empty()) return {};
    ASSIGN_OR_RETURN(ValuePlace place, part_.Find(key, through_));
    return MoveTo(std::move(place.leaf), place.position);
  }

  Status SeekBefore(const std::optional<std::string>& key) override {
    valid_ = false;
    if (part_.empty()) return {};
    if (!key.has_value()) {
      ASSIGN_OR_RETURN(const IndexDirectory* directory, part_.Directory());
      return MoveToLastOf(directory->leaf_count() - 1);
    }
    ASSIGN_OR_RETURN(ValuePlace place, part_.Find(*key, through_));
    leaf_ = std::move(place.leaf);
    position_ = place.position;
    return StepBack();
  }

  Status Next() override {
    DCHECK(valid_);
    if (++position_ < leaf_->leaf.value_count()) return TakeValue();
    valid_ = false;
    ASSIGN_OR_RETURN(const IndexDirectory* directory, part_.Directory());
    const uint32_t next = leaf_->number + 1;
    if (next == directory->leaf_count()) return {};
    ASSIGN_OR_RETURN(LoadedLeaf leaf, part_.Leaf(next, through_));
    return MoveTo(std::move(leaf), 0);
  }

  Status Previous() override {
    DCHECK(valid_);
    valid_ = false;
    return StepBack();
  }

  Result<uint64_t> PassMany(uint64_t entries, const KeyRange& range, bool backward) override {
    DCHECK(valid_);
    const IndexLeaf& leaf = leaf_->leaf;
    const uint32_t end = backward ? PositionBack(entries) : PositionAhead(entries);
    if (end == position_) return 0u;
    std::string key;
    if (!leaf.Key(end, &key)) return part_.BadLeaf(*leaf_);
    if (!range.Contains(key)) return 0u;
    const uint64_t passed = backward
                                ? leaf.EntriesBefore(position_ + 1) - leaf.EntriesBefore(end + 1)
                                : leaf.EntriesBefore(end) - leaf.EntriesBefore(position_);
    position_ = end;
    RETURN_IF_ERROR(TakeValue());
    return passed;
  }

  bool valid() const override { return valid_; }
  std::string_view key() const override { return key_; }
  uint32_t count() const override { return count_; }
  uint64_t entries_before() const override {
    return leaf_->leaf.entries_before() + leaf_->leaf.EntriesBefore(position_);
  }
  Status AppendOrdinals(std::vector<uint32_t>* out) override {
    return part_.AppendOrdinals(*leaf_, {position_, position_ + 1}, {&postings_}, out);
  }
  std::optional<uint32_t> OrdinalAhead(uint32_t steps) const override {
    const IndexLeaf& leaf = leaf_->leaf;
    if (leaf.value_count() - position_ <= steps) return std::nullopt;
    const uint32_t position = position_ + steps;
    const uint32_t count = leaf.EntriesBefore(position + 1) - leaf.EntriesBefore(position);
    const uint32_t reference = leaf.Reference(position);
    if (count == 1) return reference;
    if (count > kSmallListMax) return std::nullopt;
    return static_cast<uint32_t>(leaf.ListAt(reference).Varint());
  }

 private:
  Status MoveTo(LoadedLeaf leaf, uint32_t position) {
    leaf_ = std::move(leaf);
    position_ = position;
    if (position_ == leaf_->leaf.value_count()) return {};  // Past the last value: not valid.
    return TakeValue();
  }

  Status MoveToLastOf(uint32_t number) {
    ASSIGN_OR_RETURN(LoadedLeaf leaf, part_.Leaf(number, through_));
    const uint32_t last = leaf.leaf.value_count() - 1;
    return MoveTo(std::move(leaf), last);
  }

  // Moves to the value before the position, which may be one past the last.
  Status StepBack() {
    if (position_ > 0) {
      --position_;
      return TakeValue();
    }
    if (leaf_->number == 0) return {};
    return MoveToLastOf(leaf_->number - 1);
  }

  // The last position with at most `entries` entries from the present one up to it.
  uint32_t PositionAhead(uint64_t entries) const {
    const IndexLeaf& leaf = leaf_->leaf;
    uint32_t low = position_, high = leaf.value_count() - 1;
    while (low < high) {
      const uint32_t middle = high - (high - low) / 2;
      if (leaf.EntriesBefore(middle) - leaf.EntriesBefore(position_) <= entries) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }
  // The first position with at most `entries` entries after it up to the present one.
  uint32_t PositionBack(uint64_t entries) const {
    const IndexLeaf& leaf = leaf_->leaf;
    uint32_t low = 0, high = position_;
    while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      if (leaf.EntriesBefore(position_ + 1) - leaf.EntriesBefore(middle + 1) <= entries) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return high;
  }

  // Reads key and count at the position.
  Status TakeValue() {
    valid_ = false;
    if (!leaf_->leaf.Key(position_, &key_)) return part_.BadLeaf(*leaf_);
    ASSIGN_OR_RETURN(count_, part_.CountAt(*leaf_, position_));
    valid_ = true;
    return {};
  }

  const IndexPartReader& part_;
  StreamReader::Through through_;
  StreamReader postings_;
  std::optional<LoadedLeaf> leaf_;
  uint32_t position_ = 0;
  uint32_t count_ = 0;
  std::string key_;
  bool valid_ = false;
};

}  // namespace

std::unique_ptr<IndexValueCursor> NewPartCursor(const IndexPartReader& part,
                                                StreamReader::Through through) {
  return std::make_unique<PartCursor>(part, through);
}

}  // namespace tandem::format
