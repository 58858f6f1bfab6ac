// What was acknowledged, in order; see journal.h.
#include "test/model/journal.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

#include "test/model/counters.h"

namespace tandem::test {
namespace {

void ApplyTo(Model* model, const JournalBatch& batch) {
  if (batch.altered.has_value()) {
    model->AlterFamily(batch.emptied, *batch.altered, batch.now_micros);
  } else if (!batch.family.empty()) {
    model->EmptyFamily(batch.emptied, batch.family);
  } else if (!batch.emptied.empty()) {
    model->Truncate(batch.emptied);
  }
  for (const ModelOperation& operation : batch.operations) {
    model->Apply(operation, batch.timestamp, batch.now_micros);
  }
}

}  // namespace

bool JournalBatch::surely_writes() const {
  const auto writes = [](const ModelOperation& operation) {
    return operation.kind != ModelOperation::Kind::kDeleteCell;
  };
  return !emptied.empty() || (adds && std::any_of(operations.begin(), operations.end(), writes));
}

bool JournalBatch::reads() const {
  return std::any_of(operations.begin(), operations.end(),
                     [](const ModelOperation& operation) { return operation.reads(); });
}

/// A model that goes forward batch by batch and knows at every step which rows differ from what was
/// recovered.
class Journal::Search {
 public:
  Search(Model state, const std::vector<std::string>& tables, const Recovered& recovered)
      : state_(std::move(state)), recovered_(recovered) {
    for (const std::string& table : tables) {
      CompareRows(table, state_.Scan(table, {}, Everything()));
    }
  }

  void Advance(const JournalBatch& batch) {
    std::vector<ModelRow> removed;
    if (!batch.emptied.empty()) removed = state_.Scan(batch.emptied, {}, Everything());
    ApplyTo(&state_, batch);
    if (!batch.emptied.empty()) CompareRows(batch.emptied, removed);
    for (const ModelOperation& operation : batch.operations)
      Compare(operation.table, operation.row);
  }

  const Model& state() const { return state_; }
  size_t difference_count() const { return different_.size(); }
  std::string DescribeDifference() const {
    const auto& [table, key] = *different_.begin();
    const auto expected = state_.Get(table, key, Everything());
    const auto& rows = recovered_.content.at(table);
    const auto found = rows.find(key);
    return "table " + table + ", expected " +
           (expected.has_value() ? expected->Describe() : "no row " + Shown(key)) + ", found " +
           (found != rows.end() ? found->second.Describe() : "none");
  }

 private:
  ModelRead Everything() const {
    return {recovered_.now_micros, std::numeric_limits<uint32_t>::max(), {}};
  }
  /// These, and those that were recovered.
  void CompareRows(const std::string& table, const std::vector<ModelRow>& rows) {
    for (const ModelRow& row : rows) Compare(table, row.key);
    for (const auto& [key, row] : recovered_.content.at(table)) Compare(table, key);
  }
  void Compare(const std::string& table, const std::string& key) {
    const auto expected = state_.Get(table, key, Everything());
    const auto& rows = recovered_.content.at(table);
    const auto found = rows.find(key);
    const bool same = found == rows.end() ? !expected.has_value()
                                          : expected.has_value() && *expected == found->second;
    if (same) {
      different_.erase({table, key});
    } else {
      different_.insert({table, key});
    }
  }

  Model state_;
  const Recovered& recovered_;
  std::set<std::pair<std::string, std::string>> different_;
};

Journal::Journal(std::vector<std::string> tables, const Model& state)
    : tables_(std::move(tables)), base_(state) {}

void Journal::Append(JournalBatch batch) { batches_.push_back(std::move(batch)); }

void Journal::MarkDurable(size_t count) {
  for (size_t i = 0; i < count; ++i) ApplyTo(&base_, batches_[i]);
  batches_.erase(batches_.begin(), batches_.begin() + static_cast<std::ptrdiff_t>(count));
  written_ = written_ > count ? written_ - count : 0;
}

void Journal::MarkDurableThrough(const std::string& table) {
  size_t count = batches_.size();
  const auto touches = [&](const ModelOperation& operation) {
    return operation.table == table && operation.kind != ModelOperation::Kind::kDeleteCell;
  };
  while (count > 0 && batches_[count - 1].emptied != table &&
         std::none_of(batches_[count - 1].operations.begin(), batches_[count - 1].operations.end(),
                      touches)) {
    --count;
  }
  MarkDurable(count);
}

size_t Journal::MostAt(uint64_t last_sequence) const {
  size_t most = 0;
  while (most < batches_.size() &&
         batches_[most].last_sequence.value_or(last_sequence) <= last_sequence) {
    ++most;
  }
  return most;
}

std::optional<Model> Journal::RecoverMixed(const Recovered& recovered, size_t most) const {
  Search whole(base_, tables_, recovered);
  for (size_t count = 0; count < most; ++count) {
    Search logged = whole;
    for (size_t i = count; i < most; ++i) {
      if (!batches_[i].is_logged) continue;
      logged.Advance(batches_[i]);
      if (logged.difference_count() == 0) return logged.state();
    }
    whole.Advance(batches_[count]);
  }
  return std::nullopt;
}

Model Journal::Recover(const Recovered& recovered) {
  const size_t least = recovered.killed ? written_ : 0, most = MostAt(recovered.last_sequence);
  if (most < least) {
    throw Failure("the recovered sequence " + std::to_string(recovered.last_sequence) +
                  " is below that of a batch that must not be lost");
  }
  Search search(base_, tables_, recovered);
  std::string nearest;
  size_t fewest = std::numeric_limits<size_t>::max();
  for (size_t count = 0; count <= most; ++count) {
    if (count > 0) search.Advance(batches_[count - 1]);
    if (count < least) continue;
    if (search.difference_count() == 0) {
      base_ = search.state();
      batches_.clear();
      written_ = 0;
      return base_;
    }
    if (search.difference_count() < fewest) {
      fewest = search.difference_count();
      nearest = std::to_string(count) + " batches, where " + std::to_string(fewest) +
                " rows differ: " + search.DescribeDifference();
    }
  }
  const bool all_logged = std::all_of(batches_.begin(), batches_.end(),
                                      [](const JournalBatch& batch) { return batch.is_logged; });
  std::optional<Model> mixed;
  if (!all_logged) mixed = RecoverMixed(recovered, most);
  if (mixed.has_value()) {
    base_ = *std::move(mixed);
    batches_.clear();
    written_ = 0;
    return base_;
  }
  throw Failure("what was recovered is no prefix of the " + std::to_string(batches_.size()) +
                " batches since the last durable one (" + std::to_string(least) + " to " +
                std::to_string(most) + " can be there); nearest are " + nearest);
}

}  // namespace tandem::test
