// One pass over the keys of all sources: the least key from some position on, its value of the
// fields that are skipped over, and then the position after all keys with that value.
#include "engine/query/key_skip.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "memstore/memstore.h"
#include "store_file/store_file.h"

namespace tandem::engine {
namespace {

// An eighth of the rows may be spent on skips before they have to pass over as many.
constexpr uint64_t kPartOfRows = 8;
// After this many rows were passed over, the ranges have to leave out most of them. A condition
// that most rows satisfy is not worth a seek, for a read that may end early least of all.
constexpr uint64_t kSampledRows = 1024;
// More ranges would be dearer to look up than the rows between them to read.
constexpr size_t kRangesMax = 4096;

/// The keys of all sources as one list.
class AllKeys {
 public:
  explicit AllKeys(const std::vector<Cluster>& clusters) {
    for (const Cluster& cluster : clusters) {
      for (const FileSource& source : cluster.files) {
        rows_ += source.high - source.low;
        sources_.push_back({.file = &source});
      }
      for (const std::shared_ptr<const Memstore>& memstore : cluster.memstores) {
        memstore_rows_ += memstore->row_count();
        sources_.push_back({.memstore = memstore.get()});
      }
    }
  }

  uint64_t rows() const { return rows_ + memstore_rows_; }
  /// The rows before the last position, about: those of memstores are taken to lie as in files.
  uint64_t passed() const {
    uint64_t passed = 0;
    for (const Source& source : sources_) passed += source.passed;
    if (rows_ == 0) return rows();
    return passed + static_cast<uint64_t>(static_cast<double>(memstore_rows_) *
                                          static_cast<double>(passed) / static_cast<double>(rows_));
  }
  /// Rows of files in the ranges.
  Result<uint64_t> RowsIn(const KeyRanges& ranges) const {
    uint64_t rows = 0;
    for (const Source& source : sources_) {
      if (source.file == nullptr) continue;
      format::StoreFile& file = *source.file->file;
      for (const format::KeyRange& range : ranges) {
        ASSIGN_OR_RETURN(const uint32_t low, file.LowerBound(range.low));
        uint32_t high = source.file->high;
        if (range.high.has_value()) {
          ASSIGN_OR_RETURN(high, file.LowerBound(*range.high));
        }
        rows += high > low ? high - low : 0;
      }
    }
    return rows;
  }
  /// Finds the least key from `from` on, or says that there is none. Keys of a file outside its
  /// source may be among them. Requires: `from` does not fall.
  Result<std::optional<std::string>> Seek(const std::string& from) {
    const std::string* least = nullptr;
    for (Source& source : sources_) {
      if (source.is_at_end) continue;
      if (!source.has_key || source.key < from) RETURN_IF_ERROR(SeekIn(from, &source));
      if (source.is_at_end || (least != nullptr && *least <= source.key)) continue;
      least = &source.key;
    }
    return least == nullptr ? std::nullopt : std::optional(*least);
  }

 private:
  struct Source {
    const FileSource* file = nullptr;
    const Memstore* memstore = nullptr;
    bool has_key = false, is_at_end = false;
    std::string key = {};  // The first one that was not passed.
    uint64_t passed = 0;   // Rows of a file before it.
  };

  static Status SeekIn(const std::string& from, Source* source) {
    source->has_key = true;
    if (source->memstore != nullptr) {
      Memstore::Iterator row(source->memstore);
      row.Seek(from);
      source->is_at_end = !row.valid();
      if (row.valid()) source->key = row.key();
      return {};
    }
    const FileSource& file = *source->file;
    source->is_at_end = file.max_key() < from;
    if (source->is_at_end) {
      source->passed = file.high - file.low;
      return {};
    }
    if (file.min_key() >= from) {
      source->key = file.min_key();
      return {};
    }
    ASSIGN_OR_RETURN(const uint32_t ordinal, file.file->LowerBound(from));
    source->passed = std::clamp(ordinal, file.low, file.high) - file.low;
    source->is_at_end = ordinal >= file.high;
    if (source->is_at_end) return {};
    ASSIGN_OR_RETURN(const uint32_t block, file.carrier->BlockOf(ordinal));
    ASSIGN_OR_RETURN(const format::RowBlockRef rows, file.carrier->ReadRows(block));
    return rows->Key(ordinal - rows->first(), &source->key);
  }

  std::vector<Source> sources_;
  uint64_t rows_ = 0, memstore_rows_ = 0;
};

/// Decides while values are skipped to whether that goes on.
class Worth {
 public:
  explicit Worth(const AllKeys& keys) : keys_(keys) {}

  /// Before the ranges of one more value are added.
  Result<bool> GoesOn(const KeyRanges& ranges) {
    ++seeks_;
    const uint64_t spent = seeks_ * kRowsPerSkip, passed = keys_.passed();
    if (seeks_ > kKeySkipsMax || spent > keys_.rows() || ranges.size() > kRangesMax) return false;
    if (spent > keys_.rows() / kPartOfRows && passed + kRowsPerSkip < spent) return false;
    if (is_sampled_ || passed < kSampledRows) return true;
    is_sampled_ = true;
    ASSIGN_OR_RETURN(const uint64_t left, keys_.RowsIn(ranges));
    return left <= passed / 2;
  }

 private:
  const AllKeys& keys_;
  uint64_t seeks_ = 0;  // Keys that are none of the declaration cost one each.
  bool is_sampled_ = false;
};

}  // namespace

Result<std::optional<SkippedKeys>> SkipKeys(const FieldSkip& skip,
                                            const std::vector<Cluster>& clusters,
                                            const KeyRanges& rows,
                                            const base::Cancellation& cancellation) {
  AllKeys keys(clusters);
  Worth worth(keys);
  SkippedKeys skipped;
  for (const format::KeyRange& range : rows) {
    std::string from = range.low;
    while (true) {
      RETURN_IF_ERROR(cancellation.Check());
      ASSIGN_OR_RETURN(const std::optional<std::string> key, keys.Seek(from));
      if (!key.has_value() || (range.high.has_value() && *key >= *range.high)) break;
      ASSIGN_OR_RETURN(const bool goes_on, worth.GoesOn(skipped.rows));
      if (!goes_on) return std::optional<SkippedKeys>();
      const std::optional<format::KeyPrefix> prefix = skip.PrefixOf(*key);
      if (!prefix.has_value()) {
        from = *key + '\0';
        continue;
      }
      ++skipped.values;
      skip.AddRanges(*prefix, &skipped.rows);
      std::optional<std::string> after = format::Successor(prefix->bytes);
      if (!after.has_value()) break;
      from = *std::move(after);
    }
  }
  skipped.rows = Intersect(Unite(std::move(skipped.rows)), rows);
  return std::optional(std::move(skipped));
}

}  // namespace tandem::engine
