// The choice: figures of ways to answer queries, and which indexes save most of their blocks.
#include "engine/advice/advise.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "engine/advice/measured_ways.h"
#include "engine/advice/section_sizes.h"
#include "engine/predicate/row_restrictions.h"
#include "engine/query/intersection_choice.h"
#include "engine/query/plan.h"

namespace tandem::engine {
namespace {

// An index with fewer columns is advised where one with more saves hardly more: less than a 64th.
constexpr uint64_t kHardlyMore = 64;
// An index is written with each row: it is advised if it saves more than four blocks a call, and at
// least an eighth of the blocks that the queries that use it read without it.
constexpr uint64_t kBlocksWorthSaving = 4, kPartWorthSaving = 8;
// An intersection that pays by less depends on how the files lie when it is planned: it says what a
// query will read, but no index is advised for it.
constexpr double kSurelyPays = 1.5;
// The most rows that a plan sorts where it could walk the index of the order.
constexpr uint64_t kSortedMax = 1 << 17;

Status OfQuery(size_t place, const Status& status) {
  return Status(status.code(),
                "query " + std::to_string(place + 1) + ": " + std::string(status.message()));
}

// Why no other index would change how the query is answered; empty: one may.
std::string WhyFixed(const QueryOptions& options) {
  if (options.no_index) return "it asks for a scan (no_index)";
  if (!options.use_index.empty() || !options.use_indexes.empty()) {
    return "it asks for an index itself (use_index)";
  }
  if (options.any_version) return "it asks for older versions, which are not measured";
  return {};
}

// How a query is answered with the indexes that are there.
struct Answer {
  uint64_t entries = UINT64_MAX;                       // Of the index; of a scan: more than any.
  std::optional<uint64_t> intersected = std::nullopt;  // Entries of what is intersected with it.
  uint64_t blocks = 0;
  std::vector<size_t> indexes = {};  // Advised ones.
};

class Adviser {
 public:
  Adviser(const AdviceRequest& request, TableView view)
      : request_(request), view_(std::move(view)), cancellation_(request.options.cancelled) {}

  Result<IndexAdvice> Run() {
    RETURN_IF_ERROR(Bind());
    RETURN_IF_ERROR(ExplainAll());
    ASSIGN_OR_RETURN(proposals_, Propose(*view_.table, queries_, request_.changes));
    advice_.candidates = proposals_.indexes.size();
    advice_.candidates_left_out = proposals_.left_out;
    ASSIGN_OR_RETURN(ways_, FindMeasuredWays(proposals_, queries_, cancellation_));
    RETURN_IF_ERROR(FindLimits());
    RETURN_IF_ERROR(Measure());
    while (advice_.indexes.size() < request_.options.indexes_max && ChooseNext()) {
    }
    RETURN_IF_ERROR(MeasureChosen());
    for (size_t i = 0; i < queries_.size(); ++i) Describe(i);
    return std::move(advice_);
  }

 private:
  Status Bind() {
    const std::vector<AdvisedQuery>& queries = request_.queries;
    if (queries.empty()) return Status::InvalidArgument("there is no query to advise on");
    if (queries.size() > kAdvisedQueriesMax) {
      return Status::InvalidArgument("there are " + std::to_string(queries.size()) +
                                     " queries, at most " + std::to_string(kAdvisedQueriesMax) +
                                     " are advised on at a time");
    }
    for (size_t i = 0; i < queries.size(); ++i) {
      Result<BoundPredicate> bound =
          BoundPredicate::Bind(queries[i].predicate, *view_.table,
                               {.cancellation = cancellation_, .functions = &request_.functions});
      if (!bound.has_value()) return OfQuery(i, bound.error());
      queries_.push_back({.query = &queries[i],
                          .predicate = WithinFields(*std::move(bound)),
                          .fixed = WhyFixed(queries[i].options)});
    }
    return {};
  }

  Status ExplainAll() {
    for (size_t i = 0; i < queries_.size(); ++i) {
      RETURN_IF_ERROR(cancellation_.Check());
      Result<Explanation> now = request_.explain(*queries_[i].query);
      if (!now.has_value()) return OfQuery(i, now.error());
      advice_.queries.push_back({.index_now = now->index, .blocks_now = now->candidate_blocks});
      Answer& answer = now_.emplace_back();
      answer.blocks = now->candidate_blocks;
      if (!now->index.empty()) answer.entries = now->entries;
      const bool walks = now->reason.starts_with("in the order of the index");
      walked_.push_back(walks ? std::optional(now->entries) : std::nullopt);
      if (walks) answer.entries = UINT64_MAX;
    }
    return {};
  }

  // How many entries a way may have to be chosen, by the rows that the query would scan.
  Status FindLimits() {
    for (const MeasuredWay& way : ways_) {
      const bool is_counted = queries_[way.query].query->is_count && way.is_exact;
      if (is_counted) {
        entries_max_.push_back(UINT64_MAX);
        continue;
      }
      const format::KeyRange all =
          way.rows.empty() ? format::KeyRange{{}, std::string()}
                           : format::KeyRange{way.rows.front().low, way.rows.back().high};
      ASSIGN_OR_RETURN(const std::vector<Cluster> clusters, FindClusters(view_, all));
      entries_max_.push_back(EntriesWorthPicking(clusters, way.is_exact));
    }
    return {};
  }

  // Of files alone: memstores are pinned no longer.
  Status Measure() {
    for (auto& region : view_.regions) {
      region = std::make_shared<const RegionVersion>(WithoutMemstores(*region));
      for (const FileSlice& slice : region->files) advice_.rows += slice.high - slice.low;
    }
    sample_ = RowSample::Of(advice_.rows, request_.options.rows_max);
    if (ways_.empty()) {
      advice_.rows_read = advice_.rows;
      return {};
    }
    ASSIGN_OR_RETURN(RowsMeasured measured,
                     MeasureWays(view_, proposals_, queries_, sample_, cancellation_, &ways_));
    advice_.rows_read = measured.rows;
    absent_columns_ = std::move(measured.absent_columns);
    for (MeasuredWay& way : ways_) {
      way.entries = Scaled(way.entries);
      way.blocks = Scaled(way.blocks);
      if (way.intersected.has_value()) way.intersected = Scaled(*way.intersected);
      led_to_.push_back(RowsLedTo(&way));
    }
    return {};
  }

  /// What a plan would read by a way.
  struct LedTo {
    uint64_t rows = 0;     ///< About.
    bool is_way = true;    ///< A plan takes it if it has the fewest.
    bool is_clear = true;  ///< Whether it is one is no close decision.
  };
  // Where two accesses are intersected the one with fewer entries is looked up, as a plan does,
  // unless the postings of the other cost more than the rows that they leave out, as the planner
  // thinks: then it is no way.
  LedTo RowsLedTo(MeasuredWay* way) const {
    if (!way->intersected.has_value()) return {.rows = way->entries};
    const uint64_t fewer = std::min(way->entries, *way->intersected);
    const uint64_t more = std::max(way->entries, *way->intersected);
    way->entries = fewer;
    way->intersected = more;
    const auto found = static_cast<double>(fewer), others = static_cast<double>(more);
    const double left = found * others / static_cast<double>(std::max<uint64_t>(advice_.rows, 1));
    const double cost = others / static_cast<double>(kPostingsPerRow) +
                        static_cast<double>(kRowsPerLookup * way->access.paths[0].ranges.size());
    return {.rows = static_cast<uint64_t>(left),
            .is_way = found - left > cost,
            .is_clear = found - left > kSurelyPays * cost};
  }

  // A column of the way's indexes that no row has, so that it may be misspelt: an index of it would
  // find in no time that nothing matches. Empty: there is none.
  std::string AbsentColumnOf(const MeasuredWay& way) const {
    for (const size_t index : way.indexes) {
      if (!absent_columns_[index].empty()) return absent_columns_[index];
    }
    return {};
  }

  uint64_t Scaled(uint64_t figure) const {
    if (sample_.stride == 1 || advice_.rows_read == 0) return figure;
    return static_cast<uint64_t>(static_cast<unsigned __int128>(figure) * advice_.rows /
                                 advice_.rows_read);
  }

  // Whether a plan uses the way of a query that is in the order of an index, which it could walk.
  bool SortsMatches(const MeasuredWay& way) const {
    const std::optional<uint64_t>& walked = walked_[way.query];
    if (!walked.has_value()) return true;
    if (way.entries > kSortedMax) return false;
    const uint64_t limit = queries_[way.query].query->options.limit;
    if (limit > 0 && limit < way.entries) {
      return static_cast<unsigned __int128>(*walked) * limit / way.entries > way.entries;
    }
    return *walked > way.entries;
  }

  // Whether the table has the index.
  bool IsThere(size_t index) const { return index >= proposals_.indexes.size(); }

  bool IsChosen(const MeasuredWay& way, const std::vector<size_t>& more) const {
    return std::ranges::all_of(way.indexes, [&](size_t index) {
      return IsThere(index) || std::ranges::find(chosen_, index) != chosen_.end() ||
             std::ranges::find(more, index) != more.end();
    });
  }

  // Whether a plan takes the way rather than what answers now: by the fewest entries, then
  // intersected with the fewest, then by the fewest blocks, as indexes that have the columns that
  // are asked for are preferred.
  static bool IsBetter(const MeasuredWay& way, const Answer& answer) {
    if (way.entries != answer.entries) return way.entries < answer.entries;
    const bool are_intersected = way.intersected.has_value() && answer.intersected.has_value();
    if (are_intersected && *way.intersected != *answer.intersected) {
      return *way.intersected < *answer.intersected;
    }
    return way.blocks < answer.blocks;
  }

  enum class Ways : uint8_t { kAll, kClear };

  // With the chosen indexes and some more.
  std::vector<Answer> AnswersWith(const std::vector<size_t>& more, Ways ways) const {
    std::vector<Answer> answers = now_;
    for (size_t i = 0; i < ways_.size(); ++i) {
      const MeasuredWay& way = ways_[i];
      if (!led_to_[i].is_way || led_to_[i].rows > entries_max_[i]) continue;
      if (ways == Ways::kClear && !led_to_[i].is_clear) continue;
      if (!IsChosen(way, more) || !SortsMatches(way)) continue;
      Answer& answer = answers[way.query];
      if (!IsBetter(way, answer)) continue;
      answer = {.entries = way.entries,
                .intersected = way.intersected,
                .blocks = way.blocks,
                .indexes = way.indexes};
    }
    return answers;
  }

  /// What changes by more indexes, in blocks of all calls.
  struct Saving {
    uint64_t blocks = 0;
    uint64_t blocks_before = 0;  ///< Of the queries that change.
    uint64_t calls = 0;          ///< Of them.
    bool is_worth() const {
      return blocks > kBlocksWorthSaving * calls && blocks * kPartWorthSaving >= blocks_before;
    }
  };
  Saving SavingOf(const std::vector<Answer>& before, const std::vector<Answer>& after) const {
    Saving saving;
    uint64_t blocks_after = 0;
    for (size_t i = 0; i < after.size(); ++i) {
      if (after[i].indexes == before[i].indexes) continue;
      const uint64_t count = queries_[i].query->count;
      saving.calls += count;
      saving.blocks_before += before[i].blocks * count;
      blocks_after += after[i].blocks * count;
    }
    saving.blocks = saving.blocks_before - std::min(saving.blocks_before, blocks_after);
    return saving;
  }

  size_t ColumnsOf(const std::vector<size_t>& indexes) const {
    size_t columns = 0;
    for (const size_t index : indexes) {
      const IndexOptions& options = proposals_.indexes[index];
      columns += options.columns.size() + options.include.size();
    }
    return columns;
  }

  // The indexes that save most beside those that are chosen. False: none saves anything.
  bool ChooseNext() {
    const std::vector<Answer> before = AnswersWith({}, Ways::kClear);
    std::vector<std::vector<size_t>> sets;
    for (const MeasuredWay& way : ways_) {
      if (!AbsentColumnOf(way).empty()) continue;
      std::vector<size_t> more;
      for (const size_t index : way.indexes) {
        const bool is_there = IsThere(index) || std::ranges::find(chosen_, index) != chosen_.end();
        if (!is_there) more.push_back(index);
      }
      std::ranges::sort(more);
      const bool fits = advice_.indexes.size() + more.size() <= request_.options.indexes_max;
      if (!more.empty() && fits && std::ranges::find(sets, more) == sets.end()) {
        sets.push_back(std::move(more));
      }
    }
    const std::vector<size_t>* best = nullptr;
    uint64_t most = 0;
    for (const std::vector<size_t>& set : sets) {
      const Saving saving = SavingOf(before, AnswersWith(set, Ways::kClear));
      if (!saving.is_worth()) continue;
      const uint64_t saved = saving.blocks;
      const bool has_fewer = best != nullptr && ColumnsOf(set) < ColumnsOf(*best);
      const bool is_better = best == nullptr || saved > most + most / kHardlyMore ||
                             (has_fewer && saved + saved / kHardlyMore >= most);
      if (!is_better) continue;
      best = &set;
      most = saved;
    }
    if (best == nullptr) return false;
    for (const size_t index : *best) {
      chosen_.push_back(index);
      AdvisedIndex& advised = advice_.indexes.emplace_back();
      advised.options = proposals_.indexes[index];
      advised.options.name = FreeIndexName(advised.options, *view_.table, names_);
      names_.insert(advised.options.name);
      if (index == best->back()) advised.blocks_saved = most;
    }
    return true;
  }

  Status MeasureChosen() {
    for (size_t i = 0; i < chosen_.size(); ++i) {
      ASSIGN_OR_RETURN(
          const SectionSizes sizes,
          MeasureSections(view_, proposals_.table, proposals_.table.indexes[chosen_[i]], sample_,
                          cancellation_));
      advice_.indexes[i].entries = sizes.entries;
      advice_.indexes[i].size_bytes = sizes.bytes;
    }
    return {};
  }

  void Describe(size_t place) {
    const std::vector<Answer> answers = AnswersWith({}, Ways::kAll);
    const Answer& answer = answers[place];
    QueryAdvice& described = advice_.queries[place];
    described.blocks_then = answer.blocks;
    for (size_t i = 0; i < chosen_.size(); ++i) {
      if (std::ranges::find(answer.indexes, chosen_[i]) == answer.indexes.end()) continue;
      described.indexes.push_back(i);
      advice_.indexes[i].queries.push_back(place);
    }
    if (described.indexes.empty()) described.why = WhyNone(place);
  }

  std::string WhyNone(size_t place) const {
    const QueryToServe& query = queries_[place];
    if (!query.fixed.empty()) return query.fixed;
    const QueryAdvice& described = advice_.queries[place];
    if (described.blocks_now == 0) return "it reads no data block now";
    const MeasuredWay* best = nullptr;
    uint64_t best_max = 0;
    std::string absent;
    for (size_t i = 0; i < ways_.size(); ++i) {
      if (ways_[i].query != place || ways_[i].intersected.has_value()) continue;
      if (std::string column = AbsentColumnOf(ways_[i]); !column.empty()) {
        absent = std::move(column);
        continue;
      }
      if (best != nullptr && ways_[i].entries >= best->entries) continue;
      best = &ways_[i];
      best_max = entries_max_[i];
    }
    if (best == nullptr && !absent.empty()) {
      return std::string(sample_.stride == 1 ? "no row in files" : "no row that was read") +
             " has a value of " + absent;
    }
    if (best == nullptr) {
      return described.index_now.empty()
                 ? "no condition that every match satisfies is one that an index serves"
                 : "no other index serves a condition of it";
    }
    const std::string entries = std::to_string(best->entries);
    if (best->entries > best_max) {
      return "the best index leads to " + entries +
             " entries: reading all rows in order is cheaper";
    }
    if (!SortsMatches(*best)) {
      return "to walk the index of its order costs less than to sort " + entries + " matches";
    }
    if (best->entries >= now_[place].entries) return "the index that it uses has as few entries";
    if (best->blocks >= described.blocks_now) {
      return "the rows of the best index lie in as many blocks as it reads now";
    }
    const Saving saving = {.blocks = described.blocks_now - best->blocks,
                           .blocks_before = described.blocks_now,
                           .calls = 1};
    if (!saving.is_worth()) {
      return "the best index saves too little: " + std::to_string(saving.blocks) + " of " +
             std::to_string(saving.blocks_before) + " blocks";
    }
    return "other indexes save more";
  }

  const AdviceRequest& request_;
  TableView view_;
  const base::Cancellation cancellation_;
  std::vector<QueryToServe> queries_;
  std::vector<Answer> now_;                      // By query.
  std::vector<std::optional<uint64_t>> walked_;  // By query: entries of the order's index.
  Proposals proposals_;
  std::vector<MeasuredWay> ways_;
  std::vector<uint64_t> entries_max_;        // By way.
  std::vector<LedTo> led_to_;                // By way.
  std::vector<std::string> absent_columns_;  // By proposed index: see RowsMeasured.
  RowSample sample_;
  std::set<std::string> names_;  // Of advised indexes.
  std::vector<size_t> chosen_;   // In the order of advice_.indexes.
  IndexAdvice advice_;
};

}  // namespace

Result<IndexAdvice> Advise(const AdviceRequest& request, TableView view) {
  return Adviser(request, std::move(view)).Run();
}

}  // namespace tandem::engine
