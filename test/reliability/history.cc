// See history.h.
#include "test/reliability/history.h"

#include <algorithm>
#include <limits>

namespace tandem::reliability {
namespace {

using test::ModelOperation;

// Of more open batches than these, the older ones are taken not to have happened.
constexpr size_t kOpenMax = 8;

bool SurelyWrites(const ModelOperation& operation) {
  return operation.kind != ModelOperation::Kind::kDeleteCell;
}

}  // namespace

bool History::Batch::surely_writes() const {
  return !emptied.empty() || std::any_of(operations.begin(), operations.end(), SurelyWrites);
}

bool History::Batch::SurelyChanges(const std::string& table) const {
  if (!emptied.empty() && (table.empty() || emptied == table)) return true;
  return std::any_of(operations.begin(), operations.end(), [&](const ModelOperation& operation) {
    return SurelyWrites(operation) && (table.empty() || operation.table == table);
  });
}

bool History::Batch::is_logged() const {
  return durability != Durability::kMemory ||
         std::any_of(operations.begin(), operations.end(),
                     [](const ModelOperation& operation) { return operation.reads(); });
}

std::string History::Lane::TextOfModel(const test::Model& model) const {
  std::string text;
  test::ModelRead everything;
  everything.versions = std::numeric_limits<uint32_t>::max();
  for (const std::string& table : tables) {
    text += table + ": " + reliability::TextOf(model.Scan(table, {}, everything));
  }
  return text;
}

std::string History::Lane::TextOf(const Content& content) const {
  std::string text;
  for (const std::string& table : tables) {
    const auto found = content.find(table);
    text += table + ": " + (found == content.end() ? "" : found->second);
  }
  return text;
}

History::State History::Lane::After(const State& state, const Batch& batch) const {
  State after{state.model, {}, batch};
  if (batch.altered.has_value()) {
    after.model.AlterFamily(batch.emptied, *batch.altered, batch.micros);
  } else if (!batch.family.empty()) {
    after.model.EmptyFamily(batch.emptied, batch.family);
  } else if (!batch.emptied.empty()) {
    after.model.Truncate(batch.emptied);
  }
  for (const ModelOperation& operation : batch.operations) {
    after.model.Apply(operation, batch.micros, batch.micros);
  }
  after.text = TextOfModel(after.model);
  return after;
}

std::optional<History::State> History::Lane::Find(const std::string& text, bool killed) const {
  const size_t floor = killed ? std::max(written, logged_written) : std::max(synced, logged_synced);
  for (size_t i = states.size(); i > floor; --i) {
    if (states[i - 1].text == text) return states[i - 1];
  }
  const std::optional<State> open_state = FindOpen(states.back(), text);
  return open_state.has_value() ? open_state : FindMixed(text, killed);
}

std::optional<History::State> History::Lane::FindMixed(const std::string& text, bool killed) const {
  std::optional<State> state = FindMixed(text, killed, /*all_logged=*/false);
  return state.has_value() ? state : FindMixed(text, killed, /*all_logged=*/true);
}

// What is not logged goes with its memstore: all of a prefix is in files.
std::optional<History::State> History::Lane::FindMixed(const std::string& text, bool killed,
                                                       bool all_logged) const {
  const auto is_logged = [all_logged](const Batch& batch) {
    return batch.is_logged() || (all_logged && batch.follows_deletion);
  };
  const bool mixed = std::any_of(states.begin() + 1, states.end(),
                                 [](const State& state) { return !state.last.is_logged(); });
  if (!mixed) return std::nullopt;
  const size_t floor = killed ? logged_written : logged_synced;
  for (size_t count = synced; count < states.size(); ++count) {
    State state = states[count];
    for (size_t i = count; i < states.size(); ++i) {
      if (i > count && is_logged(states[i].last)) state = After(state, states[i].last);
      if (i >= floor && state.text == text) return state;
    }
    std::optional<State> open_state = FindOpen(state, text);
    if (open_state.has_value()) return open_state;
  }
  return std::nullopt;
}

std::optional<History::State> History::Lane::FindOpen(const State& last,
                                                      const std::string& text) const {
  for (size_t chosen = 1; chosen < size_t{1} << open.size(); ++chosen) {
    State state = last;
    for (size_t i = 0; i < open.size(); ++i) {
      if ((chosen >> i & 1) != 0) state = After(state, open[i]);
    }
    if (state.text == text) return state;
  }
  return std::nullopt;
}

History::History(const Workload& workload) : lanes_(2) {
  test::Model model;
  for (const TableOptions& table : workload.tables) {
    lanes_[workload.IsUnlogged(table.name) ? 1 : 0].tables.push_back(table.name);
    model.CreateTable(table);
  }
  for (Lane& lane : lanes_) lane.states.push_back({model, lane.TextOfModel(model), {}});
}

void History::Writing(const Step& step, int64_t now_micros) {
  const std::vector<std::string>& loose = lanes_[1].tables;
  const auto is_loose = [&loose](const ModelOperation& operation) {
    return std::count(loose.begin(), loose.end(), operation.table) > 0;
  };
  current_ = std::any_of(step.batch.begin(), step.batch.end(), is_loose) ? 1 : 0;
  std::vector<Batch>& open = lanes_[current_].open;
  open.push_back({.operations = step.batch,
                  .durability = step.durability,
                  .micros = now_micros,
                  .follows_deletion = lanes_[current_].tried_deletion});
  lanes_[current_].tried_deletion |=
      step.in_transaction || step.in_check ||
      !std::all_of(step.batch.begin(), step.batch.end(), SurelyWrites);
  takes_time_ = true;
  if (open.size() > kOpenMax) open.erase(open.begin());
}

void History::Removing(const std::string& table, bool is_truncated) {
  current_ = 0;
  takes_time_ = false;
  std::vector<Batch>& open = lanes_[current_].open;
  open.push_back({.operations = {}, .durability = Durability::kSynced, .emptied = table});
  if (open.size() > kOpenMax) open.erase(open.begin());
  if (!is_truncated) std::erase(created_, table);
}

void History::DroppingFamily(const std::string& table, const std::string& family) {
  current_ = 0;
  takes_time_ = false;
  std::vector<Batch>& open = lanes_[current_].open;
  open.push_back(
      {.operations = {}, .durability = Durability::kSynced, .emptied = table, .family = family});
  if (open.size() > kOpenMax) open.erase(open.begin());
}

void History::Altering(const std::string& table, const FamilyOptions& family) {
  current_ = 0;
  takes_time_ = false;
  std::vector<Batch>& open = lanes_[current_].open;
  open.push_back(
      {.operations = {}, .durability = Durability::kSynced, .emptied = table, .altered = family});
  if (open.size() > kOpenMax) open.erase(open.begin());
}

void History::Acknowledged() {
  takes_time_ = false;
  Lane& lane = lanes_[current_];
  lane.states.push_back(lane.After(lane.states.back(), lane.open.back()));
  // Those that failed before it did not happen: it would have been before them.
  lane.open.clear();
  const Batch& batch = lane.states.back().last;
  if (!batch.surely_writes() || batch.durability < Durability::kWritten) return;
  lane.logged_written = lane.states.size() - 1;
  if (batch.durability == Durability::kSynced) lane.logged_synced = lane.logged_written;
  if (current_ == 1) return;
  lane.written = lane.logged_written;
  lane.synced = lane.logged_synced;
}

void History::Flushed(const std::string& table) {
  for (Lane& lane : lanes_) {
    size_t last = lane.states.size() - 1;
    while (last > 0 && !lane.states[last].last.SurelyChanges(table)) --last;
    lane.synced = std::max(lane.synced, last);
    lane.written = std::max(lane.written, last);
  }
}

void History::Closed() {
  for (Lane& lane : lanes_) lane.synced = lane.written = lane.states.size() - 1;
}

std::string History::MissingTable(const Content& content) const {
  for (const std::string& table : created_) {
    if (!content.contains(table)) return "table " + table + ", whose creation succeeded, is gone";
  }
  return "";
}

std::string History::Contradiction(const Content& content, bool killed) const {
  std::string missing = MissingTable(content);
  if (!missing.empty()) return missing;
  for (const Lane& lane : lanes_) {
    const std::string text = lane.TextOf(content);
    if (lane.Find(text, killed).has_value()) continue;
    const size_t floor = killed ? lane.written : lane.synced;
    return "what was recovered is no prefix of what was acknowledged\n    found " + Cut(text) +
           "\n    at least " + std::to_string(floor) + " batches: " + Cut(lane.states[floor].text) +
           "\n    at most " + std::to_string(lane.states.size() - 1) +
           " batches: " + Cut(lane.states.back().text) + "\n    and " +
           std::to_string(lane.open.size()) + " under way";
  }
  return "";
}

std::string History::LiveContradiction(const Content& content) const {
  std::string missing = MissingTable(content);
  if (!missing.empty()) return missing;
  for (const Lane& lane : lanes_) {
    const std::string text = lane.TextOf(content);
    if (lane.states.back().text == text) continue;
    return "a read differs from what was acknowledged\n    found " + Cut(text) + "\n    expected " +
           Cut(lane.states.back().text);
  }
  return "";
}

void History::Recovered(const Content& content) {
  for (Lane& lane : lanes_) {
    std::optional<State> state = lane.Find(lane.TextOf(content), false);
    if (!state.has_value()) continue;
    lane.states = {*std::move(state)};
    lane.open.clear();
    lane.tried_deletion = false;
    lane.synced = lane.written = lane.logged_synced = lane.logged_written = 0;
  }
}

void History::Found(const std::vector<TableInfo>& tables) {
  State& state = lanes_[0].states.back();
  for (const TableInfo& table : tables) {
    const std::string& name = table.options.name;
    if (std::ranges::count(lanes_[0].tables, name) == 0) continue;
    for (const FamilyOptions& found : table.options.families) {
      const bool is_known =
          std::ranges::any_of(state.model.table(name).families, [&found](const auto& family) {
            return family.name == found.name && family.max_versions == found.max_versions;
          });
      if (!is_known) state.model.AlterFamily(name, found, 0);
    }
  }
  state.text = lanes_[0].TextOfModel(state.model);
}

void History::CreatingSnapshot(const std::string& name, const Content& content) {
  snapshots_[name].contents.push_back(content);
  ++snapshot_events_;
}

void History::SnapshotCreated(const std::string& name) {
  NamedSnapshot& snapshot = snapshots_.at(name);
  snapshot.contents.erase(snapshot.contents.begin(), snapshot.contents.end() - 1);
  snapshot.is_sure = true;
  ++snapshot_events_;
}

void History::DroppingSnapshot(const std::string& name) {
  snapshots_.at(name).is_sure = false;
  ++snapshot_events_;
}

void History::SnapshotDropped(const std::string& name) {
  snapshots_.erase(name);
  ++snapshot_events_;
}

std::string History::SnapshotContradiction(const std::map<std::string, Content>& found) const {
  for (const auto& [name, content] : found) {
    const auto known = snapshots_.find(name);
    if (known == snapshots_.end()) return "snapshot " + name + " was dropped or never asked for";
    const std::vector<Content>& contents = known->second.contents;
    if (std::find(contents.begin(), contents.end(), content) != contents.end()) continue;
    std::string reason = "snapshot " + name + " shows";
    for (const auto& [table, text] : content) reason += " " + table + ": " + Cut(text);
    for (const auto& [table, text] : contents.back()) reason += "; not " + table + ": " + Cut(text);
    return reason;
  }
  for (const auto& [name, snapshot] : snapshots_) {
    if (snapshot.is_sure && !found.contains(name)) return "snapshot " + name + " is gone";
  }
  return "";
}

uint64_t History::demand() const {
  uint64_t demand = created_.size() * 1'000'003 + snapshot_events_;
  for (const Lane& lane : lanes_) {
    demand = demand * 1'000'003 + lane.synced * 1009 + lane.written;
    demand = demand * 1'000'003 + lane.logged_synced * 1009 + lane.logged_written;
  }
  return demand;
}

uint64_t History::acknowledged_count() const {
  return lanes_[0].states.size() + lanes_[1].states.size() - 2;
}

}  // namespace tandem::reliability
