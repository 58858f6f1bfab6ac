// The rows of a query by the values of an index, then by key.
//
// 1. The next range of values with some hundred entries is taken, twice as many each time: a small
//    limit costs little, a long result few walks.
// 2. The rows that the range leads to are read in one walk; of these stay the ones whose merged
//    row has its current entry in the range (rule 20). They are sorted by entry and key.
// 3. One value with very many rows is walked alone and streams: its rows come in key order anyway.
// Where the index is not walked, all matches are read in key order and sorted at once.
#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "engine/query.h"
#include "engine/range_stepper.h"
#include "engine/row_chain.h"

namespace tandem::engine {
namespace {

constexpr uint64_t kEntriesFirst = 64;
constexpr uint64_t kEntriesMax = 4096;

class OrderedSource final : public RowSource {
 public:
  explicit OrderedSource(const Query& query)
      : query_(query), left_(query.limit == 0 ? UINT64_MAX : query.limit) {}

  Result<bool> Next(RowView* row) override {
    if (!std::exchange(has_begun_, true)) RETURN_IF_ERROR(Begin());
    while (left_ > 0) {
      if (at_ < batch_.size()) {
        *row = batch_[at_++].row.view();
        --left_;
        return true;
      }
      if (stream_.has_value()) {
        ASSIGN_OR_RETURN(const bool is_row, NextOf(&*stream_, range_));
        if (is_row) {
          *row = stream_->row().Project(stream_->key());
          --left_;
          return true;
        }
        stream_.reset();
      }
      if (stepper_ == nullptr) return false;
      ASSIGN_OR_RETURN(const bool more, Step());
      if (!more) return false;
    }
    return false;
  }

 private:
  struct Collected {
    std::string entry;
    Row row;
  };

  Status Begin();
  Result<bool> Step();
  Status Collect(RowChain chain);
  Result<bool> NextOf(RowChain* chain, const format::KeyRange& range);
  const format::IndexColumnRecord& column() const { return query_.ordering->index->columns[0]; }

  const Query& query_;
  uint64_t left_;
  bool has_begun_ = false;
  std::unique_ptr<RangeStepper> stepper_;
  uint64_t entries_ = kEntriesFirst;
  format::KeyRange range_;  // Of entries, for the present walk.
  Access access_;           // To that range.
  std::vector<Collected> batch_;
  size_t at_ = 0;  // In batch_.
  std::optional<RowChain> stream_;
  std::string entry_;  // Of the row that NextOf found.
};

Status OrderedSource::Begin() {
  const Ordering& ordering = *query_.ordering;
  if (!ordering.walks_index) {
    const auto& access = query_.plan.access;
    range_ = format::PresentRange(column());
    return Collect(
        RowChain(query_.job.get(), query_.plan.clusters, access.has_value() ? &*access : nullptr));
  }
  std::vector<std::unique_ptr<format::IndexValueCursor>> cursors;
  for (const Cluster& cluster : query_.plan.clusters) {
    for (const FileSource& source : cluster.files) {
      ASSIGN_OR_RETURN(format::IndexSection * section, source.file->Index(ordering.index->id));
      cursors.push_back(section->NewCursor(format::IndexPart::kCurrent));
      if (!source.visible) cursors.push_back(section->NewCursor(format::IndexPart::kOlder));
    }
  }
  stepper_ = std::make_unique<RangeStepper>(std::move(cursors), ordering.ranges, ordering.backward);
  return {};
}

// Reads the next range of values; false when there is none.
Result<bool> OrderedSource::Step() {
  ASSIGN_OR_RETURN(std::optional<SteppedRange> stepped, stepper_->Next(entries_));
  if (!stepped.has_value()) return false;
  entries_ = std::min(entries_ * 2, kEntriesMax);
  range_ = std::move(stepped->keys);
  access_ = {.paths = {}, .exact = false};
  access_.paths.push_back({query_.ordering->index, query_.ordering->position, {range_}, false});
  RowChain chain(query_.job.get(), query_.plan.clusters, &access_);
  if (stepped->is_large) {
    stream_.emplace(std::move(chain));
  } else {
    RETURN_IF_ERROR(Collect(std::move(chain)));
  }
  return true;
}

// Fills the batch with the rows of the chain, sorted.
Status OrderedSource::Collect(RowChain chain) {
  batch_.clear();
  at_ = 0;
  while (true) {
    ASSIGN_OR_RETURN(const bool is_row, NextOf(&chain, range_));
    if (!is_row) break;
    batch_.push_back({entry_, Row(chain.row().Project(chain.key()))});
  }
  const bool backward = query_.ordering->backward;
  // Rows of one entry stay in key order, in which they came.
  std::stable_sort(batch_.begin(), batch_.end(),
                   [backward](const Collected& a, const Collected& b) {
                     return backward ? b.entry < a.entry : a.entry < b.entry;
                   });
  return {};
}

// Moves to the next row with its entry in `range`, which is left in entry_.
Result<bool> OrderedSource::NextOf(RowChain* chain, const format::KeyRange& range) {
  while (true) {
    ASSIGN_OR_RETURN(const bool is_row, chain->Next());
    if (!is_row) return false;
    const auto value = FindValue(column(), chain->row().visible());
    if (!value.has_value()) continue;
    entry_.clear();
    const Status status = format::AppendIndexKey(column(), *value, &entry_);
    if (!status.ok()) {
      return Status::Corruption("stored value of column '" + column().qualifier +
                                "': " + std::string(status.message()));
    }
    if (range.Contains(entry_)) return true;
  }
}

}  // namespace

std::unique_ptr<RowSource> OpenOrdered(const Query& query) {
  return std::make_unique<OrderedSource>(query);
}

}  // namespace tandem::engine
