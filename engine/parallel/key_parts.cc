// Each source has its borders, in the direction of the read; the next part ends at the nearest one.
#include "engine/parallel/key_parts.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"

namespace tandem::engine {
namespace {

uint64_t RowsOf(const FileSource& source) { return source.high - source.low; }

constexpr uint64_t kPartRowsMax = 2048;
constexpr uint64_t kUsualRowBytes = 128;

// Rows of a source that are a part, of `rows` that take `bytes`.
uint64_t RowsOfPart(const PartSize& size, uint64_t rows, uint64_t bytes) {
  const uint64_t usual = std::max<uint64_t>(bytes / std::max<uint64_t>(rows, 1), 1);
  return std::clamp<uint64_t>(size.bytes / usual, 1, size.rows);
}

uint64_t RowsOfPart(const PartSize& size, const Memstore& memstore) {
  return RowsOfPart(size, memstore.row_count(), memstore.size_bytes());
}

// The rows of the memstore in the range; no more than `most` are counted.
uint64_t RowsIn(const Memstore& memstore, const format::KeyRange& rows, uint64_t most) {
  uint64_t count = 0;
  Memstore::Iterator row(&memstore);
  row.Seek(rows.low);
  for (; count < most && row.valid() && rows.Contains(row.key()); row.Next()) ++count;
  return count;
}

}  // namespace

PartSize PartSize::Of(const ReadResources& resources) {
  return {.rows = std::clamp<uint64_t>(resources.part_bytes / kUsualRowBytes, 1, kPartRowsMax),
          .bytes = resources.part_bytes};
}

uint64_t RowsOfPart(const PartSize& size, const FileSource& source) {
  return RowsOfPart(size, source.file->row_count(), source.file->size_bytes());
}

uint64_t PartsIn(std::span<const Cluster> clusters, const PartSize& size, uint64_t enough) {
  uint64_t parts = 0;
  for (const Cluster& cluster : clusters) {
    for (const FileSource& source : cluster.files) {
      parts += RowsOf(source) / RowsOfPart(size, source);
    }
  }
  for (const Cluster& cluster : clusters) {
    for (const auto& memstore : cluster.memstores) {
      if (parts >= enough) return parts;
      const uint64_t rows = RowsOfPart(size, *memstore);
      parts += RowsIn(*memstore, cluster.rows, (enough - parts) * rows) / rows;
    }
  }
  return parts;
}

// The borders within one source, in the direction of the read.
class KeyParts::Borders {
 public:
  virtual ~Borders() = default;
  /// Moves to the next border; false at the end.
  virtual Result<bool> Next() = 0;
  const std::string& key() const { return key_; }

 protected:
  std::string key_;
};

namespace {

template <typename Base>
class FileBorders final : public Base {
 public:
  FileBorders(const FileSource& source, const PartSize& size, bool reverse)
      : source_(source), rows_(RowsOfPart(size, source)), reverse_(reverse) {}

  Result<bool> Next() override {
    const format::DataSection& carrier = *source_.carrier;
    if (!has_begun_) {
      has_begun_ = true;
      ASSIGN_OR_RETURN(first_, carrier.BlockOf(source_.low));
      ASSIGN_OR_RETURN(end_, carrier.BlockOf(source_.high - 1, first_));
      ++end_;
      const uint64_t usual =
          std::max<uint64_t>(carrier.row_count() / std::max(carrier.block_count(), 1u), 1);
      step_ = static_cast<uint32_t>(std::max<uint64_t>(rows_ / usual, 1));
    }
    if (end_ - first_ <= step_) return false;
    const uint32_t block = reverse_ ? end_ - step_ : first_ + step_;
    RETURN_IF_ERROR(carrier.SeparatorOf(block, &this->key_));
    (reverse_ ? end_ : first_) = block;
    return true;
  }

 private:
  const FileSource& source_;
  const uint64_t rows_;  // Of a part.
  const bool reverse_;
  bool has_begun_ = false;
  uint32_t first_ = 0, end_ = 0;  // Blocks that are left.
  uint32_t step_ = 1;
};

template <typename Base>
class MemstoreBorders final : public Base {
 public:
  MemstoreBorders(const Memstore& memstore, const format::KeyRange& rows, const PartSize& size,
                  bool reverse)
      : row_(&memstore), rows_(rows), reverse_(reverse), step_(RowsOfPart(size, memstore)) {
    if (!reverse_) {
      row_.Seek(rows_.low);
    } else if (rows_.high.has_value()) {
      row_.SeekBefore(*rows_.high);
    } else {
      row_.SeekToLast();
    }
  }

  Result<bool> Next() override {
    for (uint64_t passed = 0; passed < step_ && row_.valid(); ++passed) {
      reverse_ ? row_.Previous() : row_.Next();
    }
    if (!row_.valid() || !rows_.Contains(row_.key())) return false;
    this->key_ = row_.key();
    return true;
  }

 private:
  Memstore::Iterator row_;
  const format::KeyRange rows_;
  const bool reverse_;
  const uint64_t step_;
};

}  // namespace

KeyParts::KeyParts(std::span<const Cluster> clusters, bool reverse, const PartSize& size)
    : left_(clusters), reverse_(reverse), size_(size) {}
KeyParts::~KeyParts() = default;

// The clusters of the next range: those of a region and a range have the same rows.
std::span<const Cluster> KeyParts::TakeRange() {
  size_t count = 1;
  const auto at = [this](size_t i) -> const Cluster& {
    return reverse_ ? left_[left_.size() - 1 - i] : left_[i];
  };
  while (count < left_.size() && at(count).rows.low == at(0).rows.low &&
         at(count).rows.high == at(0).rows.high) {
    ++count;
  }
  const std::span<const Cluster> taken = reverse_ ? left_.last(count) : left_.first(count);
  left_ = reverse_ ? left_.first(left_.size() - count) : left_.subspan(count);
  return taken;
}

Status KeyParts::OpenRange() {
  borders_.clear();
  range_rows_ = 0;
  const std::span<const Cluster> clusters = TakeRange();
  range_ = clusters.front().rows;
  for (const Cluster& cluster : clusters) {
    for (const FileSource& source : cluster.files) {
      range_rows_ += RowsOf(source);
      borders_.push_back(std::make_unique<FileBorders<Borders>>(source, size_, reverse_));
    }
    for (const auto& memstore : cluster.memstores) {
      range_rows_ += memstore->row_count();
      borders_.push_back(
          std::make_unique<MemstoreBorders<Borders>>(*memstore, *range_, size_, reverse_));
    }
  }
  for (size_t i = 0; i < borders_.size();) {
    ASSIGN_OR_RETURN(const bool more, borders_[i]->Next());
    if (more) {
      ++i;
    } else {
      borders_.erase(borders_.begin() + static_cast<ptrdiff_t>(i));
    }
  }
  return {};
}

// Adds to the part what comes before the next border; false: that is the rest of the range.
Result<bool> KeyParts::CutRange(KeyRanges* part) {
  const auto is_before = [this](const auto& a, const auto& b) {
    return reverse_ ? b->key() < a->key() : a->key() < b->key();
  };
  const auto next = std::ranges::min_element(borders_, is_before);
  if (next == borders_.end()) {
    part->push_back(*std::exchange(range_, std::nullopt));
    return false;
  }
  const std::string border = (*next)->key();
  format::KeyRange cut = *range_;
  (reverse_ ? cut.low : cut.high.emplace()) = border;
  (reverse_ ? range_->high.emplace() : range_->low) = border;
  part->push_back(std::move(cut));
  for (size_t i = 0; i < borders_.size();) {
    bool more = true;
    while (more && (reverse_ ? borders_[i]->key() >= border : borders_[i]->key() <= border)) {
      ASSIGN_OR_RETURN(more, borders_[i]->Next());
    }
    if (more) {
      ++i;
    } else {
      borders_.erase(borders_.begin() + static_cast<ptrdiff_t>(i));
    }
  }
  return true;
}

// A part of several ranges has whole ones with few rows.
Result<KeyRanges> KeyParts::Next() {
  KeyRanges part;
  uint64_t rows = 0;
  while (range_.has_value() || !left_.empty()) {
    if (!range_.has_value()) {
      RETURN_IF_ERROR(OpenRange());
      if (!part.empty() && (rows + range_rows_ > size_.rows || !borders_.empty())) break;
      rows += range_rows_;
    }
    ASSIGN_OR_RETURN(const bool is_cut, CutRange(&part));
    if (is_cut || rows >= size_.rows) break;
  }
  if (reverse_) std::ranges::reverse(part);
  return part;
}

}  // namespace tandem::engine
