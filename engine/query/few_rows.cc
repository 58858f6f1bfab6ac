// Decoding the rows that were found into the cursor's batch. Whatever is not as it should be, an
// error among it, is left to the planner.
#include "engine/query/few_rows.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "engine/predicate/literal.h"
#include "engine/query/access_paths.h"
#include "engine/query/query.h"
#include "engine/read/few_rows_finder.h"
#include "engine/read/row_builder.h"
#include "format/cell/projection.h"

namespace tandem::engine {
namespace {

bool IsUsual(const QueryRequest& request, const TableView& view) {
  const ReadOptions& read = request.options;
  const QueryOptions& query = request.query;
  return request.from == nullptr && query.offset == 0 && !read.budget.is_limited() &&
         read.columns.empty() && read.families.empty() && read.versions > 0 &&
         !PointOf(view.point, read).is_bounded() && !query.any_version && query.order_by.empty() &&
         !query.descending && query.use_index.empty() && query.use_indexes.empty() &&
         !query.no_index && view.table->families.size() == 1;
}

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
  FewRows(const QueryRequest& request, LatePredicate predicate, TableView view,
          FewRowsFinder* finder)
      : resources_(request.resources),
        limit_(request.query.limit),
        predicate_(std::move(predicate)),
        view_(std::move(view)),
        context_(finder->TakeContext()),
        cancellation_(request.options.cancelled),
        trace_(request.trace),
        found_(finder->TakeRows()),
        data_(finder->data()),
        family_(this->view().table->families[0]) {
    options_.pieces = request.options.pieces;
    options_.cancelled = request.options.cancelled;
    options_.versions = request.options.versions;
    if (limit_ > 0 && limit_ < found_.size()) found_.resize(limit_);
    if (data_ != nullptr) columns_.emplace(data_->names(), &data_->blocks());
    if (context_ != nullptr) builder_.emplace(context_->schema);
    if (trace_ != nullptr) Note(finder->index().name);
  }

  Result<bool> NextBatch(format::RowBatch* batch) override {
    batch->Clear();
    if (rest_.has_value()) return NextOfRest(batch);
    RETURN_IF_ERROR(cancellation_.Check());
    bool is_plain = true;
    while (is_plain && at_ < found_.size() && !batch->is_full()) {
      for (; touched_ < std::min(at_ + kTouchedAhead, found_.size()); ++touched_) {
        Touch(found_[touched_]);
      }
      is_plain = Add(found_[at_], batch);
      at_ += is_plain ? 1 : 0;
    }
    if (is_plain || batch->size() > 0) return batch->size() > 0;
    RETURN_IF_ERROR(Plan());
    return NextOfRest(batch);
  }
  bool is_at_end() const override { return !rest_.has_value() && at_ == found_.size(); }

 private:
  static constexpr size_t kTouchedAhead = 8;

  TableView& view() { return context_ == nullptr ? view_ : context_->view; }

  static void Touch(const FoundRow& row) {
    if (row.rows != nullptr) row.rows->PrefetchRow(row.slot);
    if (row.newer != nullptr) Memstore::PrefetchCells(row.newer);
  }

  // False: it is not plain, and nothing is added.
  bool Add(const FoundRow& row, format::RowBatch* batch) {
    constexpr bool kNeedsCells = false;
    const std::string_view family = family_.options.name;
    if (row.newer == nullptr) {
      return batch->AddPlain(row.rows, row.slot, *columns_, family, kNeedsCells);
    }
    if (!builder_->GatherPuts(row.newer, family_.id)) return false;
    const std::string_view key = Memstore::Key(row.newer);
    if (row.rows == nullptr) {
      return batch->AddPuts(*columns_, family, key, *builder_->gathered(), kNeedsCells);
    }
    const Result<bool> is_key = row.rows->KeyEquals(row.slot, key);
    if (!is_key.has_value() || !*is_key) return false;
    return batch->AddUpdated(row.rows, row.slot, *columns_, family, key, *builder_->gathered(),
                             kNeedsCells);
  }

  // Plans the query and skips the rows that were returned.
  Status Plan() {
    const Predicate unused;
    QueryOptions query;
    query.limit = limit_;
    QueryRequest request{resources_, options_, unused, query};
    request.trace = trace_;
    ASSIGN_OR_RETURN(std::unique_ptr<RowSource> planned,
                     OpenPlanned(request, predicate_.Take(), std::move(view())));
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
    for (size_t i = 0; i < found_.size(); ++i) {
      ++found.rows;
      if (found_[i].rows == nullptr) continue;
      if (i > 0 && found_[i].rows == found_[i - 1].rows) continue;
      const Result<uint32_t> block = data_->BlockOf(found_[i].rows->first());
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
  TableView view_;                        // Empty if the context has it.
  std::unique_ptr<ReadContext> context_;  // Of rows that a memstore holds; null: there are none.
  std::optional<RowBuilder> builder_;
  const base::Cancellation cancellation_;
  const std::shared_ptr<ReadTrace> trace_;  // Null: nothing is noted.
  std::vector<FoundRow> found_;
  const format::DataSection* data_;  // Of the view.
  const format::FamilyRecord& family_;
  std::optional<format::Projection> columns_;
  size_t at_ = 0;       // Of the next row.
  size_t touched_ = 0;  // Rows that are prefetched.
  std::optional<RowReader> rest_;
};

std::unique_ptr<RowSource> Open(const QueryRequest& request, LatePredicate predicate,
                                TableView* view, FewRowsFinder* finder) {
  if (request.resources.index_reads != nullptr) {
    request.resources.index_reads->Count(finder->table(), finder->index().id);
  }
  return std::make_unique<FewRows>(request, std::move(predicate), std::move(*view), finder);
}

// Whether all that a run restricts the rows by is its predicate.
bool IsPredicateAlone(const QueryRequest& request) {
  return request.query.ranges.empty() && request.global == nullptr;
}

// Keeps the lookup for the next runs if these differ in the value alone. Whether a partial index
// serves depends on the value.
void KeepLookup(const QueryRequest& request, std::shared_ptr<const format::TableRecord> table,
                const BoundNode& root, const format::IndexRecord& index) {
  const Predicate& asked = request.predicate;
  if (request.lookup == nullptr || asked.kind() != Predicate::Kind::kEqual) return;
  const bool has_parameter = asked.parameters().size() == 1 && asked.parameters()[0] != 0;
  if (!has_parameter || !IsPredicateAlone(request) || index.where.has_value()) return;
  if (root.leaf.key_fields != nullptr) return;
  PreparedLookup lookup{std::move(table), &index, root.leaf, asked.parameters()[0]};
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
  FewRowsFinder finder(request.resources, request.options, *sought.index, std::move(sought.ranges));
  if (!finder.Find(view)) return nullptr;
  return Open(request, LatePredicate(*request.lookup, std::move(literal->key)), view, &finder);
}

std::unique_ptr<RowSource> OpenFewRows(const QueryRequest& request, BoundPredicate* predicate,
                                       TableView* view) {
  if (!IsUsual(request, *view)) return nullptr;
  std::optional<Sought> sought = SoughtBy(predicate->root(), *view->table);
  if (!sought.has_value()) return nullptr;
  const format::IndexRecord& index = *sought->index;
  const std::shared_ptr<const format::TableRecord> table = view->table;
  FewRowsFinder finder(request.resources, request.options, index, std::move(sought->ranges));
  if (!finder.Find(view)) return nullptr;
  KeepLookup(request, table, predicate->root(), index);
  return Open(request, LatePredicate(std::move(*predicate)), view, &finder);
}

}  // namespace tandem::engine
