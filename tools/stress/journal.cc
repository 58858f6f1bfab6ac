// See journal.h.
#include "tools/stress/journal.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "tools/stress/finding.h"
#include "tools/tandem/format_text.h"

namespace tandem::stress {
namespace {

using test::Model;
using test::ModelOperation;
using test::ModelRow;

void ApplyTo(Model* model, const JournalBatch& batch) {
  if (!batch.emptied.empty()) model->Truncate(batch.emptied);
  for (const ModelOperation& operation : batch.operations) {
    model->Apply(operation, batch.timestamp, 0);
  }
}

/// A model that goes forward batch by batch and knows at each step which rows differ from what was
/// recovered.
class Candidate {
 public:
  Candidate(const Model& state, const std::vector<std::string>& tables,
            const std::vector<std::vector<ModelRow>>& content)
      : state_(state) {
    for (size_t i = 0; i < tables.size(); ++i) {
      auto& rows = recovered_[tables[i]];
      for (const ModelRow& row : content[i]) rows.emplace(row.key, &row);
      for (const ModelRow& row : state_.Scan(tables[i], {}, kEverything)) {
        Compare(tables[i], row.key);
      }
      for (const auto& [key, row] : rows) Compare(tables[i], key);
    }
  }

  void Advance(const JournalBatch& batch) {
    std::vector<ModelRow> removed;
    if (!batch.emptied.empty()) removed = state_.Scan(batch.emptied, {}, kEverything);
    ApplyTo(&state_, batch);
    if (!batch.emptied.empty()) {
      for (const ModelRow& row : removed) Compare(batch.emptied, row.key);
      for (const auto& [key, row] : recovered_.at(batch.emptied)) Compare(batch.emptied, key);
    }
    for (const ModelOperation& operation : batch.operations) {
      Compare(operation.table, operation.row);
    }
  }
  const Model& state() const { return state_; }
  size_t difference_count() const { return different_.size(); }
  Status FirstDifference(const std::string& where) const {
    const auto& [table, key] = *different_.begin();
    const auto& rows = recovered_.at(table);
    const auto found = rows.find(key);
    return Mismatch(tools::Format("{}: {}: row {}", where, table, test::Shown(key)),
                    Describe(state_.Get(table, key, kEverything)),
                    found == rows.end() ? "no row" : Describe(*found->second));
  }

 private:
  static inline const test::ModelRead kEverything{0, std::numeric_limits<uint32_t>::max(), {}};

  void Compare(const std::string& table, const std::string& key) {
    const auto expected = state_.Get(table, key, kEverything);
    const auto& rows = recovered_.at(table);
    const auto found = rows.find(key);
    const bool same = found == rows.end() ? !expected.has_value()
                                          : expected.has_value() && *expected == *found->second;
    same ? different_.erase({table, key})
         : static_cast<size_t>(different_.insert({table, key}).second);
  }

  Model state_;
  std::map<std::string, std::map<std::string, const ModelRow*>> recovered_;
  std::set<std::pair<std::string, std::string>> different_;
};

}  // namespace

bool JournalBatch::surely_writes() const {
  const auto writes = [](const ModelOperation& operation) {
    return operation.kind != ModelOperation::Kind::kDeleteCell;
  };
  return !emptied.empty() || std::ranges::any_of(operations, writes);
}

void Journal::DropOpen() {
  while (!batches_.empty() && batches_.back().open) batches_.pop_back();
}

void Journal::MarkDurable(size_t count) {
  for (size_t i = 0; i < count; ++i) ApplyTo(&base_, batches_[i]);
  batches_.erase(batches_.begin(), batches_.begin() + static_cast<std::ptrdiff_t>(count));
  written_ = written_ > count ? written_ - count : 0;
}

void Journal::MarkDurableThrough(const std::string& table) {
  const auto touches = [&](const ModelOperation& operation) {
    return operation.table == table && operation.kind != ModelOperation::Kind::kDeleteCell;
  };
  size_t count = batches_.size();
  while (count > 0 && batches_[count - 1].emptied != table &&
         std::ranges::none_of(batches_[count - 1].operations, touches)) {
    --count;
  }
  MarkDurable(count);
}

Result<Model> Journal::Recover(const std::vector<std::vector<ModelRow>>& content, bool killed) {
  const size_t least = killed ? written_ : 0;
  Candidate candidate(base_, tables_, content);
  Status nearest;
  size_t fewest = std::numeric_limits<size_t>::max();
  for (size_t count = 0; count <= batches_.size(); ++count) {
    if (count > 0) candidate.Advance(batches_[count - 1]);
    if (count < least) continue;
    if (candidate.difference_count() == 0) {
      base_ = candidate.state();
      batches_.clear();
      written_ = 0;
      return base_;
    }
    if (candidate.difference_count() >= fewest) continue;
    fewest = candidate.difference_count();
    nearest = candidate.FirstDifference(tools::Format(
        "what was recovered is no prefix of the {} batches that were not durable; of these {} have "
        "to be there. Nearest are {}, with {} rows that differ",
        batches_.size(), least, count, fewest));
  }
  return nearest;
}

}  // namespace tandem::stress
