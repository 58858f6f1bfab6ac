// What a user asked for: one struct a verb, as typed. Names, keys and declarations are still text
// here; declarations.h and bytes_text.h read them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tools/tandem/output.h"

namespace tandem::tools {

struct DemoOptions {
  std::string directory;  ///< Empty: a fresh one.
};

struct CreateOptions {
  std::string path, table;
  std::vector<std::string> families;  ///< Empty: one family, "d".
  std::vector<std::string> indexes;
  std::vector<std::string> columns;
  std::string split_keys;  ///< KEY,...; empty: one region, or
  std::string splits;      ///< how to find them (tools/row_keys/split_spec.h).
  std::string sample;      ///< Of keys, for `splits`: a file, or "-".
  std::string key;         ///< As RowKeySchema::Parse reads it; empty: bytes.
};

/// Where the keys of split-keys, simulate and lint come from: one of the first four.
struct KeySourceArguments {
  std::string file;       ///< A key a line; "-": standard input.
  std::string generator;  ///< As tools/row_keys/generator.h has them.
  std::string command;    ///< For a shell; it prints a key a line.
  std::string database;   ///< With `table`.
  std::string from_table;
  uint64_t keys = 0;  ///< At most; 0: all, of a generator 1,000,000.
  uint64_t seed = 1;
  uint64_t rate = 10'000;  ///< Keys a second of a generator.
  bool weighted = false;   ///< A key, a tab and a weight a line.

  bool is_given() const {
    return !file.empty() || !generator.empty() || !command.empty() || !database.empty();
  }
};

struct SplitKeysOptions {
  std::string splits;
  KeySourceArguments sample;
  std::string form = "records";  ///< records, create, file or hbase.
  OutputMode output = OutputMode::kTable;
};

struct SimulateOptions {
  std::string splits;
  std::string sample;  ///< Of keys, for `splits`: a file; empty: the keys themselves.
  KeySourceArguments source;
  std::string window;    ///< Keys, or time; empty: a twentieth of what a generator makes.
  bool regions = false;  ///< Also a line a region.
  OutputMode output = OutputMode::kTable;
};

struct LintOptions {
  KeySourceArguments source;
  std::string queries;  ///< A log of queries of the table (query_log.h); empty: none.
  OutputMode output = OutputMode::kTable;
};

struct EmulateOptions {
  KeySourceArguments source;
  std::string splits;                ///< Empty: one region.
  std::string sample;                ///< Of keys, for `splits`: a file; empty: the keys themselves.
  std::string beside;                ///< Another generator, with the same rows and sizes; and
  std::string beside_splits;         ///< its split keys.
  std::vector<std::string> columns;  ///< As emulator::ParseColumnShape; empty: one of 100 bytes.
  std::vector<std::string> indexes;
  std::string like, like_table;  ///< Rows like those of a table: its database and name.
  std::string memory, region_bytes_max, memstore;  ///< Sizes; empty: as Options has them.
  std::string hbase_site;                          ///< A file.
  uint64_t weight = 0;                             ///< Rows of a key; 0: as needed.
  uint64_t hits = 100;                             ///< Of the query that is asked about.
  std::string html;                                ///< A file to write; empty: none.
  OutputMode output = OutputMode::kTable;
};

struct ImportOptions {
  std::string path, table;
  std::vector<std::string> files;  ///< "-": standard input.
  std::string format;
  std::string row;     ///< A field or a template; empty: the record's first field.
  std::string family;  ///< Empty: the table's first.
  bool strict = false;
  bool acknowledge = false;
  bool bulk = false;
  bool compact = false;
  uint64_t batch_rows = 500;
  OutputMode output = OutputMode::kTable;
};

struct PutOptions {
  std::string path, table;
  std::vector<std::string> words;  ///< The row key, or FIELD=VALUE...; then FAMILY:COLUMN=VALUE...
  std::optional<int64_t> timestamp;
};

struct DeleteOptions {
  std::string path, table;
  std::vector<std::string>
      words;  ///< The row key, or FIELD=VALUE...; then FAMILY[:COLUMN], or not.
  std::optional<int64_t> timestamp;
  bool one_version = false;
};

/// Which cells of a table: what the verbs that read share.
struct ReadArguments {
  std::string columns;  ///< [FAMILY:]COLUMN or FAMILY:*, ...; empty: all.
  uint32_t versions = 1;
  std::string as_of, since;  ///< Microseconds or RFC 3339; empty: no bound.
  std::string snapshot;      ///< A named one; empty: the present.
  uint32_t threads = 1;      ///< That may read.
};
/// What a read may cost, and where it goes on: what scan and the queries share. 0 and empty: no
/// limit.
struct PageArguments {
  std::string after, before;          ///< Tokens; empty: none.
  bool token = false;                 ///< Print the token of the last row.
  uint64_t offset = 0;                ///< Rows to pass over.
  std::optional<uint64_t> page;       ///< From 1; nullopt: none is asked for.
  std::optional<uint64_t> page_size;  ///< Rows; with `page`.
};
/// Which rows of a table: what scan and export share.
struct RangeArguments {
  std::string start, end, prefix;
};

/// Rows by the fields of a typed row key: what scan and the queries share.
struct FieldArguments {
  std::vector<std::string> prefix;      ///< FIELD=VALUE, of the first fields.
  std::optional<std::string> from, to;  ///< FIELD=VALUE, of the next one.
  std::optional<uint64_t> newest;       ///< Rows; nullopt: all.

  bool empty() const { return prefix.empty() && !from && !to && !newest; }
};

struct GetOptions {
  std::string path, table;
  std::vector<std::string> row;  ///< The row key, or FIELD=VALUE...
  std::string history;           ///< [FAMILY:]COLUMN: its values and their times; empty: the row.
  ReadArguments read;
  OutputMode output = OutputMode::kTable;
};

struct ScanVerbOptions {
  std::string path, table;
  RangeArguments range;
  FieldArguments fields;
  bool reverse = false;
  uint64_t limit = 0;
  std::optional<uint32_t> parts;  ///< Print ranges of keys for so many scans, and no row.
  ReadArguments read;
  std::string budget;  ///< As BudgetOf reads it; empty: none.
  PageArguments page;
  OutputMode output = OutputMode::kTable;
};

struct ExportOptions {
  std::string path, table;
  RangeArguments range;
  ReadArguments read{
      .columns = {}, .versions = UINT32_MAX, .as_of = {}, .since = {}, .snapshot = {}};
  std::string format = "jsonl";
  std::string to = "-";  ///< A file; "-": standard output.
  std::string files;     ///< A directory for store files, instead of text; empty: text.
};

/// What count and explain make of groups of rows: columns as a predicate names them, separated by
/// commas. All empty: rows alone.
struct GroupArguments {
  std::string by;  ///< COLUMN [DESC], ...
  std::string present, min, max, sum, average;

  bool empty() const {
    return by.empty() && present.empty() && min.empty() && max.empty() && sum.empty() &&
           average.empty();
  }
};

/// Which queries are logged as slow.
struct SlowArguments {
  std::optional<uint64_t> millis;  ///< Those that take longer; nullopt: none.
  std::string log;                 ///< A file to append to; empty: standard error.
};

/// Of query, explain and count.
struct QueryVerbOptions {
  std::string path, table;
  std::string predicate;  ///< Empty: every row.
  FieldArguments fields;
  ReadArguments read;
  std::string order_by;  ///< INDEX[:desc]
  uint64_t limit = 0;
  bool count = false;
  std::string index;
  bool no_index = false;
  bool no_scan = false;
  bool any_version = false;
  GroupArguments groups;
  std::string budget;  ///< As BudgetOf reads it; empty: none.
  PageArguments page;
  SlowArguments slow;
  OutputMode output = OutputMode::kTable;
};
struct ExplainOptions : QueryVerbOptions {};
struct CountOptions : QueryVerbOptions {};

struct InfoOptions {
  std::string path;
  OutputMode output = OutputMode::kTable;
};

struct RegionsVerbOptions {
  std::string path;
  std::string table;  ///< Empty: all.
  OutputMode output = OutputMode::kTable;
};

struct DuVerbOptions {
  std::string path;
  std::string table;   ///< Only this one, region by region. Empty: the whole directory.
  bool exact = false;  ///< Read the rows.
  OutputMode output = OutputMode::kTable;
};

struct DumpOptions {
  std::vector<std::string> files;
  std::string file;      ///< The one of `files` that is dumped.
  std::string index;     ///< Print the logical keys of this index.
  std::string section;   ///< Empty: everything.
  std::string records;   ///< Only records of this kind; empty: all.
  std::string key;       ///< Only this row; empty: all.
  RangeArguments range;  ///< Only these rows.
  std::string family;    ///< Only this family; empty: all.
  uint64_t limit = 0;    ///< Records of a file; 0: all.
  std::string at;        ///< The block or frame at this offset.
  std::string bytes;     ///< OFFSET+LENGTH: these bytes.
  std::string find_key;  ///< All that a database says about this row.
  bool hex = false;
  OutputMode output = OutputMode::kTable;
};

struct ManifestOptions {
  std::string action, before, after;
  OutputMode output = OutputMode::kTable;
};

struct VerifyOptions {
  std::string path;
  bool deep = false;
  OutputMode output = OutputMode::kTable;
};

struct FlushOptions {
  std::string path;
  std::string table;  ///< Empty: all.
};
struct CompactOptions {
  std::string path;
  std::string table;  ///< Empty: all.
  bool dry_run = false;
  OutputMode output = OutputMode::kTable;
};

struct MergeRegionsVerbOptions {
  std::string path;
  std::string table;
  std::string key;      ///< In the left region; empty: see `region`.
  uint64_t region = 0;  ///< The left one. 0: the one that holds the key, or the smallest two.
  bool dry_run = false;
  OutputMode output = OutputMode::kTable;
};

struct SplitVerbOptions {
  std::string path;
  std::string table;
  std::string key;      ///< Empty: the middle row.
  uint64_t region = 0;  ///< 0: the one that holds the key, or the largest.
  bool dry_run = false;
  OutputMode output = OutputMode::kTable;
};

struct DropVerbOptions {
  std::string path;
  std::string table;
  bool yes = false;  ///< Do not ask.
};

struct TruncateVerbOptions {
  std::string path;
  std::string table;
  bool yes = false;  ///< Do not ask.
};

struct RenameVerbOptions {
  std::string path;
  std::string table;
  std::string name;
};

struct AlterVerbOptions {
  std::string path;
  std::string table;
  std::vector<std::string> columns;  ///< FAMILY:COLUMN:TYPE.
  std::optional<std::string> key;    ///< As RowKeySchema::Parse reads it; empty: bytes.
};

struct FamilyVerbOptions {
  std::string action;  ///< add, alter, drop or list.
  std::string path;
  std::string table;
  std::string family;  ///< add, alter: NAME[,SETTING...]; drop: its name; list: none.
  bool yes = false;    ///< Do not ask.
  OutputMode output = OutputMode::kTable;
};

struct ObserversVerbOptions {
  std::string path;
  std::string table;
  std::vector<std::string> names;  ///< To set; empty: list them, or
  bool none = false;               ///< take all off.
  OutputMode output = OutputMode::kTable;
};

struct IndexVerbOptions {
  std::string action;  ///< create, drop, build, list, verify, stats or advise.
  std::string path;    ///< Of the database; for verify also of a store file.
  std::string table;   ///< Empty: all, for list, verify and stats. For verify of a file: the index.
  std::string index;   ///< create: its declaration; drop, build, verify, stats: its name;
                       ///< advise: a file of queries, or "-".
  std::string rate;    ///< build: bytes a second; empty: no limit.
  bool global = false;        ///< create: as "global " before the declaration.
  uint64_t rows = 1'000'000;  ///< advise: read about this many rows; 0: all.
  bool cost = false;          ///< stats: what writes of rows cost, in the place of the rest.
  OutputMode output = OutputMode::kTable;
};

struct SnapshotVerbOptions {
  std::string action;  ///< create, drop or list.
  std::string path;
  std::string name;                 ///< create, drop: of the snapshot; list: none.
  std::vector<std::string> tables;  ///< create: empty: all.
  bool yes = false;                 ///< drop: do not ask.
  OutputMode output = OutputMode::kTable;
};

struct SequenceVerbOptions {
  std::string action;  ///< create, next, drop or list.
  std::string path;
  std::string name;         ///< Of the sequence; list: none.
  std::string count;        ///< next: of ids; empty: 1.
  std::string first, last;  ///< create: ids; empty: those of SequenceOptions.
  bool yes = false;         ///< drop: do not ask.
  OutputMode output = OutputMode::kTable;
};

struct CopyTableOptions {
  std::string path, table;
  std::string to;        ///< The new table.
  std::string key;       ///< Of the new table, as RowKeySchema::Parse reads it.
  std::string from_key;  ///< Of the old one; empty: as it declares.
  OutputMode output = OutputMode::kTable;
};

struct RewriteKeysVerbOptions {
  std::string path, table;
  std::string rate;  ///< Bytes a second that are looked at; empty: no limit.
  OutputMode output = OutputMode::kTable;
};

struct ClockOptions {
  std::string path;
  bool accept = false;
  OutputMode output = OutputMode::kTable;
};

struct SalvageVerbOptions {
  std::string path, destination;
  bool include_orphans = false;
  bool past_holes = false;
  OutputMode output = OutputMode::kTable;
};

struct StressOptions {
  std::string path;
  uint32_t threads = 4;
  std::string duration = "60s";
  uint64_t operations = 0;  ///< 0: the time alone ends it.
  std::optional<uint64_t> seed;
  uint64_t rows = 0;  ///< 0: what suits the kind of run.
  bool kill = false, crash = false, faults = false, keep_going = false;
  bool child = false;                     ///< For a process that the verb starts itself.
  std::optional<std::string> hang_limit;  ///< nullopt: what suits the kind of run.
  OutputMode output = OutputMode::kTable;
};

struct ReplayOptions {
  std::string script;
  bool shrink = false;
  std::optional<std::string> hang_limit;
  OutputMode output = OutputMode::kTable;
};

struct CheckpointOptions {
  std::string path, destination;
};
struct BackupOptions {
  std::string path, directory;
  uint64_t keep = 0;  ///< Backups that stay; 0: all.
  OutputMode output = OutputMode::kTable;
};
struct RestoreOptions {
  std::string directory;
  std::string destination;  ///< Empty: none, with list and verify.
  uint64_t number = 0;      ///< 0: the newest.
  bool list = false, verify = false;
  OutputMode output = OutputMode::kTable;
};

struct AttachVerbOptions {
  std::string path, directory;
  std::string to;  ///< The table.
  OutputMode output = OutputMode::kTable;
};
struct RestoreTableVerbOptions {
  std::string path, source;
  std::string name;     ///< Of the table there.
  std::string as;       ///< Its name here; empty: the same.
  uint64_t number = 0;  ///< Of the backup; 0: the newest.
  OutputMode output = OutputMode::kTable;
};

struct VersionOptions {};

using VerbOptions =
    std::variant<DemoOptions, CreateOptions, ImportOptions, PutOptions, DeleteOptions, GetOptions,
                 ScanVerbOptions, ExportOptions, QueryVerbOptions, ExplainOptions, CountOptions,
                 InfoOptions, RegionsVerbOptions, DuVerbOptions, DumpOptions, ManifestOptions,
                 VerifyOptions, FlushOptions, CompactOptions, SplitVerbOptions,
                 MergeRegionsVerbOptions, DropVerbOptions, TruncateVerbOptions, RenameVerbOptions,
                 CopyTableOptions, RewriteKeysVerbOptions, AlterVerbOptions, FamilyVerbOptions,
                 ObserversVerbOptions, IndexVerbOptions, SnapshotVerbOptions, SequenceVerbOptions,
                 ClockOptions, SalvageVerbOptions, CheckpointOptions, BackupOptions, RestoreOptions,
                 AttachVerbOptions, RestoreTableVerbOptions, StressOptions, ReplayOptions,
                 SplitKeysOptions, SimulateOptions, EmulateOptions, LintOptions, VersionOptions>;

}  // namespace tandem::tools
