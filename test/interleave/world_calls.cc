// Calls of a World that make files beside flushes and merges, and those on an observed table.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/status_macros.h"
#include "test/interleave/world_impl.h"

namespace tandem::test {
namespace {

constexpr std::string_view kCountedRow = "n";
constexpr const char* kCopy = "copy";
constexpr size_t kSaltBytes = 1;

// Counts the batches of its table in a row, as programs would do it.
class Counter final : public Observer {
 public:
  Status BeforeWrite(PendingWrite* write) override {
    ASSIGN_OR_RETURN(const std::optional<Row> row, write->Get({}, "t", kCountedRow));
    const std::string before(row.has_value() ? row->Find("d", "c").value_or("0") : "0");
    WriteBatch added;
    added.Put("t", kCountedRow, "d", "c", std::to_string(std::stoll(before) + 1));
    return write->Add(added);
  }
};

// The put that the observer adds to a batch in this state.
ModelOperation CountIn(const ModelState& state) {
  const std::string row(kCountedRow);
  const auto before = state.model.Value("t", row, {.family = "d", .qualifier = "c"}, kNow);
  return OperationOf({row, std::to_string(std::stoll(before.value_or("0")) + 1)});
}

void PutCopied(const std::vector<ModelRow>& rows, const std::string& table, Model* model) {
  for (const ModelRow& row : rows) {
    for (const ModelCell& cell : row.cells) {
      model->Apply({.table = table,
                    .row = row.key,
                    .family = cell.family,
                    .columns = {{cell.qualifier, cell.value}},
                    .timestamp = cell.timestamp},
                   0, kNow);
    }
  }
}

bool IsNamedSince(const ModelState& state, const ModelState::Load& load) {
  return state.tables.contains("t") && state.truncations == load.truncations;
}

}  // namespace

IndexOptions IndexByC() { return {.name = "by_c", .columns = {{.family = "d", .qualifier = "c"}}}; }

std::shared_ptr<Observer> NewCounter() { return std::make_shared<Counter>(); }

void World::CreateIndex() {
  Call call(this, "create the index");
  const Status status = engine_->CreateIndex("t", IndexByC());
  if (!recording_) start_.has_index = true;
  call.RecordStatus(status, [](ModelState* state) {
    const bool is_new = !state->has_index;
    state->has_index = true;
    return is_new;
  });
}

void World::DropIndex() {
  Call call(this, "drop the index");
  call.RecordStatus(engine_->DropIndex("t", "by_c"),
                    [](ModelState* state) { return std::exchange(state->has_index, false); });
}

// Two operations of the history: the first takes the timestamp, the second shows the rows with it.
// What is put in between is newer than they are.
void World::Load(const Rows& rows, Order order) {
  Call begin(this, "begin a load");
  auto load = engine_->BeginBulkLoad("t", {.any_order = order == Order::kAny});
  const uint64_t id = begin.begin();
  begin.RecordStatus(load.status(), [id](ModelState* state) {
    state->loads[id] = {.timestamp = ++state->last_timestamp, .truncations = state->truncations};
    return true;
  });
  if (!load.has_value()) return;
  std::vector<ModelOperation> operations;
  WriteBatch batch;
  for (const auto& row : rows) {
    operations.push_back(OperationOf(row));
    operations.back().AddTo(&batch);
  }
  Call commit(this, "load" + TextOf(rows));
  Status status = load->Add(batch);
  if (status.ok()) status = load->Commit();
  commit.End();
  if (status.code() == StatusCode::kNotFound || status.code() == StatusCode::kInvalidArgument) {
    return commit.Record("the table is gone", [id](ModelState* state) {
      return !IsNamedSince(*state, state->loads.at(id));
    });
  }
  commit.RecordStatus(status, [id, operations](ModelState* state) {
    const ModelState::Load& begun = state->loads.at(id);
    if (!IsNamedSince(*state, begun)) return false;
    for (const ModelOperation& put : operations) state->model.Apply(put, begun.timestamp, kNow);
    return true;
  });
}

// The export is written by a database of its own. Another one that is opened later may have its
// mutexes where the shards of that one's cache were.
void World::Export() {
  const size_t arrays = scheduler_.found_arrays();
  Expect(engine_->ExportFiles("t", "export", {}).status(), "export");
  scheduler_.ForgetArrays(arrays);
  copied_ = start_.model.Scan("t", {}, {.now_micros = kNow, .columns = {}});
}

void World::Checkpoint() {
  Expect(engine_->Checkpoint("checkpoint"), "checkpoint");
  copied_ = start_.model.Scan("t", {}, {.now_micros = kNow, .columns = {}});
}

// Cells keep their timestamps: what was put since is newer.
void World::Attach() {
  Call call(this, "attach");
  const Status status = engine_->Attach("t", "export", {}).status();
  call.RecordStatus(status, [rows = copied_](ModelState* state) {
    PutCopied(rows, "t", &state->model);
    return true;
  });
}

void World::Restore() {
  Call call(this, "restore t as u");
  const Status status = engine_->RestoreTable("checkpoint", "t", {.as = "u"}).status();
  TableOptions options = start_.model.table("t");
  options.name = "u";
  call.RecordStatus(status, [rows = copied_, options](ModelState* state) {
    state->model.CreateTable(options);
    PutCopied(rows, "u", &state->model);
    return state->tables.insert("u").second;
  });
}

// An error in the place of the switch-over lets the writes that have waited go on, and the copy go.
void World::CopyTable() {
  Call call(this, "copy t under other row keys");
  std::vector<ModelRow> rows;
  const auto compare = [&] {
    rows = AllVersions("t");
    std::vector<ModelRow> copies = AllVersions(kCopy);
    for (ModelRow& copy : copies) copy.key = copy.key.substr(kSaltBytes);
    std::ranges::sort(copies, {}, &ModelRow::key);
    if (copies != rows) {
      Problem(call.text() + ": " + Describe(copies) + " instead of " + Describe(rows));
    }
    return Status::Cancelled("it was compared");
  };
  const Status status = engine_
                            ->CopyTable("t", kCopy,
                                        {.row_key = "salt(4), key:bytes",
                                         .from_row_key = "key:bytes",
                                         .switch_over = compare})
                            .status();
  if (status.code() != StatusCode::kCancelled) return call.RecordStatus(status, nullptr);
  rows = WithoutTimes(std::move(rows));
  call.Record(Describe(rows), [rows](ModelState* state) {
    return !state->closed && rows == Expected(*state, std::nullopt);
  });
}

std::vector<ModelRow> World::AllVersions(const std::string& table) {
  ReadOptions read;
  read.versions = UINT32_MAX;
  auto cursor = engine_->Scan(read, table, {});
  std::vector<ModelRow> rows;
  while (cursor.has_value() && cursor->Next()) rows.emplace_back(cursor->row());
  Expect(cursor.has_value() ? cursor->status() : cursor.status(), "all versions of " + table);
  return rows;
}

void World::CreateSnapshot(const std::string& name) {
  Call call(this, "create the snapshot " + name);
  const Status status = engine_->CreateSnapshot(name, {});
  call.End();
  snapshot_names_.insert(name);
  if (status.code() == StatusCode::kAlreadyExists) {
    return call.Record("it exists", [name](ModelState* state) {
      return !state->closed && state->snapshots.contains(name);
    });
  }
  const auto apply = [name](ModelState* state) {
    auto seen = std::make_shared<ModelState>(*state);
    seen->snapshots.clear();
    return state->snapshots.emplace(name, std::move(seen)).second;
  };
  if (!recording_) apply(&start_);
  call.RecordStatus(status, apply);
}

void World::OpenSnapshot(const std::string& name) {
  Call call(this, "open the snapshot " + name);
  auto snapshot = engine_->OpenSnapshot(name);
  call.End();
  if (snapshot.status().code() == StatusCode::kNotFound) {
    return call.Record("no such snapshot", [name](ModelState* state) {
      return !state->closed && !state->snapshots.contains(name);
    });
  }
  if (!snapshot.has_value()) return call.RecordStatus(snapshot.status(), nullptr);
  Held held{std::move(*snapshot), std::make_shared<std::vector<Seen>>()};
  call.Record("opened", [name, seen = held.seen](ModelState* state) {
    const auto found = state->snapshots.find(name);
    if (state->closed || found == state->snapshots.end()) return false;
    return std::ranges::all_of(*seen, [&](const Seen& read) {
      return read.rows == Expected(*found->second, read.value, read.table);
    });
  });
  held_[scheduler_.running()] = std::move(held);
}

void World::DropSnapshot(const std::string& name) {
  Call call(this, "drop the snapshot " + name);
  const Status status = engine_->DropSnapshot(name);
  call.End();
  if (status.code() == StatusCode::kNotFound) {
    return call.Record("no such snapshot", [name](ModelState* state) {
      return !state->closed && !state->snapshots.contains(name);
    });
  }
  call.RecordStatus(status,
                    [name](ModelState* state) { return state->snapshots.erase(name) == 1; });
}

void World::ReadNamedSnapshots() {
  for (const std::string& name : snapshot_names_) {
    OpenSnapshot(name);
    ReadSnapshot("1");
    ReleaseSnapshot();
  }
}

void World::WriteCounted(const Rows& rows) {
  WriteBatch batch;
  std::vector<ModelOperation> operations;
  for (const auto& row : rows) {
    operations.push_back(OperationOf(row));
    operations.back().AddTo(&batch);
  }
  Call call(this, "write and count" + TextOf(rows));
  const Status status = engine_->Write({}, batch);
  call.End();
  if (status.code() == StatusCode::kConflict) {
    return call.Record("conflict", [](ModelState* state) { return !state->closed; });
  }
  const auto apply = [operations](ModelState* state) {
    const ModelOperation count = CountIn(*state);
    ++state->last_timestamp;
    for (const ModelOperation& put : operations) {
      state->model.Apply(put, state->last_timestamp, kNow);
    }
    if (state->is_observed) state->model.Apply(count, state->last_timestamp, kNow);
    return true;
  };
  if (!recording_) apply(&start_);
  call.RecordStatus(status, apply);
}

void World::SetObservers() {
  Call call(this, "set the observers");
  const std::vector<std::string> names = {"counter"};
  const Status status = engine_->SetObservers("t", names);
  call.RecordStatus(status, [](ModelState* state) { return state->is_observed = true; });
}

void World::CheckFiles() {
  const auto usage = engine_->GetSpaceUsage({});
  Expect(usage.status(), "space usage");
  if (!usage.has_value()) return;
  for (const SpacePart& part : usage->parts) {
    const bool is_left = part.kind == SpaceKind::kInUse || part.kind == SpaceKind::kUnnamed ||
                         part.kind == SpaceKind::kHeld;
    if (is_left && part.name.starts_with("store-")) Problem("nobody needs " + part.name);
  }
}

void World::CreateSequence() {
  const Status status = engine_->CreateSequence({.name = "ids"});
  has_ids_ |= status.ok();
  if (!IsExcused(status)) Expect(status, "create the sequence");
}

// What is taken from then on may have been taken before.
void World::DropSequence() {
  ids_may_go_ = true;
  ids_.clear();
  const Status status = engine_->DropSequence("ids");
  if (!IsExcused(status)) Expect(status, "drop the sequence");
}

void World::TakeIds(uint64_t count) {
  const uint64_t before = ids_.empty() ? 0 : *ids_.rbegin();
  const Result<uint64_t> first = engine_->NextIds("ids", count);
  if (!first.has_value()) {
    const bool is_gone = ids_may_go_ && first.error().code() == StatusCode::kNotFound;
    if (!is_gone && !IsExcused(first.error())) Expect(first.error(), "take ids");
    return;
  }
  if (ids_may_go_) return;
  if (*first <= before)
    Problem("id " + std::to_string(*first) + " after " + std::to_string(before));
  for (uint64_t id = *first; id < *first + count; ++id) {
    if (!ids_.insert(id).second) Problem("id " + std::to_string(id) + " twice");
  }
}

}  // namespace tandem::test
