// The fixed workloads: each is about one thing that writes, in as few operations as show it.
#include "test/reliability/workload.h"
#include "tools/simulation/same_observer.h"

namespace tandem::reliability {
namespace {

using test::ModelOperation;
using Kind = ModelOperation::Kind;
using Columns = std::vector<std::pair<std::string, std::string>>;

std::string Repeated(char c, size_t count) {
  std::string text;
  text.resize(count, c);
  return text;
}

/// A table of one family "d" with an index over d:c.
TableOptions Table(const std::string& name, uint32_t max_versions = 1) {
  TableOptions table;
  table.name = name;
  table.families = {{.name = "d", .max_versions = max_versions}};
  table.indexes = {{.name = "by_c", .columns = {{.family = "d", .qualifier = "c"}}}};
  return table;
}

ModelOperation Put(const std::string& row, const Columns& columns, const std::string& table = "t",
                   const std::string& family = "d") {
  return {Kind::kPut, table, row, family, columns, {}};
}

ModelOperation Delete(Kind kind, const std::string& row, const std::string& qualifier = {}) {
  ModelOperation operation{kind, "t", row, "d", {}, {}};
  if (!qualifier.empty()) operation.columns = {{qualifier, ""}};
  return operation;
}

/// Builds a workload step by step.
class Script {
 public:
  Script(const std::string& name, uint64_t seed) {
    workload_.name = name;
    workload_.seed = seed;
    workload_.tuning = TinyTuning();
  }
  Script& Create(const TableOptions& table) {
    workload_.tables.push_back(table);
    return Add({.kind = Step::Kind::kCreateTable, .table = table.name});
  }
  Script& Write(Durability durability, std::vector<ModelOperation> batch) {
    return Add({.batch = std::move(batch), .durability = durability});
  }
  Script& InTransaction(Durability durability, std::vector<ModelOperation> batch) {
    return Add({.batch = std::move(batch), .durability = durability, .in_transaction = true});
  }
  Script& Checked(Durability durability, std::vector<ModelOperation> batch) {
    return Add({.batch = std::move(batch), .durability = durability, .in_check = true});
  }
  Script& InBulk(std::vector<ModelOperation> batch) {
    return Add({.batch = std::move(batch), .durability = Durability::kSynced, .in_bulk = true});
  }
  Script& Synced(std::vector<ModelOperation> batch) {
    return Write(Durability::kSynced, std::move(batch));
  }
  Script& Written(std::vector<ModelOperation> batch) {
    return Write(Durability::kWritten, std::move(batch));
  }
  Script& Flush(const std::string& table = "t") {
    return Add({.kind = Step::Kind::kFlush, .table = table});
  }
  Script& Compact() { return Add({.kind = Step::Kind::kCompact, .table = "t"}); }
  Script& Split(const std::string& key = {}) {
    return Add({.kind = Step::Kind::kSplit, .table = "t", .key = key});
  }
  Script& MergeRegions(const std::string& key = {}) {
    return Add({.kind = Step::Kind::kMergeRegions, .table = "t", .key = key});
  }
  Script& Truncate() { return Add({.kind = Step::Kind::kTruncate, .table = "t"}); }
  Script& DropAndCreate(const std::string& table = "t") {
    return Add({.kind = Step::Kind::kDropAndCreate, .table = table});
  }
  Script& ToggleIndex() { return Add({.kind = Step::Kind::kToggleIndex, .table = "t"}); }
  Script& ToggleSnapshot(const std::string& name) {
    return Add({.kind = Step::Kind::kToggleSnapshot, .key = name});
  }
  Script& RenewFamily() { return Add({.kind = Step::Kind::kRenewFamily, .table = "t"}); }
  Script& AlterFamily() { return Add({.kind = Step::Kind::kAlterFamily, .table = "t"}); }
  Script& CopyTable() { return Add({.kind = Step::Kind::kCopyTable, .table = "t"}); }
  Script& RunJob() { return Add({.kind = Step::Kind::kRunJob}); }
  Script& Reopen() { return Add({.kind = Step::Kind::kReopen}); }
  engine::Tuning& tuning() { return workload_.tuning; }
  Script& Unlogged(const std::string& table) {
    workload_.unlogged.push_back(table);
    return *this;
  }
  Workload Done() { return std::move(workload_); }

 private:
  Script& Add(Step step) {
    workload_.steps.push_back(std::move(step));
    return *this;
  }
  Workload workload_;
};

Workload Puts(uint64_t seed) {
  return Script("puts", seed)
      .Create(Table("t"))
      .Written({Put("r1", {{"c", "a"}})})
      .Synced({Put("r2", {{"c", "b"}})})
      .Write(Durability::kBuffered, {Put("r1", {{"c", "c"}})})
      .Written({Put("r3", {{"c", "a"}, {"v", "x"}})})
      .Synced({Put("r1", {{"c", "b"}})})
      .Written({Put("r4", {{"c", "b"}})})
      .Done();
}

Workload BufferedTail(uint64_t seed) {
  Script script("buffered-tail", seed);
  script.Create(Table("t"));
  for (int i = 0; i < 4; ++i) {
    const std::string row = "r" + std::to_string(i);
    script.Write(Durability::kBuffered, {Put(row, {{"c", "a"}, {"v", Repeated('v', 700)}})});
  }
  return script.Synced({Put("s", {{"c", "b"}})})
      .Write(Durability::kBuffered, {Put("r1", {{"c", "z"}}), Put("u", {{"c", "z"}})})
      .Done();
}

Workload Batches(uint64_t seed) {
  TableOptions split = Table("t");
  split.split_keys = {"m"};
  return Script("batches-over-tables-and-regions", seed)
      .Create(split)
      .Create(Table("u"))
      .Written({Put("a", {{"c", "1"}}), Put("z", {{"c", "1"}}), Put("a", {{"c", "1"}}, "u")})
      .Synced({Put("a", {{"c", "2"}}), Put("z", {{"c", "2"}}), Put("b", {{"c", "2"}}, "u")})
      .Written({Put("z", {{"c", "3"}}), Delete(Kind::kDeleteRow, "a"), Put("b", {{"c", "3"}}, "u")})
      .Flush("u")
      .Written({Put("a", {{"c", "4"}}), Put("z", {{"c", "4"}}), Put("c", {{"c", "4"}}, "u")})
      .Done();
}

Workload IndexUpdates(uint64_t seed) {
  TableOptions table = Table("t", 2);
  table.indexes.push_back({.name = "of_small",
                           .columns = {{.family = "d", .qualifier = "c"}},
                           .where = "n::int64 < 5"});
  table.indexes.push_back(
      {.name = "by_n", .columns = {{.family = "d", .qualifier = "n", .type = ColumnType::kInt64}}});
  return Script("index-updates", seed)
      .Create(table)
      .Written({Put("r1", {{"c", "a"}, {"n", "1"}}), Put("r2", {{"c", "a"}, {"n", "2"}})})
      .Flush()
      .Written({Put("r1", {{"c", "b"}})})
      .Synced({Put("r2", {{"n", "-7"}}), Delete(Kind::kDeleteColumn, "r1", "n")})
      .Flush()
      .Written({Put("r1", {{"c", "a"}, {"n", "9"}}), Delete(Kind::kDeleteCell, "r2", "c")})
      .Done();
}

// Values go from row to row over two regions: in one batch, by a delete, and by one that reveals.
Workload UniqueValues(uint64_t seed) {
  TableOptions table = Table("t", 2);
  table.indexes[0].unique = true;
  table.split_keys = {"m"};
  return Script("unique-values", seed)
      .Create(table)
      .Written({Put("a", {{"c", "1"}}), Put("z", {{"c", "2"}})})
      .Synced({Put("a", {{"c", "2"}}), Put("z", {{"c", "1"}})})
      .Flush()
      .Write(Durability::kBuffered, {Delete(Kind::kDeleteRow, "z")})
      .Synced({Put("b", {{"c", "1"}})})
      .Written({Put("b", {{"c", "3"}})})
      .Written({Delete(Kind::kDeleteCell, "b", "c")})
      .InTransaction(Durability::kSynced, {Put("y", {{"c", "3"}})})
      .Done();
}

Workload Deletes(uint64_t seed) {
  return Script("deletes-of-every-kind", seed)
      .Create(Table("t", 3))
      .Written({Put("r1", {{"c", "a"}, {"v", "1"}}), Put("r2", {{"c", "a"}})})
      .Written({Put("r1", {{"c", "b"}}), Put("r3", {{"c", "b"}}), Put("r4", {{"c", "b"}})})
      .Flush()
      .Written({Delete(Kind::kDeleteCell, "r1", "c")})
      .Written({Delete(Kind::kDeleteColumn, "r1", "v")})
      .Synced({Delete(Kind::kDeleteFamily, "r3")})
      .Written({Delete(Kind::kDeleteRow, "r2"), Put("r2", {{"c", "c"}})})
      .Flush()
      .Done();
}

Workload Flushes(uint64_t seed) {
  return Script("flushes", seed)
      .Create(Table("t"))
      .Written({Put("r1", {{"c", "a"}})})
      .Flush()
      .Written({Put("r2", {{"c", "b"}})})
      .Written({Put("r1", {{"c", "b"}})})
      .Flush()
      .Written({Put("r3", {{"c", "c"}})})
      .Done();
}

Workload Compaction(uint64_t seed) {
  return Script("compaction", seed)
      .Create(Table("t", 2))
      .Written({Put("r1", {{"c", "a"}}), Put("r2", {{"c", "a"}})})
      .Flush()
      .Written({Put("r1", {{"c", "b"}}), Delete(Kind::kDeleteRow, "r2")})
      .Compact()
      .Written({Put("r2", {{"c", "c"}})})
      .Done();
}

// Halves with and without files, a merge of one half of a file, and a batch over both.
Workload Splits(uint64_t seed) {
  return Script("splits", seed)
      .Create(Table("t"))
      .Written({Put("r1", {{"c", "a"}}), Put("r2", {{"c", "a"}}), Put("r3", {{"c", "b"}})})
      .Split("r2")
      .Written({Put("r1", {{"c", "b"}}), Delete(Kind::kDeleteRow, "r2")})
      .Split()
      .Compact()
      .Written({Put("r2", {{"c", "c"}}), Put("r3", {{"c", "c"}})})
      .Done();
}

// Tables go with rows in files, in memory and in the log, after batches over both; what was written
// to the other table is durable with the removal.
Workload Removals(uint64_t seed) {
  return Script("removals", seed)
      .Create(Table("t"))
      .Create(Table("u"))
      .Written({Put("r1", {{"c", "a"}}), Put("r1", {{"c", "a"}}, "u")})
      .Flush()
      .Write(Durability::kBuffered, {Put("r2", {{"c", "b"}}), Put("r2", {{"c", "b"}}, "u")})
      .Truncate()
      .Written({Put("r3", {{"c", "a"}}), Put("r1", {{"c", "b"}}, "u")})
      .DropAndCreate()
      .Synced({Put("r3", {{"c", "c"}})})
      .DropAndCreate("u")
      .Written({Put("r4", {{"c", "c"}}), Put("r4", {{"c", "c"}}, "u")})
      .Done();
}

// An index comes over rows in files, in memory and in the log, and goes again; files are rewritten.
Workload Indexes(uint64_t seed) {
  return Script("indexes", seed)
      .Create(Table("t"))
      .Written({Put("r1", {{"c", "a"}}), Put("r2", {{"c", "b"}})})
      .Flush()
      .Write(Durability::kBuffered, {Put("r1", {{"c", "c"}}), Put("r3", {{"c", "a"}})})
      .ToggleIndex()
      .Written({Put("r3", {{"c", "b"}})})
      .RunJob()
      .RunJob()
      .RunJob()
      .Written({Delete(Kind::kDeleteRow, "r2")})
      .ToggleIndex()
      .Synced({Put("r4", {{"c", "c"}})})
      .Flush()
      .ToggleIndex()
      .Compact()
      .Done();
}

// Neighbours that share files, and that share none; batches over both before and after. The regions
// have flushed different operations.
Workload RegionMerges(uint64_t seed) {
  return Script("merges-of-regions", seed)
      .Create(Table("t"))
      .Written({Put("r1", {{"c", "a"}}), Put("r2", {{"c", "a"}}), Put("r3", {{"c", "b"}})})
      .Split("r2")
      .Written({Put("r1", {{"c", "b"}}), Delete(Kind::kDeleteRow, "r2")})
      .MergeRegions("r1")
      .Written({Put("r1", {{"c", "c"}}), Put("r2", {{"c", "c"}}), Put("r3", {{"c", "c"}})})
      .Split("r3")
      .Written({Put("r2", {{"c", "d"}})})
      .Compact()
      .Written({Put("r3", {{"c", "d"}})})
      .MergeRegions()
      .Written({Put("r2", {{"c", "e"}}), Put("r3", {{"c", "e"}})})
      .Done();
}

Workload LogRoll(uint64_t seed) {
  Script script("log-roll", seed);
  script.tuning().memstore_bytes = 8 << 10;
  script.tuning().log_segment_bytes = 1 << 10;
  script.Create(Table("t"));
  for (int i = 0; i < 4; ++i) {
    const Columns columns = {{"c", std::to_string(i)}, {"v", Repeated('v', 600)}};
    const Durability durability = i == 2 ? Durability::kSynced : Durability::kWritten;
    script.Write(durability, {Put("r" + std::to_string(i), columns)});
  }
  return script.Flush().RunJob().RunJob().Written({Put("r1", {{"c", "z"}})}).Done();
}

// A log of many segments, of which some frames are needed and some are not, some in part: each
// recovery writes it into one.
Workload ManySegments(uint64_t seed) {
  Script script("many-former-segments", seed);
  script.tuning().log_segment_bytes = 256;
  script.tuning().memstore_bytes = 4 << 10;
  script.Create(Table("t")).Create(Table("u"));
  for (int i = 0; i < 6; ++i) {
    const Columns columns = {{"c", std::to_string(i)}, {"v", Repeated('v', 300)}};
    const std::string row = "r" + std::to_string(i);
    std::vector<ModelOperation> batch = {Put(row, columns, i % 2 == 0 ? "t" : "u")};
    if (i == 2) batch.push_back(Put(row, {{"c", "b"}}, "u"));
    if (i == 3) batch.push_back(Put(row, {{"c", "b"}}));
    script.Write(i == 4 ? Durability::kSynced : Durability::kWritten, std::move(batch));
    if (i == 3) script.Flush("u");
  }
  return script.Done();
}

// Split keys make the first edit so large that those of a few flushes fill the manifest.
Workload ManifestRoll(uint64_t seed) {
  TableOptions table = Table("t");
  for (char c = 'b'; c < 'j'; ++c) table.split_keys.push_back(Repeated(c, 62'000));
  return Script("manifest-roll", seed)
      .Create(table)
      .Written({Put("r1", {{"c", "a"}})})
      .Flush()
      .Written({Put("c1", {{"c", "b"}})})
      .Done();
}

Workload Creations(uint64_t seed) {
  return Script("table-creation", seed)
      .Create(Table("t"))
      .Written({Put("r1", {{"c", "a"}})})
      .Create(Table("u", 3))
      .Synced({Put("r1", {{"c", "b"}}, "u"), Put("r1", {{"c", "b"}})})
      .Reopen()
      .Create(Table("v"))
      .Written({Put("r2", {{"c", "a"}}, "v")})
      .Done();
}

Workload Reopenings(uint64_t seed) {
  return Script("close-and-reopen", seed)
      .Create(Table("t"))
      .Written({Put("r1", {{"c", "a"}})})
      .Reopen()
      .Written({Put("r1", {{"c", "b"}})})
      .Synced({Put("r2", {{"c", "b"}})})
      .Reopen()
      .Reopen()
      .Written({Put("r3", {{"c", "c"}})})
      .Done();
}

Workload MemoryWrites(uint64_t seed) {
  return Script("memory-writes", seed)
      .Create(Table("t"))
      .Create(Table("q", 2))
      .Unlogged("q")
      .Write(Durability::kMemory, {Put("r1", {{"c", "a"}}, "q")})
      .Written({Put("r1", {{"c", "a"}})})
      .Write(Durability::kMemory, {Put("r1", {{"c", "b"}}, "q"), Put("r2", {{"c", "b"}}, "q")})
      .Flush("q")
      .Synced({Put("r2", {{"c", "b"}})})
      .Write(Durability::kMemory, {Put("r3", {{"c", "c"}}, "q")})
      .Done();
}

Workload MemoryBatches(uint64_t seed) {
  TableOptions split = Table("t", 2);
  split.split_keys = {"m"};
  return Script("memory-batches-over-regions", seed)
      .Create(split)
      .Unlogged("t")
      .Write(Durability::kMemory, {Put("a", {{"c", "1"}}), Put("z", {{"c", "1"}})})
      .Flush()
      .Write(Durability::kMemory, {Put("z", {{"c", "2"}}), Put("a", {{"c", "2"}})})
      .Reopen()
      .Write(Durability::kMemory, {Put("b", {{"c", "3"}}), Delete(Kind::kDeleteCell, "z", "c")})
      .Done();
}

// A batch that was in one region is in two afterwards. No other batch follows: if the split fails,
// the region logs what comes after it, and the first batch may vanish alone.
Workload MemoryBatchesSplit(uint64_t seed) {
  return Script("memory-batches-of-a-split-region", seed)
      .Create(Table("t", 2))
      .Unlogged("t")
      .Write(Durability::kMemory, {Put("a", {{"c", "1"}}), Put("z", {{"c", "1"}})})
      .Split("m")
      .Flush()
      .Done();
}

// The deletion reveals a cell of the first batch, so that the log must not hold it alone.
Workload MemoryBatchesRead(uint64_t seed) {
  ModelOperation older = Put("p", {{"c", "1"}});
  older.timestamp = 10;
  ModelOperation newer = Put("p", {{"c", "2"}});
  newer.timestamp = 20;
  return Script("memory-batches-that-a-deletion-reads", seed)
      .Create(Table("t", 2))
      .Unlogged("t")
      .Write(Durability::kMemory, {older, Put("q", {{"c", "9"}})})
      .Write(Durability::kMemory, {newer})
      .Synced({Delete(Kind::kDeleteCell, "p", "c")})
      .Write(Durability::kMemory, {Put("r", {{"c", "3"}})})
      .Written({Delete(Kind::kDeleteCell, "r", "c"), Put("s", {{"c", "4"}})})
      .Done();
}

// Each result is in the log as it was decided.
Workload Updates(uint64_t seed) {
  const auto add = [](const std::string& row, const std::string& delta) {
    return ModelOperation{Kind::kIncrement, "t", row, "d", {{"n", delta}, {"m", "1"}}, {}};
  };
  const ModelOperation append{Kind::kAppend, "t", "p", "d", {{"c", "x"}}, {}};
  return Script("increments-and-appends", seed)
      .Create(Table("t", 2))
      .Unlogged("t")
      .Synced({add("p", "1"), append})
      .Written({add("p", "2"), add("q", "5")})
      .Flush()
      .Synced({append, add("p", "3"), add("p", "4"), Delete(Kind::kDeleteCell, "p", "n")})
      .Write(Durability::kMemory, {Put("q", {{"n", "9"}}), Put("r", {{"n", "9"}})})
      .Synced({add("q", "1")})
      .Reopen()
      .Written({add("p", "-7"), append})
      .Done();
}

// What is read is unlogged, in a memstore, in a file, and of two tables.
Workload Transactions(uint64_t seed) {
  return Script("transactions", seed)
      .Create(Table("t", 2))
      .Unlogged("t")
      .Write(Durability::kMemory, {Put("p", {{"c", "1"}}), Put("q", {{"c", "1"}})})
      .InTransaction(Durability::kSynced, {Put("p", {{"c", "2"}}), Put("r", {{"c", "2"}})})
      .Flush()
      .InTransaction(Durability::kWritten,
                     {Delete(Kind::kDeleteRow, "q", ""), Put("q", {{"n", "3"}})})
      .Write(Durability::kMemory, {Put("p", {{"c", "3"}})})
      .InTransaction(Durability::kSynced, {Put("p", {{"c", "4"}}), Put("p", {{"c", "5"}})})
      .Reopen()
      .InTransaction(Durability::kBuffered, {Put("p", {{"c", "6"}})})
      .Done();
}

// The row of the condition is unlogged, in a memstore, in a file, absent, and of another table.
Workload CheckedWrites(uint64_t seed) {
  return Script("checked-writes", seed)
      .Create(Table("t", 2))
      .Unlogged("t")
      .Write(Durability::kMemory, {Put("p", {{"c", "1"}}), Put("q", {{"c", "1"}})})
      .Checked(Durability::kSynced, {Put("p", {{"c", "2"}}), Put("r", {{"c", "2"}})})
      .Flush()
      .Checked(Durability::kWritten, {Put("q", {{"n", "3"}}), Delete(Kind::kDeleteCell, "p", "c")})
      .Write(Durability::kMemory, {Put("p", {{"c", "3"}})})
      .Checked(Durability::kSynced, {Put("x", {{"c", "4"}}), Put("p", {{"c", "5"}})})
      .Reopen()
      .Checked(Durability::kBuffered, {Put("p", {{"c", "6"}})})
      .Done();
}

// Over rows in memory, in a file, and of two regions.
Workload BulkLoads(uint64_t seed) {
  return Script("bulk loads", seed)
      .Create(Table("t", 2))
      .InBulk({Put("p", {{"c", "1"}}), Put("q", {{"c", "1"}})})
      .Written({Put("p", {{"c", "2"}}), Put("r", {{"c", "2"}})})
      .Split("q")
      .InBulk({Put("p", {{"c", "3"}}), Put("r", {{"v", Repeated('v', 2500)}})})
      .Write(Durability::kBuffered, {Put("p", {{"c", "4"}})})
      .Flush()
      .Written({Delete(Kind::kDeleteRow, "q", "")})
      .InBulk({Put("q", {{"n", "5"}}), Put("q", {{"c", "5"}})})
      .Compact()
      .Reopen()
      .InBulk({Put("p", {{"c", "6"}})})
      .Done();
}

// The index is built anew after each load, from rows of two regions; and again where a load comes
// before it was built.
Workload GlobalLoads(uint64_t seed) {
  TableOptions table = Table("t", 2);
  table.split_keys = {"q"};
  table.indexes.push_back({.name = "everywhere",
                           .columns = {{.family = "d", .qualifier = "c"}},
                           .placement = IndexPlacement::kGlobal});
  return Script("loads under a global index", seed)
      .Create(table)
      .Written({Put("p", {{"c", "1"}}), Put("q", {{"c", "1"}})})
      .InBulk({Put("p", {{"c", "2"}}), Put("r", {{"c", "2"}})})
      .Written({Put("p", {{"c", "3"}})})
      .RunJob()
      .RunJob()
      .InBulk({Put("q", {{"c", "3"}})})
      .Written({Delete(Kind::kDeleteRow, "r", "")})
      .Reopen()
      .InBulk({Put("p", {{"c", "4"}}), Put("s", {{"n", "4"}})})
      .Done();
}

// Over rows in memory and in files, of two regions.
Workload TableCopies(uint64_t seed) {
  TableOptions split = Table("t", 2);
  split.split_keys = {"q"};
  return Script("table copies", seed)
      .Create(split)
      .Synced({Put("p", {{"c", "1"}}), Put("q", {{"c", "1"}})})
      .Written({Put("p", {{"c", "2"}})})
      .CopyTable()
      .Written({Delete(Kind::kDeleteRow, "q", ""), Put("r", {{"c", "3"}})})
      .Done();
}

// They come over rows in files, in memory and in no log, and outlive merges, a split, a truncation
// and a close; one goes while another still has its files.
Workload NamedSnapshots(uint64_t seed) {
  return Script("named-snapshots", seed)
      .Create(Table("t", 2))
      .Create(Table("q"))
      .Unlogged("q")
      .Written({Put("p", {{"c", "1"}}), Put("r", {{"c", "1"}})})
      .Flush()
      .Write(Durability::kMemory, {Put("p", {{"c", "1"}}, "q")})
      .Write(Durability::kBuffered, {Put("p", {{"c", "2"}})})
      .ToggleSnapshot("x")
      .Written({Put("p", {{"c", "3"}}), Delete(Kind::kDeleteRow, "r", "")})
      .Split("q")
      .ToggleSnapshot("y")
      .Compact()
      .Truncate()
      .Synced({Put("p", {{"c", "4"}})})
      .ToggleSnapshot("x")
      .Reopen()
      .ToggleSnapshot("y")
      .Done();
}

// Its hooks read rows in memory, in files, and of two regions, for blind and for reading batches.
Workload ObservedWrites(uint64_t seed) {
  TableOptions observed = Table("t", 2);
  observed.observers = {test::kSameObserver};
  const ModelOperation add{Kind::kIncrement, "t", "p", "d", {{"n", "2"}}, {}};
  return Script("observed writes", seed)
      .Create(observed)
      .Create(Table("u"))
      .Synced({Put("p", {{"c", "1"}}), Put("q", {{"c", "1"}}), Put("p", {{"c", "1"}}, "u")})
      .Written({add, Put("r", {{"c", "2"}})})
      .Flush()
      .InTransaction(Durability::kSynced, {Put("p", {{"c", "3"}}), Put("s", {{"c", "3"}})})
      .Split("q")
      .Written({add, Delete(Kind::kDeleteRow, "q", "")})
      .Synced({Delete(Kind::kDeleteCell, "p", "c"), add})
      .Reopen()
      .Write(Durability::kBuffered, {Put("q", {{"v", Repeated('v', 2500)}})})
      .Synced({Put("r", {{"c", "4"}}), Put("r", {{"c", "4"}}, "u")})
      .Compact()
      .Done();
}

Workload LargeValues(uint64_t seed) {
  Columns wide;
  for (int i = 0; i < 60; ++i) {
    wide.emplace_back("w" + std::to_string(i), Repeated(static_cast<char>('a' + i % 26), 300));
  }
  return Script("overflow-values-and-wide-rows", seed)
      .Create(Table("t"))
      .Written({Put("r1", {{"c", "a"}, {"v", Repeated('v', 20'000)}})})
      .Synced({Put("r2", {{"c", "b"}}), Put("r2", wide)})
      .Flush()
      .Written({Put("r1", {{"c", "b"}}), Put("r2", {{"w7", Repeated('w', 9000)}})})
      .Flush()
      .Done();
}

Workload Families(uint64_t seed) {
  TableOptions table = Table("t");
  table.families.push_back({.name = "m", .max_versions = 2, .block_size_bytes = 512});
  table.families.push_back({.name = "n", .compression = Compression::kNone});
  table.indexes.push_back({.name = "by_m", .columns = {{.family = "m", .qualifier = "x"}}});
  return Script("several-families", seed)
      .Create(table)
      .Written({Put("r1", {{"c", "a"}}), Put("r1", {{"x", "1"}}, "t", "m"),
                Put("r1", {{"y", "1"}}, "t", "n")})
      .Flush()
      .Written({Put("r1", {{"x", "2"}}, "t", "m"), Delete(Kind::kDeleteFamily, "r1")})
      .Synced({Put("r2", {{"y", "2"}}, "t", "n"), Put("r2", {{"x", "2"}}, "t", "m")})
      .Flush()
      .Done();
}

// A family goes with cells in files, in memory and in the log, and with rows of nothing else; one
// of the same name comes, and goes as well.
Workload FamiliesThatGo(uint64_t seed) {
  TableOptions table = Table("t");
  table.families.push_back({.name = "m", .max_versions = 2, .block_size_bytes = 512});
  const auto in_m = [](const std::string& row, const std::string& value) {
    return Put(row, {{"x", value}}, "t", "m");
  };
  return Script("families-that-go", seed)
      .Create(table)
      .Written({Put("r1", {{"c", "a"}}), in_m("r1", "1"), in_m("r2", "1")})
      .Flush()
      .Write(Durability::kBuffered, {in_m("r1", "2"), in_m("r3", "2")})
      .RenewFamily()
      .Written({Put("r2", {{"c", "b"}}), in_m("r1", "3")})
      .RunJob()
      .Flush()
      .Written({in_m("r3", "4")})
      .RenewFamily()
      .Synced({in_m("r4", "5")})
      .Compact()
      .Done();
}

// Limits of a family go up and down: what was cut stays cut, in files, in memory and in the log.
// Meanwhile a partial index whose WHERE holds of rows that lack a column of the family serves no
// query, and one whose WHERE does not goes on.
Workload RaisedLimits(uint64_t seed) {
  TableOptions table = Table("t");
  table.families.push_back({.name = "m", .max_versions = 1, .block_size_bytes = 512});
  const std::vector<IndexColumn> by_c = {{.family = "d", .qualifier = "c"}};
  table.indexes.push_back({.name = "by_c_without", .columns = by_c, .where = "m:x IS NULL"});
  table.indexes.push_back({.name = "by_c_with", .columns = by_c, .where = "m:x IS NOT NULL"});
  const auto in_m = [](const std::string& row, const std::string& value) {
    return Put(row, {{"x", value}}, "t", "m");
  };
  return Script("raised-limits", seed)
      .Create(table)
      .Written({in_m("r1", "1"), in_m("r2", "1"), Put("r1", {{"c", "a"}})})
      .Flush()
      .Written({in_m("r1", "2"), in_m("r3", "1"), Put("r4", {{"c", "a"}})})
      .Write(Durability::kBuffered, {in_m("r1", "3"), in_m("r2", "2")})
      .AlterFamily()
      .Written({in_m("r1", "4"), Delete(Kind::kDeleteRow, "r2"), in_m("r3", "2")})
      .Flush()
      .RunJob()
      .AlterFamily()
      .Written({in_m("r1", "5"), in_m("r2", "3")})
      .AlterFamily()
      .Synced({in_m("r1", "6"), in_m("r3", "3")})
      .Compact()
      .Written({in_m("r1", "7")})
      .Done();
}

// Memstores that fill up and are flushed by background jobs.
Workload BackgroundFlushes(uint64_t seed) {
  Script script("background-flushes", seed);
  script.tuning().memstore_bytes = 2 << 10;
  script.tuning().compaction_runs = 2;
  script.Create(Table("t"));
  for (int i = 0; i < 3; ++i) {
    const Columns columns = {{"c", std::to_string(i)}, {"v", Repeated('v', 2500)}};
    script.Written({Put("r" + std::to_string(i % 2), columns)}).RunJob();
  }
  return script.RunJob().RunJob().Synced({Put("r1", {{"c", "z"}})}).Done();
}

}  // namespace

std::vector<Workload> FixedWorkloads(uint64_t seed) {
  constexpr Workload (*kMakers[])(uint64_t) = {
      Puts,         BufferedTail,       Batches,      MemoryBatchesRead, Updates,
      Transactions, IndexUpdates,       Deletes,      Flushes,           Compaction,
      LogRoll,      Creations,          Reopenings,   MemoryWrites,      LargeValues,
      Families,     BackgroundFlushes,  ManifestRoll, MemoryBatches,     ManySegments,
      Splits,       MemoryBatchesSplit, RegionMerges, Removals,          FamiliesThatGo,
      Indexes,      BulkLoads,          TableCopies,  NamedSnapshots,    ObservedWrites,
      RaisedLimits, UniqueValues,       GlobalLoads,  CheckedWrites};
  std::vector<Workload> workloads;
  for (const auto make : kMakers) workloads.push_back(make(100 * seed + workloads.size()));
  return workloads;
}

}  // namespace tandem::reliability
