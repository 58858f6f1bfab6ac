// The grammar of every verb in terms of CLI11. Compiled without optimisation: the library is slow
// to compile and runs once a process.
#include "tools/tandem/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <concepts>
#include <functional>

#include "base/status_macros.h"
#include "tandem/limits.h"
#include "tools/row_keys/generator.h"
#include "tools/tandem/all_options.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/help_text.h"
#include "tools/tandem/suggest.h"

namespace tandem::tools {
namespace {

constexpr const char* kColumnHelp =
    "FAMILY:COLUMN:TYPE, the type that conditions have for the column;\nmay be repeated";

constexpr const char* kRowKeyHelp =
    "The fields of row keys: 'salt(8), user:text, at:timestamp desc'";
constexpr const char* kRowHelp = "Row key, or FIELD=VALUE for each field of it";

/// The library takes "-1" for a very large count, and a larger one for the largest.
std::string CheckCount(const std::string& text) {
  uint64_t number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (error == std::errc::result_out_of_range) {
    return "expected a number up to 18446744073709551615, found '" + EscapeBytes(text) + "'";
  }
  const bool is_number = error == std::errc() && end == last;
  return is_number ? "" : "expected a number from 0, found '" + EscapeBytes(text) + "'";
}

CommandLine Help(std::string text) {
  CommandLine line;
  line.help = std::move(text);
  return line;
}

class Grammar {
 public:
  Grammar();
  Result<CommandLine> Parse(const std::vector<std::string>& words);

 private:
  /// A verb: its subcommand with what nearly all have (--verbose, --output, the database and its
  /// table), and how its options leave the grammar.
  template <typename Options>
  CLI::App* AddVerb(const char* name, Options* options);
  template <typename Options>
  void AddDatabase(CLI::App* verb, Options* options);
  void AddDemo();
  void AddCreate();
  void AddImport();
  void AddWrites();
  void AddReads();
  static void AddGroups(CLI::App* verb, GroupArguments* groups);
  void AddQueries();
  void AddFiles();
  void AddDump();
  void AddMaintenance();
  void AddSchemaEdits();
  void AddStress();
  void AddSequence();
  void AddCopies();
  void AddDesigns();
  void AddEmulate();
  // What several verbs share beyond that.
  void AddKeySource(CLI::App* verb, const char* file, KeySourceArguments* source);
  void AddLimit(CLI::App* verb, uint64_t* limit);
  template <typename Options>
  void TakeOutput(Options* options) const {
    if constexpr (requires { options->output; }) options->output = output_;
  }
  void AddTimestamp(CLI::App* verb, std::optional<int64_t>* timestamp, const char* help);
  void AddRange(CLI::App* verb, RangeArguments* range);
  void AddFields(CLI::App* verb, const char* name, FieldArguments* fields);
  void AddTimes(CLI::App* verb, ReadArguments* read);
  void AddBudget(CLI::App* verb, std::string* budget);
  CLI::Option* AddThreads(CLI::App* verb, ReadArguments* read);
  void AddTokens(CLI::App* verb, PageArguments* page);
  void AddOffset(CLI::App* verb, PageArguments* page);
  CLI::Option* AddColumns(CLI::App* verb, const char* name, ReadArguments* read);
  void AddPredicate(CLI::App* verb, QueryVerbOptions* options);

  Result<CommandLine> Finish(const std::string& verb);
  Status Explain(const CLI::Error& error, const std::vector<std::string>& words) const;
  std::vector<std::string> VerbNames() const;
  std::vector<std::string> OptionNames(const std::string& verb) const;

  CLI::App app_;
  Arguments arguments_;
  OutputMode output_ = OutputMode::kTable;
  std::vector<std::pair<CLI::App*, std::function<VerbOptions()>>> verbs_;
};

template <typename Options>
CLI::App* Grammar::AddVerb(const char* name, Options* options) {
  CLI::App* verb = app_.add_subcommand(name, VerbHelpText(name));
  verb->add_flag("-v,--verbose", arguments_.verbose, "Tell what the engine logs");
  if constexpr (requires { options->output; }) {
    verb->add_option("--output", arguments_.output,
                     "table (default), jsonl, csv, tsv, or raw: values alone");
  }
  AddDatabase(verb, options);
  verbs_.emplace_back(verb, [this, options] {
    TakeOutput(options);
    return VerbOptions(*options);
  });
  return verb;
}

template <typename Options>
void Grammar::AddDatabase(CLI::App* verb, Options* options) {
  if constexpr (std::same_as<Options, IndexVerbOptions>) {
    verb->add_option("ACTION", options->action,
                     "create, drop, build, list, verify, stats or advise")
        ->required();
  }
  if constexpr (std::same_as<Options, SnapshotVerbOptions>) {
    verb->add_option("ACTION", options->action, "create, drop or list")->required();
  }
  if constexpr (std::same_as<Options, SequenceVerbOptions>) {
    verb->add_option("ACTION", options->action, "create, next, drop or list")->required();
  }
  if constexpr (std::same_as<Options, FamilyVerbOptions>) {
    verb->add_option("ACTION", options->action, "add, alter, drop or list")->required();
  }
  if constexpr (std::same_as<Options, VerifyOptions>) {
    verb->add_option("PATH", options->path, "Directory of the database, or one file")->required();
  } else if constexpr (std::same_as<Options, StressOptions>) {
    verb->add_option("DIR", options->path, "Where to work: a directory that is new or empty")
        ->required();
  } else if constexpr (requires { options->path; }) {
    verb->add_option("DB", options->path, "Directory of the database")->required();
  }
  if constexpr (std::same_as<Options, FlushOptions> || std::same_as<Options, CompactOptions> ||
                std::same_as<Options, RegionsVerbOptions> || std::same_as<Options, DuVerbOptions> ||
                std::same_as<Options, IndexVerbOptions>) {
    verb->add_option("TABLE", options->table, "Default: all");
  } else if constexpr (requires { options->table; }) {
    verb->add_option("TABLE", options->table, "Table")->required();
  }
}

// What an option excludes is said when both are given: it would take a line of each option's own.
class ShortFormatter final : public CLI::Formatter {
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string text = CLI::Formatter::make_option_opts(option);
    return text.substr(0, text.find(" Excludes:"));
  }
};

Grammar::Grammar() : app_("", "tandem") {
  app_.formatter(std::make_shared<ShortFormatter>());
  app_.add_flag("-v,--verbose", arguments_.verbose, "Tell what the engine logs");
  AddDemo();
  AddCreate();
  AddImport();
  AddWrites();
  AddReads();
  AddQueries();
  AddFiles();
  AddMaintenance();
  AddSchemaEdits();
  AddSequence();
  AddCopies();
  AddStress();
  AddDesigns();
  AddEmulate();
}

void Grammar::AddLimit(CLI::App* verb, uint64_t* limit) {
  verb->add_option("--limit", *limit, "Rows at most; default: all")->check(CheckCount);
}

void Grammar::AddTimestamp(CLI::App* verb, std::optional<int64_t>* timestamp, const char* help) {
  verb->add_option("--timestamp", *timestamp, help);
}

void Grammar::AddRange(CLI::App* verb, RangeArguments* range) {
  verb->add_option("--start", range->start, "First key");
  verb->add_option("--end", range->end, "Key before which to stop");
  verb->add_option("--prefix", range->prefix, "Only keys that start with it");
}

void Grammar::AddFields(CLI::App* verb, const char* name, FieldArguments* fields) {
  verb->add_option(name, fields->prefix, "FIELD=VALUE of the first fields of a typed row key")
      ->allow_extra_args(name[0] != '-');
  verb->add_option("--from", fields->from,
                   "FIELD=VALUE of the field after them: from this value on")
      ->allow_extra_args(false);
  verb->add_option("--to", fields->to, "FIELD=VALUE of the same: up to this value, without it")
      ->allow_extra_args(false);
}

void Grammar::AddTimes(CLI::App* verb, ReadArguments* read) {
  verb->add_option("--as-of", read->as_of,
                   "Only versions up to this time: microseconds since 1970, or RFC 3339");
  verb->add_option("--since", read->since, "Only versions from this time on");
  verb->add_option("--snapshot", read->snapshot, "As of this named snapshot; see snapshot");
}

void Grammar::AddBudget(CLI::App* verb, std::string* budget) {
  verb->add_option("--budget", *budget, "Stop above rows=N,blocks=N,bytes=64MiB,ms=N,memory=16MiB");
}

CLI::Option* Grammar::AddThreads(CLI::App* verb, ReadArguments* read) {
  return verb->add_option("--threads", read->threads, "Threads that may read; default 1");
}

void Grammar::AddTokens(CLI::App* verb, PageArguments* page) {
  CLI::Option* after = verb->add_option("--after", page->after, "Go on after this token");
  verb->add_option("--before", page->before, "Rows before this token, the nearest first")
      ->excludes(after);
  verb->add_flag("--token", page->token, "Then the token of the last row, on standard error");
}

// Requires: the verb has its limit. The help of a verb fits a screen, so that of some options says
// two.
void Grammar::AddOffset(CLI::App* verb, PageArguments* page) {
  CLI::Option* const limit =
      verb->get_option("--limit")->description("Rows at most, after --offset UINT; default: all");
  CLI::Option* const offset =
      verb->add_option("--offset", page->offset, "Rows to pass over first")->check(CheckCount);
  verb->add_option("--page", page->page,
                   "The page with this number, from 1, of --page-size UINT rows")
      ->check(CheckCount)
      ->excludes(offset)
      ->excludes(limit);
  CLI::Option* const size = verb->add_option("--page-size", page->page_size, "Rows of a page");
  for (CLI::Option* option : {offset, size->check(CheckCount)}) option->group("");
}

CLI::Option* Grammar::AddColumns(CLI::App* verb, const char* name, ReadArguments* read) {
  CLI::Option* const columns = verb->add_option(
      name, read->columns, "[FAMILY:]COLUMN or FAMILY:*, separated by commas; default: all");
  verb->add_option("--versions", read->versions, "Newest versions of each column; default 1");
  return columns;
}

void Grammar::AddDemo() {
  CLI::App* demo = AddVerb("demo", &arguments_.demo);
  demo->add_option("DIR", arguments_.demo.directory,
                   "Where to make the database; default: a fresh directory under /tmp");
  AddVerb("version", &arguments_.version);
}

void Grammar::AddCreate() {
  CreateOptions& create = arguments_.create;
  CLI::App* verb = AddVerb("create", &create);
  verb->add_option("--family", create.families,
                   "NAME[,versions=N][,ttl=7d][,compression=none|zstd]\n"
                   "[,block-size=8KiB]; may be repeated; default: d")
      ->allow_extra_args(false);
  verb->add_option("--index", create.indexes,
                   "NAME=FAMILY:COLUMN[:TYPE][:desc], or as in a predicate:\n"
                   "NAME=city, lower(name), age::int64 DESC; may be repeated")
      ->allow_extra_args(false);
  verb->add_option("--column", create.columns, kColumnHelp)->allow_extra_args(false);
  CLI::Option* keys =
      verb->add_option("--split-keys", create.split_keys,
                       "KEY,...: cut the table into regions there; ',' in a key is \\x2c");
  CLI::Option* splits = verb->add_option("--splits", create.splits,
                                         "Or as split-keys finds them: auto:16, hex:16, ...");
  splits->excludes(keys);
  verb->add_option("--sample", create.sample, "auto: a file with a key a line; - is standard input")
      ->needs(splits);
  verb->add_option("--key", create.key, kRowKeyHelp);
}

void Grammar::AddImport() {
  ImportOptions& import = arguments_.import;
  CLI::App* verb = AddVerb("import", &import);
  verb->add_option("FILE", import.files, "Files to read; - is standard input")->required();
  verb->add_option("--format", import.format, "One of the formats above")->required();
  verb->add_option("--row", import.row,
                   "A field, or a template such as '{Package}/{Version}';\n"
                   "default: the first field of each record");
  verb->add_option("--family", import.family, "Default: the table's first");
  verb->add_flag("--strict", import.strict, "Stop at the first malformed record (exit 2)");
  verb->add_flag("--acknowledge", import.acknowledge,
                 "Print the count of records written after each batch");
  verb->add_flag("--bulk", import.bulk,
                 "All rows or none, past the log; fastest where row keys rise");
  verb->add_flag("--compact", import.compact, "Then merge the table's files, as compact does");
  verb->add_option("--batch", import.batch_rows, "Rows written together; default 500")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000}));
}

void Grammar::AddWrites() {
  PutOptions& put = arguments_.put;
  CLI::App* verb = AddVerb("put", &put);
  verb->add_option("ROW", put.words,
                   "Row key, or FIELD=VALUE for each field of it; then\n"
                   "FAMILY:COLUMN=VALUE, one or more")
      ->required();
  AddTimestamp(verb, &put.timestamp, "Microseconds since 1970; default: now");

  DeleteOptions& remove = arguments_.remove;
  verb = AddVerb("delete", &remove);
  verb->add_option("ROW", remove.words,
                   "Row key, or FIELD=VALUE for each field of it; then\n"
                   "FAMILY or FAMILY:COLUMN; default: the row")
      ->required();
  AddTimestamp(verb, &remove.timestamp, "Only versions up to it (with --one-version: exactly it)");
  verb->add_flag("--one-version", remove.one_version,
                 "One version of the column; the one before shows again");
}

void Grammar::AddReads() {
  GetOptions& get = arguments_.get;
  CLI::App* verb = AddVerb("get", &get);
  verb->add_option("ROW", get.row, kRowHelp)->required();
  AddColumns(verb, "--columns", &get.read);
  AddTimes(verb, &get.read);
  verb->add_option("--history", get.history,
                   "[FAMILY:]COLUMN: its values, each from a time to the next one's");

  ScanVerbOptions& scan = arguments_.scan;
  verb = AddVerb("scan", &scan);
  AddFields(verb, "FIELD", &scan.fields);
  CLI::Option* newest =
      verb->add_option("--newest", scan.fields.newest,
                       "So many rows, the newest first, by the field after FIELD...")
          ->check(CheckCount);
  AddRange(verb, &scan.range);
  newest->excludes(verb->add_flag("--reverse", scan.reverse, "Largest key first"));
  AddLimit(verb, &scan.limit);
  newest->excludes(verb->get_option("--limit"));
  AddOffset(verb, &scan.page);
  newest->excludes(verb->get_option("--page"));
  AddColumns(verb, "--columns", &scan.read);
  AddTimes(verb, &scan.read);
  AddTokens(verb, &scan.page);
  AddBudget(verb, &scan.budget);
  AddThreads(verb, &scan.read)->group("");  // Its text says what it is: a screen is full.
  verb->add_option("--parts", scan.parts, "Print ranges of keys, about equal work each, and no row")
      ->check(CLI::Range(uint32_t{1}, uint32_t{kSplitPartsMax}));
}

void Grammar::AddPredicate(CLI::App* verb, QueryVerbOptions* options) {
  verb->add_option("PREDICATE", options->predicate, "As in SQL's WHERE; default: every row");
  CLI::Option* index =
      verb->add_option("--index", options->index,
                       "Use this index; several, separated by commas: all of them, intersected");
  CLI::Option* no_index =
      verb->add_flag("--no-index", options->no_index, "Scan and filter")->excludes(index);
  verb->add_flag("--no-scan", options->no_scan, "Refuse to scan where no index serves")
      ->excludes(no_index);
  verb->add_flag("--any-version", options->any_version,
                 "Conditions may hold for any version from --since to --as-of");
  AddFields(verb, "--field", &options->fields);
  AddTimes(verb, &options->read);
  AddBudget(verb, &options->budget);
  if (verb->get_name() == "explain") return;  // It always says what one costs.
  verb->add_option("--slow", options->slow.millis,
                   "Log it to --slow-log FILE, or stderr, if it takes more milliseconds")
      ->check(CheckCount);
  verb->add_option("--slow-log", options->slow.log)->group("");
}

void Grammar::AddQueries() {
  CLI::App* query = AddVerb("query", &arguments_.query);
  CLI::App* explain = AddVerb("explain", &arguments_.explain);
  CLI::App* count = AddVerb("count", &arguments_.count);
  AddColumns(query, "--select", &arguments_.query.read)
      ->description("[FAMILY:]COLUMN, FAMILY:* or lower(COLUMN), ...; default: all");
  query->add_flag("--count", arguments_.query.count, "Print only how many rows there are");
  AddTokens(query, &arguments_.query.page);
  const std::pair<CLI::App*, QueryVerbOptions*> ordered[] = {{query, &arguments_.query},
                                                             {explain, &arguments_.explain}};
  AddColumns(explain, "--select", &arguments_.explain.read)->description("As of query");
  for (const auto& [verb, options] : ordered) {
    verb->add_option("--order-by", options->order_by,
                     "INDEX, COLUMN, ... of one, or _row; with :desc falling");
    AddLimit(verb, &options->limit);
    AddOffset(verb, &options->page);
    AddPredicate(verb, options);
    AddThreads(verb, &options->read)->group("");
  }
  AddPredicate(count, &arguments_.count);
  AddThreads(count, &arguments_.count.read);
  AddLimit(count, &arguments_.count.limit);
  AddGroups(count, &arguments_.count.groups);
  AddGroups(explain, &arguments_.explain.groups);
}

void Grammar::AddGroups(CLI::App* verb, GroupArguments* groups) {
  verb->add_option("--by", groups->by,
                   "COLUMN, ...: a line for each group of equal values, in their order; or\n"
                   "COLUMN DESC, ...: the largest first");
  verb->add_option("--present", groups->present, "COLUMN, ...: of each group rows that have it");
  verb->add_option("--min", groups->min, "COLUMN, ...: the smallest value");
  verb->add_option("--max", groups->max, "COLUMN, ...: the largest value");
  verb->add_option("--sum", groups->sum, "COLUMN, ...: the sum of numbers, as total::int64");
  verb->add_option("--average", groups->average, "COLUMN, ...: their average");
}

void Grammar::AddDump() {
  DumpOptions& dump = arguments_.dump;
  CLI::App* verb = AddVerb("dump", &dump);
  verb->add_option("FILE", dump.files, "Files; a database with --find-key")->required();
  verb->add_option("--section", dump.section, "Only this part; with --hex also a section's kind");
  verb->add_option("--records", dump.records, "Only records of this kind, as 'cell'");
  verb->add_option("--index", dump.index,
                   "The logical keys of an index: region start, index, value, row");
  verb->add_option("--key", dump.key, "Only this row");
  AddRange(verb, &dump.range);
  verb->add_option("--family", dump.family, "Only this family; in a log its number");
  verb->add_option("--limit", dump.limit, "Records of a file at most; default: all")
      ->check(CheckCount);
  verb->add_option("--at", dump.at, "The block or frame at this offset, taken apart");
  verb->add_option("--bytes", dump.bytes, "OFFSET+LENGTH: these bytes, as 0x1000+64");
  verb->add_option("--find-key", dump.find_key, "All that files say about this row");
  verb->add_flag("--hex", dump.hex, "Bytes as hex digits and text");
}

void Grammar::AddFiles() {
  AddVerb("info", &arguments_.info);
  AddVerb("regions", &arguments_.regions);
  AddVerb("du", &arguments_.du)
      ->add_flag("--exact", arguments_.du.exact, "Read all rows: which cells are live, which not");
  AddDump();
  ManifestOptions& manifest = arguments_.manifest;
  CLI::App* verb = AddVerb("manifest", &manifest);
  verb->add_option("ACTION", manifest.action, "diff")->required();
  verb->add_option("BEFORE", manifest.before, "A manifest, or a database")->required();
  verb->add_option("AFTER", manifest.after, "Another")->required();

  VerifyOptions& verify = arguments_.verify;
  verb = AddVerb("verify", &verify);
  verb->add_flag("--deep", verify.deep,
                 "Also: each index equals its rows, both ways; all ways to read agree");
}

void Grammar::AddSchemaEdits() {
  AddVerb("drop", &arguments_.drop)->add_flag("--yes", arguments_.drop.yes, "Do not ask");
  AddVerb("truncate", &arguments_.truncate)
      ->add_flag("--yes", arguments_.truncate.yes, "Do not ask");
  CopyTableOptions& copy_table = arguments_.copy_table;
  CLI::App* copied = AddVerb("copy-table", &copy_table);
  copied->add_option("TO", copy_table.to, "The new table")->required();
  copied->add_option("--key", copy_table.key, "Its row keys, as create takes them")->required();
  copied->add_option("--from-key", copy_table.from_key,
                     "What the old keys are made of; default: as the table declares");
  AddVerb("rewrite-keys", &arguments_.rewrite_keys)
      ->add_option("--rate", arguments_.rewrite_keys.rate,
                   "Bytes a second to look at, such as 10MiB; default: no limit");
  AddVerb("rename", &arguments_.rename)
      ->add_option("NAME", arguments_.rename.name, "Its new name")
      ->required();
  CLI::App* alter = AddVerb("alter", &arguments_.alter);
  alter->add_option("--column", arguments_.alter.columns, kColumnHelp)->allow_extra_args(false);
  alter->add_option("--key", arguments_.alter.key, kRowKeyHelp)->allow_extra_args(false);
  CLI::App* family = AddVerb("family", &arguments_.family);
  family->add_option("FAMILY", arguments_.family.family,
                     "add, alter: NAME[,versions=3][,ttl=7d][,compression=none|zstd]\n"
                     "[,block-size=8KiB]; drop: NAME");
  family->add_flag("--yes", arguments_.family.yes, "alter, drop: do not ask");
  CLI::App* observers = AddVerb("observers", &arguments_.observers);
  observers->add_option("NAME", arguments_.observers.names, "The observers to set, in order");
  observers->add_flag("--none", arguments_.observers.none, "Take all off");
  CLI::App* index = AddVerb("index", &arguments_.index);
  index->add_option("INDEX", arguments_.index.index,
                    "create: NAME=FAMILY:COLUMN[:TYPE][:desc], or as in a\n"
                    "predicate: NAME=city, lower(name), age::int64 DESC;\n"
                    "advise: FILE of queries, or -; else: NAME");
  index->add_flag("--global", arguments_.index.global,
                  "create: entries in one place, for rare values in many regions");
  index->add_option("--rate", arguments_.index.rate,
                    "build: read at most so much a second, as 20MiB");
  index->add_option("--rows", arguments_.index.rows,
                    "advise: read about this many rows (default 1000000); 0: all");
  index->add_flag("--cost", arguments_.index.cost, "stats: what the writes of rows cost");
}

void Grammar::AddMaintenance() {
  AddVerb("flush", &arguments_.flush);
  AddVerb("compact", &arguments_.compact)
      ->add_flag("--dry-run", arguments_.compact.dry_run,
                 "Change nothing, print what would be read and written");
  SplitVerbOptions& split = arguments_.split;
  CLI::App* verb = AddVerb("split", &split);
  verb->add_option("--at", split.key, "First key of the right half; default: the middle row");
  verb->add_option("--region", split.region, "Its id, as info shows it; default: the largest");
  verb->add_flag("--dry-run", split.dry_run, "Change nothing, print what the halves would hold");
  MergeRegionsVerbOptions& merge = arguments_.merge_regions;
  verb = AddVerb("merge-regions", &merge);
  verb->add_option("--key", merge.key, "The region that holds it, and the one after it");
  verb->add_option("--region", merge.region,
                   "The left one's id, as info shows it; default: the smallest two neighbours");
  verb->add_flag("--dry-run", merge.dry_run, "Change nothing, print what the regions hold");

  ExportOptions& exported = arguments_.exported;
  verb = AddVerb("export", &exported);
  verb->add_option("--format", exported.format, "jsonl (default), csv or tsv");
  verb->add_option("-o,--file", exported.to, "Write into this file; default: standard output");
  AddRange(verb, &exported.range);
  AddTimes(verb, &exported.read);
  AddThreads(verb, &exported.read);
  CLI::Option* files = verb->add_option("--files", exported.files,
                                        "Write store files into this new directory, for 'attach'");
  for (const char* text :
       {"--format", "--file", "--start", "--end", "--prefix", "--as-of", "--since"}) {
    files->excludes(verb->get_option(text));
  }

  ClockOptions& clock = arguments_.clock;
  AddVerb("clock", &clock)
      ->add_flag("--accept", clock.accept, "The clock of this machine is right: go by it");

  SalvageVerbOptions& salvage = arguments_.salvage;
  verb = AddVerb("salvage", &salvage);
  verb->add_option("DEST", salvage.destination, "Directory of the copy; must not exist")
      ->required();
  verb->add_flag("--include-orphans", salvage.include_orphans,
                 "Also good files that the catalog does not name");
  verb->add_flag("--past-holes", salvage.past_holes, "Also writes in the log behind a hole in it");
}

void Grammar::AddStress() {
  StressOptions& stress = arguments_.stress;
  CLI::App* verb = AddVerb("stress", &stress);
  CLI::Option* kill = verb->add_flag("--kill", stress.kill, "A child process, killed and reopened");
  CLI::Option* crash =
      verb->add_flag("--crash", stress.crash, "Power cuts on a simulated disk")->excludes(kill);
  CLI::Option* faults =
      verb->add_flag("--faults", stress.faults, "Errors and full disks, simulated")
          ->excludes(kill)
          ->excludes(crash);
  verb->add_option("--threads", stress.threads, "1 to 64, default 4; 1: can be replayed")
      ->check(CheckCount)
      ->excludes(crash)
      ->excludes(faults);
  verb->add_option("--duration", stress.duration, "Such as 90s or 10m; default 60s");
  verb->add_option("--operations", stress.operations,
                   "Ends it too, after so many; with --kill: kills")
      ->check(CheckCount);
  verb->add_option("--seed", stress.seed, "Default: chosen and printed")->check(CheckCount);
  verb->add_option("--rows", stress.rows,
                   "Of a table, 4 to 1000000; default 2000, simulated 20 to 250")
      ->check(CheckCount);
  verb->add_flag("--keep-going", stress.keep_going, "Go on with what an earlier run left in DIR");
  verb->add_option("--hang-limit", stress.hang_limit,
                   "Of each operation; default 60s, simulated 10s; 0 is none");
  verb->add_flag("--child", stress.child, "")->group("");

  ReplayOptions& replay = arguments_.replay;
  verb = AddVerb("replay", &replay);
  verb->add_option("FILE", replay.script, "The file 'operations' of a run")->required();
  verb->add_flag("--shrink", replay.shrink,
                 "Write the fewest steps that still fail to FILE.shrunk");
  verb->add_option("--hang-limit", replay.hang_limit, "Of each step; default 10s; 0 is none");
}

void Grammar::AddKeySource(CLI::App* verb, const char* file, KeySourceArguments* source) {
  verb->add_option(file, source->file, "Keys of a file, one a line; - is standard input");
  verb->add_option("--generator", source->generator, "Keys of a design; simulate lists them");
  verb->add_option("--command", source->command, "Keys that a command of the shell prints");
  verb->add_option("--database", source->database, "Keys of a table: its database, and");
  verb->add_option("--table", source->from_table, "its name");
  verb->add_option("--keys", source->keys, "At most; default: all, of a generator 1000000")
      ->check(CLI::Range(uint64_t{1}, row_keys::kGeneratedKeysMax));
  verb->add_option("--seed", source->seed, "Of a generator; default 1")->check(CheckCount);
  verb->add_option("--rate", source->rate, "Keys a second of a generator; default 10000")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000'000}));
}

void Grammar::AddDesigns() {
  SplitKeysOptions& split_keys = arguments_.split_keys;
  CLI::App* verb = AddVerb("split-keys", &split_keys);
  verb->add_option("SPLITS", split_keys.splits, "One of the above")->required();
  AddKeySource(verb, "--sample", &split_keys.sample);
  verb->add_flag("--weighted", split_keys.sample.weighted,
                 "Lines are KEY, a tab and a weight: a whole number");
  verb->add_option("--as", split_keys.form,
                   "records (default), create: for --split-keys of create,\n"
                   "file: HBase's SPLITS_FILE, hbase: SPLITS => [...]")
      ->check(CLI::IsMember({"records", "create", "file", "hbase"}));

  SimulateOptions& simulate = arguments_.simulate;
  verb = AddVerb("simulate", &simulate);
  verb->add_option("--splits", simulate.splits, "As of split-keys: auto:N, hex:N, @FILE, ...")
      ->required();
  verb->add_option("--sample", simulate.sample,
                   "auto: a file with a key a line; default: the keys themselves");
  AddKeySource(verb, "--file", &simulate.source);
  verb->add_option("--window", simulate.window,
                   "Keys, or 10s at --rate; default: a twentieth of a generator's\n"
                   "keys, or 100000");
  verb->add_flag("--regions", simulate.regions, "Also a line for each region");

  LintOptions& lint = arguments_.lint;
  verb = AddVerb("lint", &lint);
  AddKeySource(verb, "--file", &lint.source);
  verb->add_option(
      "--queries", lint.queries,
      "Also what a log of the table's queries says, of --slow-log;\n- is standard input");
}

void Grammar::AddEmulate() {
  EmulateOptions& emulate = arguments_.emulate;
  CLI::App* verb = AddVerb("emulate", &emulate);
  AddKeySource(verb, "--file", &emulate.source);
  verb->add_option("--splits", emulate.splits, "As of split-keys; default: one region");
  verb->add_option("--sample", emulate.sample, "auto: a file with a key a line");
  verb->add_option("--beside", emulate.beside, "Another generator, for comparison");
  verb->add_option("--beside-splits", emulate.beside_splits, "Its split keys");
  verb->add_option("--column", emulate.columns,
                   "NAME=BYTES[:text|digits|random]; default value=100")
      ->allow_extra_args(false);
  verb->add_option("--index", emulate.indexes, "As of create")->allow_extra_args(false);
  verb->add_option("--like", emulate.like, "Rows of a table instead: its database, and");
  verb->add_option("--like-table", emulate.like_table, "its name");
  verb->add_option("--memory", emulate.memory, "Of a database; default 640MiB");
  verb->add_option("--region-bytes-max", emulate.region_bytes_max,
                   "A larger region is split; default 4GiB; 0: never");
  verb->add_option("--memstore", emulate.memstore, "A larger one is flushed; default: memory / 10");
  verb->add_option("--hbase-site", emulate.hbase_site, "Both from an hbase-site.xml instead");
  verb->add_option("--weight", emulate.weight, "Rows of a key; default 1 up to 32 million keys")
      ->check(CheckCount);
  verb->add_option("--hits", emulate.hits, "Of a query; default 100")->check(CheckCount);
  verb->add_option("--html", emulate.html, "Also write a page with plots there");
}

void Grammar::AddSequence() {
  SequenceVerbOptions& sequence = arguments_.sequence;
  CLI::App* verb = AddVerb("sequence", &sequence);
  verb->add_option("NAME", sequence.name, "Of the sequence; list takes none");
  verb->add_option("COUNT", sequence.count, "next: how many ids, in a row; default: 1");
  verb->add_option("--first", sequence.first, "create: the first id; default: 1");
  verb->add_option("--last", sequence.last, "create: the last one; default: 2^63 - 1");
  verb->add_flag("--yes", sequence.yes, "drop: do not ask");
}

void Grammar::AddCopies() {
  SnapshotVerbOptions& snapshot = arguments_.snapshot;
  CLI::App* named = AddVerb("snapshot", &snapshot);
  named->add_option("NAME", snapshot.name, "Of the snapshot; list takes none");
  named->add_option("TABLE", snapshot.tables, "create: only these; default: all");
  named->add_flag("--yes", snapshot.yes, "drop: do not ask");

  CheckpointOptions& checkpoint = arguments_.checkpoint;
  CLI::App* verb = AddVerb("checkpoint", &checkpoint);
  verb->add_option("DEST", checkpoint.destination, "A directory that does not exist")->required();

  BackupOptions& backup = arguments_.backup;
  verb = AddVerb("backup", &backup);
  verb->add_option("BACKUPS", backup.directory, "Directory of backups; made where there is none")
      ->required();
  verb->add_option("--keep", backup.keep, "Then remove all backups but the newest this many")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000}));

  RestoreOptions& restore = arguments_.restore;
  verb = AddVerb("restore", &restore);
  verb->add_option("BACKUPS", restore.directory, "Directory of backups")->required();
  CLI::Option* destination =
      verb->add_option("DEST", restore.destination, "A directory that does not exist");
  CLI::Option* at =
      verb->add_option("--at", restore.number, "Number of the backup; default: newest")
          ->check(CLI::Range(uint64_t{1}, UINT64_MAX));
  CLI::Option* list = verb->add_flag("--list", restore.list, "Only list the backups");
  CLI::Option* verify = verb->add_flag("--verify", restore.verify, "Only check every byte of all");
  for (CLI::Option* only : {list, verify}) only->excludes(destination)->excludes(at);
  list->excludes(verify);

  AttachVerbOptions& attach = arguments_.attach;
  verb = AddVerb("attach", &attach);
  verb->add_option("DIR", attach.directory, "What 'export --files' made")->required();
  verb->add_option("--table", attach.to, "The table that gets the rows")->required();

  RestoreTableVerbOptions& table = arguments_.restore_table;
  verb = AddVerb("restore-table", &table);
  verb->add_option("SOURCE", table.source, "Another database, or a directory of backups")
      ->required();
  verb->add_option("TABLE", table.name, "Its name there")->required();
  verb->add_option("--as", table.as, "Its name here; default: the same");
  verb->add_option("--at,--backup", table.number, "Number of the backup; default: newest")
      ->check(CLI::Range(uint64_t{1}, UINT64_MAX));
}

Result<CommandLine> Grammar::Parse(const std::vector<std::string>& words) {
  if (words.empty()) {
    return Status::InvalidArgument(
        "usage: tandem VERB [options] PATH [arguments]; 'tandem --help' lists the verbs, 'tandem "
        "demo' shows them");
  }
  if (words[0] == "-h" || words[0] == "--help") return Help(ProgramHelp());
  if (words[0] == "--version") return Grammar().Parse({"version"});
  const auto known = VerbNames();
  if (!words[0].starts_with("-") && std::ranges::find(known, words[0]) == known.end()) {
    return Status::InvalidArgument("unknown verb '" + EscapeBytes(words[0]) + "'" +
                                   DidYouMean(words[0], known) + "; see 'tandem --help'");
  }
  try {
    app_.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::CallForHelp&) {
    for (const auto& [verb, options] : verbs_) {
      if (verb->get_name() == words[0]) return Help(verb->help("tandem"));
    }
    return Help(ProgramHelp());
  } catch (const CLI::Error& error) {
    return Explain(error, words);
  }
  return Finish(app_.get_subcommands().empty() ? "" : app_.get_subcommands()[0]->get_name());
}

Result<CommandLine> Grammar::Finish(const std::string& verb) {
  CommandLine line;
  line.verb = verb;
  line.verbose = arguments_.verbose;
  if (!arguments_.output.empty()) {
    ASSIGN_OR_RETURN(output_, ParseOutputMode(arguments_.output));
  }
  for (const auto& [app, options] : verbs_) {
    if (app->get_name() != verb) continue;
    line.options = options();
    return line;
  }
  return Status::InvalidArgument("no verb given; 'tandem --help' lists them");
}

Status Grammar::Explain(const CLI::Error& error, const std::vector<std::string>& words) const {
  std::vector<std::string> known = OptionNames(words[0]);
  const bool is_verb = !known.empty();
  if (!is_verb) known = {"--help", "--verbose", "--version"};
  const std::string next = "; see 'tandem " + (is_verb ? words[0] + " " : "") + "--help'";
  for (const std::string& word : words) {
    if (word == "--") break;
    const std::string name = word.substr(0, word.find('='));
    if (!name.starts_with("--") || std::ranges::find(known, name) != known.end()) continue;
    return Status::InvalidArgument("unknown option '" + EscapeBytes(name) + "'" +
                                   DidYouMean(name, known) + next);
  }
  return Status::InvalidArgument(std::string(error.what()) + next);
}

std::vector<std::string> Grammar::VerbNames() const {
  std::vector<std::string> names;
  for (const auto& [verb, options] : verbs_) names.push_back(verb->get_name());
  return names;
}

std::vector<std::string> Grammar::OptionNames(const std::string& verb) const {
  std::vector<std::string> names;
  for (const auto& [app, options] : verbs_) {
    if (app->get_name() != verb) continue;
    for (const CLI::Option* option : app->get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  }
  return names;
}

}  // namespace

Result<CommandLine> ParseCommandLine(const std::vector<std::string>& arguments) {
  return Grammar().Parse(arguments);
}

}  // namespace tandem::tools
