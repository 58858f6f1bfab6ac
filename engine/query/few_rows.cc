// Finding the rows and their blocks, then decoding them into the cursor's batch. Whatever is not as
// it should be, an error among it, is left to the planner.
#include "engine/query/few_rows.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "engine/predicate/literal.h"
#include "engine/query/access_paths.h"
#include "engine/query/query.h"
#include "engine/source/ordinal_set.h"
#include "format/cell/projection.h"
#include "store_file/key_hashes_reader.h"

namespace tandem::engine {
namespace {

// Of the blocks that a query keeps.
constexpr size_t kPinnedBytesMax = 1 << 20;

bool IsUsual(const QueryRequest& request, const TableView& view) {
  const ReadOptions& read = request.options;
  const QueryOptions& query = request.query;
  return request.from == nullptr && query.offset == 0 && !read.budget.is_limited() &&
         read.columns.empty() && read.families.empty() && read.versions > 0 &&
         !PointOf(view.point, read).is_bounded() && !query.any_version && query.order_by.empty() &&
         !query.descending && query.use_index.empty() && query.use_indexes.empty() &&
         !query.no_index && view.table->families.size() == 1;
}

/// A row in its block.
struct Place {
  format::RowBlockRef rows;
  uint32_t slot = 0;
};

/// What is looked up, and where.
struct Sought {
  const format::IndexRecord* index = nullptr;
  std::vector<format::KeyRange> ranges;
};

std::optional<Sought> SoughtBy(const BoundNode& root, const format::TableRecord& table) {
  if (root.kind != BoundNode::Kind::kLeaf || root.leaf.accepts_null) return std::nullopt;
  const format::IndexRecord* const index =
      AccessPathFinder::IndexFor(table, root.leaf, [](const format::IndexRecord& candidate) {
        return candidate.state != format::IndexState::kDropping && !candidate.needs_order();
      });
  if (index == nullptr) return std::nullopt;
  return Sought{index, RangesOf(root.leaf, index->columns[0])};
}

class Finder {
 public:
  Finder(const TableView& view, Sought sought)
      : view_(view), index_(sought.index), ranges_(std::move(sought.ranges)) {}

  /// Steps 1 to 3. False: the query has to be planned.
  bool Find() {
    for (const std::shared_ptr<const RegionVersion>& region : view_.regions) {
      for (const FileSlice& slice : region->files) {
        const Result<bool> is_known = AddHits(*region, slice);
        if (!is_known.has_value() || !*is_known) return false;
      }
      for (const std::shared_ptr<const Memstore>& memstore : region->memstores) {
        if (IsSeen(*memstore) && MayHaveEntries(*memstore)) return false;
      }
    }
    if (ordinals_.empty()) return true;
    SortUnique(&ordinals_, slice_->file->store().row_count());
    const Result<bool> are_alone = AreAlone();
    if (!are_alone.has_value() || !*are_alone) return false;
    const Result<bool> are_cached = FindBlocks();
    return are_cached.has_value() && *are_cached;
  }

  /// Requires: Find returned true. `data()` is nullptr if there are no rows.
  std::vector<Place> TakePlaces() { return std::move(places_); }
  const format::DataSection* data() const { return data_; }
  format::IndexId index() const { return index_->id; }
  const std::string& index_name() const { return index_->name; }

 private:
  bool IsSeen(const Memstore& memstore) const {
    return !memstore.empty() && format::IsSeenAt(memstore.min_sequence(), view_.point.sequence);
  }
  bool IsSeen(const format::StoreFile& file) const {
    return file.statistics().min_sequence <= view_.point.sequence;
  }

  // One that lacks the index may have.
  bool MayHaveEntries(const Memstore& memstore) const {
    const std::optional<size_t> index = memstore.FindIndex(index_->id);
    if (!index.has_value()) return true;
    return std::any_of(ranges_.begin(), ranges_.end(), [&](const format::KeyRange& range) {
      return memstore.CountIndex(*index, range) > 0;
    });
  }

  // Adds the rows of the slice that match. False: that is not known.
  Result<bool> AddHits(const RegionVersion& region, const FileSlice& slice) {
    format::StoreFile& file = slice.file->store();
    if (!IsSeen(file)) return true;
    // Else its older entries count as well.
    if (!file.ShowsCurrentEntries(view_.table->families, view_.point.sequence)) return false;
    ASSIGN_OR_RETURN(format::IndexSection * section, UsableSection(&file, index_->id));
    if (section == nullptr) return false;
    const size_t before = ordinals_.size();
    const format::IndexSection::Few few{{slice.low, std::min(slice.high, file.row_count())},
                                        kFewRowsMax - before};
    for (const format::KeyRange& range : ranges_) {
      ASSIGN_OR_RETURN(const bool are_few,
                       section->AppendFew(format::IndexPart::kCurrent, range, few, &ordinals_));
      if (!are_few || ordinals_.size() > kFewRowsMax) return false;
    }
    if (ordinals_.size() == before) return true;
    if (slice_ != nullptr) return false;  // Rows of several files have to be merged.
    slice_ = &slice;
    region_ = &region;
    return !file.MayHaveExpired(view_.table->families, view_.point.now_micros);
  }

  // Whether each row is clean and no other source holds it.
  Result<bool> AreAlone() {
    format::StoreFile& file = slice_->file->store();
    if (!file.all_clean()) {
      ASSIGN_OR_RETURN(const format::Bitmap* clean, file.CleanRows());
      for (const uint32_t ordinal : ordinals_) {
        if (!clean->Test(ordinal)) return false;
      }
    }
    std::vector<const Memstore*> memstores;
    std::vector<format::StoreFile*> files;
    for (const std::shared_ptr<const Memstore>& memstore : region_->memstores) {
      if (IsSeen(*memstore)) memstores.push_back(memstore.get());
    }
    for (const FileSlice& other : region_->files) {
      format::StoreFile* const store = &other.file->store();
      if (store != &file && IsSeen(*store)) files.push_back(store);
    }
    if (memstores.empty() && files.empty()) return true;
    std::array<uint64_t, kFewRowsMax> hashes;
    ASSIGN_OR_RETURN(format::KeyHashesReader reader, format::KeyHashesReader::Open(&file));
    for (size_t i = 0; i < ordinals_.size(); ++i) {
      ASSIGN_OR_RETURN(hashes[i], reader.At(ordinals_[i]));
    }
    const std::span<const uint64_t> sought(hashes.data(), ordinals_.size());
    std::array<const MemRow*, kFewRowsMax> found;
    for (const Memstore* memstore : memstores) {
      memstore->FindEach(sought, {found.data(), sought.size()});
      for (size_t i = 0; i < sought.size(); ++i) {
        if (found[i] != nullptr) return false;
      }
    }
    for (format::StoreFile* other : files) {
      for (const uint64_t hash : sought) {
        ASSIGN_OR_RETURN(const bool may_hold, other->MayContain(hash));
        if (may_hold) return false;
      }
    }
    return true;
  }

  // Each loop prefetches what the next one needs.
  Result<bool> FindBlocks() {
    ASSIGN_OR_RETURN(data_, slice_->file->store().Family(view_.table->families[0].id));
    if (data_ == nullptr || !data_->is_full()) return false;
    std::array<uint32_t, kFewRowsMax> blocks;
    uint32_t block = 0, piece = 0;
    for (size_t i = 0; i < ordinals_.size(); ++i) {
      piece = data_->index().PieceOf(ordinals_[i], piece);
      if (!data_->index().HasPiece(piece)) return false;  // The walk reads many at a time.
      ASSIGN_OR_RETURN(block, data_->BlockOf(ordinals_[i], block));
      blocks[i] = block;
      data_->PrefetchRows(block);
    }
    places_.reserve(ordinals_.size());
    size_t pinned_bytes = 0;
    for (size_t i = 0; i < ordinals_.size(); ++i) {
      format::RowBlockRef rows;
      if (i > 0 && blocks[i] == blocks[i - 1]) {
        rows = places_.back().rows;
      } else {
        rows = data_->UsedRows(blocks[i]);
      }
      if (rows == nullptr) {
        ASSIGN_OR_RETURN(const format::DataBlock place, data_->BlockAt(blocks[i]));
        rows = data_->CachedRows(place);
      }
      if (rows == nullptr || rows->is_wide()) return false;
      pinned_bytes += rows->raw_bytes;
      if (pinned_bytes > kPinnedBytesMax) return false;
      const uint32_t slot = ordinals_[i] - rows->first();
      rows->PrefetchPlace(slot);
      places_.push_back({std::move(rows), slot});
    }
    return true;
  }

  const TableView& view_;
  const format::IndexRecord* const index_;
  const std::vector<format::KeyRange> ranges_;
  const RegionVersion* region_ = nullptr;  // The one with rows,
  const FileSlice* slice_ = nullptr;       // and its file.
  std::vector<uint32_t> ordinals_;
  const format::DataSection* data_ = nullptr;
  std::vector<Place> places_;
};

/// A bound predicate, or what makes one: seldom is it needed.
class LatePredicate {
 public:
  explicit LatePredicate(BoundPredicate predicate) : bound_(std::move(predicate)) {}
  LatePredicate(std::shared_ptr<const PreparedLookup> lookup, std::string value)
      : lookup_(std::move(lookup)), value_(std::move(value)) {}

  BoundPredicate Take() {
    if (bound_.has_value()) return *std::move(bound_);
    BoundNode node;
    node.kind = BoundNode::Kind::kLeaf;
    node.leaf = lookup_->leaf;
    const ValueBound value{value_, /*inclusive=*/true};
    node.leaf.values = ValueSet({{value, value}});
    return BoundPredicate::Of(std::move(node));
  }

 private:
  std::optional<BoundPredicate> bound_;
  std::shared_ptr<const PreparedLookup> lookup_;  // Null: it is bound.
  std::string value_;                             // As ValueBound has keys.
};

class FewRows final : public RowSource {
 public:
  FewRows(const QueryRequest& request, LatePredicate predicate, TableView view, Finder* found)
      : resources_(request.resources),
        limit_(request.query.limit),
        predicate_(std::move(predicate)),
        view_(std::move(view)),
        cancellation_(request.options.cancelled),
        trace_(request.trace),
        places_(found->TakePlaces()),
        data_(found->data()) {
    options_.pieces = request.options.pieces;
    options_.cancelled = request.options.cancelled;
    options_.versions = request.options.versions;
    if (limit_ > 0 && limit_ < places_.size()) places_.resize(limit_);
    if (data_ != nullptr) columns_.emplace(data_->names(), &data_->blocks());
    if (trace_ != nullptr) Note(found->index_name());
  }

  Result<bool> NextBatch(format::RowBatch* batch) override {
    batch->Clear();
    if (rest_.has_value()) return NextOfRest(batch);
    RETURN_IF_ERROR(cancellation_.Check());
    const std::string_view family = view_.table->families[0].options.name;
    bool is_plain = true;
    while (is_plain && at_ < places_.size() && !batch->is_full()) {
      for (; touched_ < std::min(at_ + kTouchedAhead, places_.size()); ++touched_) {
        places_[touched_].rows->PrefetchRow(places_[touched_].slot);
      }
      const Place& place = places_[at_];
      is_plain = batch->AddPlain(place.rows, place.slot, *columns_, family, /*needs_cells=*/false);
      at_ += is_plain ? 1 : 0;
    }
    if (is_plain || batch->size() > 0) return batch->size() > 0;
    RETURN_IF_ERROR(Plan());
    return NextOfRest(batch);
  }
  bool is_at_end() const override { return !rest_.has_value() && at_ == places_.size(); }

 private:
  static constexpr size_t kTouchedAhead = 8;

  // Plans the query and skips the rows that were returned.
  Status Plan() {
    const Predicate unused;
    QueryOptions query;
    query.limit = limit_;
    QueryRequest request{resources_, options_, unused, query};
    request.trace = trace_;
    ASSIGN_OR_RETURN(std::unique_ptr<RowSource> planned,
                     OpenPlanned(request, predicate_.Take(), std::move(view_)));
    rest_.emplace(std::move(planned));
    RowView row;
    for (size_t i = 0; i < at_; ++i) {
      ASSIGN_OR_RETURN(const bool more, rest_->Next(&row));
      if (!more) break;
    }
    return {};
  }

  void Note(const std::string& index) {
    ReadCounters found;
    for (size_t i = 0; i < places_.size(); ++i) {
      ++found.rows;
      if (i > 0 && places_[i].rows == places_[i - 1].rows) continue;
      const Result<uint32_t> block = data_->BlockOf(places_[i].rows->first());
      if (!block.has_value()) continue;
      const Result<format::DataBlock> place = data_->BlockAt(*block);
      if (place.has_value()) found.CountBlock(*place);
    }
    Explanation plan;
    plan.index = index;
    plan.reason = "few rows, all of them cached";
    plan.entries = found.rows;
    trace_->SetPlan(std::move(plan));
    trace_->Begin(&found);
    trace_->End(&found);
  }

  Result<bool> NextOfRest(format::RowBatch* batch) {
    RowView row;
    ASSIGN_OR_RETURN(const bool more, rest_->Next(&row));
    if (more) batch->Add(row);
    return more;
  }

  const ReadResources resources_;
  ReadOptions options_;
  const uint64_t limit_;
  LatePredicate predicate_;
  TableView view_;
  const base::Cancellation cancellation_;
  const std::shared_ptr<ReadTrace> trace_;  // Null: nothing is noted.
  std::vector<Place> places_;
  const format::DataSection* data_;  // Of the view.
  std::optional<format::Projection> columns_;
  size_t at_ = 0;       // Of the next row.
  size_t touched_ = 0;  // Rows that are prefetched.
  std::optional<RowReader> rest_;
};

std::unique_ptr<RowSource> Open(const QueryRequest& request, LatePredicate predicate,
                                TableView* view, Finder* found) {
  if (request.resources.index_reads != nullptr) {
    request.resources.index_reads->Count(view->table->id, found->index());
  }
  return std::make_unique<FewRows>(request, std::move(predicate), std::move(*view), found);
}

// Whether all that a run restricts the rows by is its predicate.
bool IsPredicateAlone(const QueryRequest& request) {
  return request.query.ranges.empty() && request.global == nullptr;
}

// Keeps the lookup for the next runs if these differ in the value alone. Whether a partial index
// serves depends on the value.
void KeepLookup(const QueryRequest& request, const TableView& view, const BoundNode& root,
                const format::IndexRecord& index) {
  const Predicate& asked = request.predicate;
  if (request.lookup == nullptr || asked.kind() != Predicate::Kind::kEqual) return;
  const bool has_parameter = asked.parameters().size() == 1 && asked.parameters()[0] != 0;
  if (!has_parameter || !IsPredicateAlone(request) || index.where.has_value()) return;
  if (root.leaf.key_fields != nullptr) return;
  PreparedLookup lookup{view.table, &index, root.leaf, asked.parameters()[0]};
  lookup.leaf.values = ValueSet();
  *request.lookup = std::make_shared<const PreparedLookup>(std::move(lookup));
}

}  // namespace

std::optional<std::unique_ptr<RowSource>> LookUpFewRows(const QueryRequest& request,
                                                        TableView* view) {
  if (request.lookup == nullptr || *request.lookup == nullptr) return std::nullopt;
  const PreparedLookup& lookup = **request.lookup;
  if (lookup.table != view->table || !IsPredicateAlone(request)) return std::nullopt;
  if (!IsUsual(request, *view)) return std::nullopt;
  const std::optional<std::string>& text = (*request.values)[lookup.parameter - 1];
  if (!text.has_value()) return std::nullopt;
  Result<Literal> literal = ReadLiteral(lookup.leaf.column, *text);
  if (!literal.has_value() || !literal->is_value) return std::nullopt;
  Sought sought{lookup.index, {}};
  sought.ranges.push_back(RangeOf(literal->key, lookup.index->columns[0]));
  Finder finder(*view, std::move(sought));
  if (!finder.Find()) return nullptr;
  return Open(request, LatePredicate(*request.lookup, std::move(literal->key)), view, &finder);
}

std::unique_ptr<RowSource> OpenFewRows(const QueryRequest& request, BoundPredicate* predicate,
                                       TableView* view) {
  if (!IsUsual(request, *view)) return nullptr;
  std::optional<Sought> sought = SoughtBy(predicate->root(), *view->table);
  if (!sought.has_value()) return nullptr;
  const format::IndexRecord& index = *sought->index;
  Finder finder(*view, *std::move(sought));
  if (!finder.Find()) return nullptr;
  KeepLookup(request, *view, predicate->root(), index);
  return Open(request, LatePredicate(std::move(*predicate)), view, &finder);
}

}  // namespace tandem::engine
