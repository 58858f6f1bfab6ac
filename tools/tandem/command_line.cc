// The grammar of every verb in terms of CLI11. Compiled without optimisation: the library is slow
// to compile and runs once a process.
#include "tools/tandem/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>

#include "base/status_macros.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/suggest.h"

namespace tandem::tools {
namespace {

constexpr const char* kHelp =
    R"(Example: tandem demo
         tandem query shop/ orders "state = 'open' AND total > 1000" --limit 5

Tandem keeps tables of rows and their indexes in one directory.

Usage: tandem VERB [options] PATH [arguments]

Start     demo      import Debian's package list, query it, show what came out
          version   print versions
Make      create    make a table, and the database where there is none
          import    read rows from jsonl, csv or deb822 files
          put       write cells of one row
          delete    delete a row, a family of it, a column or one version
Look      info      tables, regions, files, indexes, memory
          get       print one row
          scan      print rows in key order
          query     print the rows that satisfy a predicate
          explain   tell how a query is answered
          count     count the rows that satisfy a predicate
Files     dump      print what a file of a database holds
          verify    check every byte, and indexes against rows
Care      flush     write memory to files
          compact   merge the files of each region into one

PATH is the directory of a database, for dump and verify also one file of it.
Keys and values are text with \xNN for any byte, 0x and hex digits, base64:..., or
@file for what a file holds. Data goes to stdout, all else to stderr.

Options: -h, --help after any verb; -v, --verbose tells what the engine logs
         --output table|jsonl|csv|tsv|raw for verbs that print data

Exit: 0 done, 1 failure, 2 usage, 3 not found, 4 corrupt, 5 refused, 6 locked,
      7 unknown version, 8 a check found something, 130 interrupted
)";

/// All that any verb can be asked for; the library binds to its members.
struct Arguments {
  DemoOptions demo;
  CreateOptions create;
  ImportOptions import;
  PutOptions put;
  DeleteOptions remove;
  GetOptions get;
  ScanVerbOptions scan;
  QueryVerbOptions query;
  ExplainOptions explain;
  CountOptions count;
  InfoOptions info;
  DumpOptions dump;
  VerifyOptions verify;
  FlushOptions flush;
  CompactOptions compact;
  VersionOptions version;
  std::string output;
  bool verbose = false;
};

/// The library takes "-1" for a very large count.
std::string CheckCount(const std::string& text) {
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  return digits ? "" : "expected a number from 0, found '" + EscapeBytes(text) + "'";
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
  /// A verb: its subcommand, and how its options leave the grammar.
  template <typename Options>
  CLI::App* AddVerb(const char* name, const char* help, Options* options);
  void AddOutput(CLI::App* verb) {
    verb->add_option("--output", arguments_.output,
                     "table (default), jsonl, csv, tsv, or raw: values alone");
  }
  template <typename Options>
  void AddDatabase(CLI::App* verb, Options* options, bool table = true) {
    verb->add_option("DB", options->path, "Directory of the database")->required();
    if constexpr (requires { options->table; }) {
      if (table) verb->add_option("TABLE", options->table, "Table")->required();
    }
  }
  void AddStart();
  void AddMake();
  void AddWrites();
  void AddReads();
  void AddQuery(CLI::App* verb, QueryVerbOptions* options);
  void AddFiles();
  void AddCare();

  Result<CommandLine> Finish(const std::string& verb);
  Status Explain(const CLI::Error& error, const std::vector<std::string>& words) const;
  std::vector<std::string> VerbNames() const;
  std::vector<std::string> OptionNames(const std::string& verb) const;

  CLI::App app_;
  Arguments arguments_;
  std::vector<std::pair<CLI::App*, std::function<VerbOptions()>>> verbs_;
};

template <typename Options>
CLI::App* Grammar::AddVerb(const char* name, const char* help, Options* options) {
  CLI::App* verb = app_.add_subcommand(name, std::string(help) + "\n");
  verb->add_flag("-v,--verbose", arguments_.verbose, "Tell what the engine logs");
  verbs_.emplace_back(verb, [options] { return VerbOptions(*options); });
  return verb;
}

Grammar::Grammar() : app_("", "tandem") {
  app_.add_flag("-v,--verbose", arguments_.verbose, "Tell what the engine logs");
  AddStart();
  AddMake();
  AddWrites();
  AddReads();
  AddFiles();
  AddCare();
}

void Grammar::AddStart() {
  CLI::App* demo =
      AddVerb("demo",
              "Example: tandem demo\n\n"
              "Imports Debian's package list into a database with three indexes, runs six\n"
              "queries, draws the regions and files, and says how to go on.",
              &arguments_.demo);
  demo->add_option("DIR", arguments_.demo.directory,
                   "Where to make the database; default: a fresh directory under /tmp");
  AddVerb("version", "Example: tandem version\n\nPrints the versions of program and format.",
          &arguments_.version);
}

void Grammar::AddMake() {
  CreateOptions& create = arguments_.create;
  CLI::App* verb = AddVerb(
      "create",
      "Example: tandem create shop/ orders --family d,versions=3,ttl=30d \\\n"
      "           --index state=d:state --index total=d:total:int64:desc\n\n"
      "Makes a table, and the database where there is none.\n\n"
      "Types: bytes (default), text, int64, uint64, double, bool, timestamp, and int64_be,\n"
      "uint64_be, double_be, bool_be, timestamp_be for values stored big-endian. In names,\n"
      "':' ',' and '=' are written \\x3a \\x2c and \\x3d.",
      &create);
  AddDatabase(verb, &create);
  verb->add_option("--family", create.families,
                   "NAME[,versions=N][,ttl=7d][,compression=none|zstd][,block-size=8KiB];\n"
                   "default: d")
      ->allow_extra_args(false);
  verb->add_option("--index", create.indexes, "NAME=FAMILY:COLUMN[:TYPE][:desc]; may be repeated")
      ->allow_extra_args(false);

  ImportOptions& import = arguments_.import;
  verb = AddVerb(
      "import",
      "Example: apt-cache dumpavail | tandem import pkg/ packages - --format deb822 \\\n"
      "           --row '{Package}/{Version}'\n\n"
      "Writes each record as a row, a column a field, then merges the table's files. The\n"
      "fields of the row key stay columns. Of equal row keys the last record wins; it is one\n"
      "Put later, so columns that it lacks stay.\n"
      "  deb822  a paragraph a record; continuation lines stay as they are\n"
      "  jsonl   an object a line: strings as their text, numbers and booleans as written,\n"
      "          null is absent, a nested object or array is kept as compact JSON\n"
      "  csv     RFC 4180 with a header row; an empty field without quotes is absent\n"
      "Malformed records are counted and the first ten shown with their line.",
      &import);
  AddDatabase(verb, &import);
  verb->add_option("FILE", import.files, "Files to read; - is standard input")->required();
  verb->add_option("--format", import.format, "deb822, jsonl or csv")->required();
  verb->add_option("--row", import.row,
                   "A field, or a template such as '{Package}/{Version}';\n"
                   "default: the first field of each record");
  verb->add_option("--family", import.family, "Default: the table's first");
  verb->add_flag("--strict", import.strict, "Stop at the first malformed record (exit 2)");
  verb->add_flag("--acknowledge", import.acknowledge,
                 "Print the count of records written after each batch");
  verb->add_option("--batch", import.batch_rows, "Rows written together; default 500")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000}));
  AddOutput(verb);
}

void Grammar::AddWrites() {
  PutOptions& put = arguments_.put;
  CLI::App* verb = AddVerb(
      "put",
      "Example: tandem put shop/ orders 2024-17 d:state=open d:total=1250\n\n"
      "Writes cells of one row, all or none. Row and values are text with \\xNN for any byte,\n"
      "0x and hex digits, base64:..., or @file for what a file holds.",
      &put);
  AddDatabase(verb, &put);
  verb->add_option("ROW", put.row, "Row key")->required();
  verb->add_option("CELL", put.cells, "FAMILY:COLUMN=VALUE, one or more")->required();
  verb->add_option("--timestamp", put.timestamp, "Microseconds since 1970; default: now");

  DeleteOptions& remove = arguments_.remove;
  verb = AddVerb("delete",
                 "Example: tandem delete shop/ orders 2024-17 d:state\n\n"
                 "Deletes a row, a family of it or a column, with all versions.",
                 &remove);
  AddDatabase(verb, &remove);
  verb->add_option("ROW", remove.row, "Row key")->required();
  verb->add_option("COLUMN", remove.column, "FAMILY or FAMILY:COLUMN; default: the row");
  verb->add_option("--timestamp", remove.timestamp,
                   "Only versions up to it (with --one-version: exactly it)");
  verb->add_flag("--one-version", remove.one_version,
                 "One version of the column; the one before shows again");
}

void Grammar::AddReads() {
  GetOptions& get = arguments_.get;
  CLI::App* verb = AddVerb("get",
                           "Example: tandem get shop/ orders 2024-17 --columns d:state,total\n\n"
                           "Prints one row; exit 3 when there is none of that key.",
                           &get);
  AddDatabase(verb, &get);
  verb->add_option("ROW", get.row, "Row key")->required();
  verb->add_option("--columns", get.columns, "[FAMILY:]COLUMN,...; default: all");
  verb->add_option("--versions", get.versions, "Newest versions of each column; default 1");
  AddOutput(verb);

  ScanVerbOptions& scan = arguments_.scan;
  verb = AddVerb("scan",
                 "Example: tandem scan shop/ orders --prefix 2024- --limit 10\n\n"
                 "Prints rows in the order of their keys.",
                 &scan);
  AddDatabase(verb, &scan);
  verb->add_option("--start", scan.start, "First key");
  verb->add_option("--end", scan.end, "Key before which to stop");
  verb->add_option("--prefix", scan.prefix, "Only keys that start with it");
  verb->add_flag("--reverse", scan.reverse, "Largest key first");
  verb->add_option("--limit", scan.limit, "Rows at most; default: all")->check(CheckCount);
  verb->add_option("--columns", scan.columns, "[FAMILY:]COLUMN,...; default: all");
  verb->add_option("--versions", scan.versions, "Newest versions of each column; default 1");
  AddOutput(verb);

  AddQuery(
      AddVerb("query",
              "Example: tandem query shop/ orders \"state = 'open' AND total > 1000\" \\\n"
              "           --select state,total --limit 5\n\n"
              "Prints the rows that satisfy a predicate: = != < <= > >=, BETWEEN, IN, PREFIX,\n"
              "LIKE 'p%', IS NULL, AND, OR, NOT. _row is the row key. Without one: every row.",
              &arguments_.query),
      &arguments_.query);
  AddQuery(
      AddVerb("explain",
              "Example: tandem explain shop/ orders \"state = 'open'\"\n\n"
              "Runs a query and tells how: index, entries, candidate blocks and bytes, rows, and\n"
              "why other indexes were not used.",
              &arguments_.explain),
      &arguments_.explain);
  AddQuery(AddVerb("count",
                   "Example: tandem count shop/ orders \"state = 'open'\"\n\n"
                   "Prints the number of rows that satisfy a predicate.",
                   &arguments_.count),
           &arguments_.count);
}

void Grammar::AddQuery(CLI::App* verb, QueryVerbOptions* options) {
  AddDatabase(verb, options);
  verb->add_option("PREDICATE", options->predicate, "As in SQL's WHERE; default: every row");
  if (options != &arguments_.count) {
    verb->add_option("--order-by", options->order_by, "INDEX or INDEX:desc");
    verb->add_option("--limit", options->limit, "Rows at most; default: all")->check(CheckCount);
  }
  if (options == &arguments_.query) {
    verb->add_option("--select", options->select, "[FAMILY:]COLUMN,...; default: all");
    verb->add_flag("--count", options->count, "Print only how many rows there are");
  }
  CLI::Option* index = verb->add_option("--index", options->index, "Use this index");
  verb->add_flag("--no-index", options->no_index, "Scan and filter")->excludes(index);
  AddOutput(verb);
}

void Grammar::AddFiles() {
  InfoOptions& info = arguments_.info;
  CLI::App* verb = AddVerb("info",
                           "Example: tandem info shop/\n\n"
                           "Prints tables, indexes, regions, files, log and memory.",
                           &info);
  AddDatabase(verb, &info, false);
  AddOutput(verb);

  DumpOptions& dump = arguments_.dump;
  verb = AddVerb(
      "dump",
      "Example: tandem dump shop/store-7 --index state\n\n"
      "Prints what a file holds: a store file, a log segment, a manifest or ROOT. The file\n"
      "needs no database around it.\n"
      "  store file   header, schema, statistics, sections, blocks, cells\n"
      "  log segment  header, frames, operations\n"
      "  manifest     header, frames, edits\n"
      "  ROOT         header, slots",
      &dump);
  verb->add_option("FILE", dump.file, "The file")->required();
  verb->add_option("--index", dump.index,
                   "Print the index's logical keys: region start, index, value, row");
  verb->add_option("--section", dump.section,
                   "Only this part (see above); with --hex also a section's kind");
  verb->add_flag("--hex", dump.hex, "Bytes as hex digits and text");
  AddOutput(verb);

  VerifyOptions& verify = arguments_.verify;
  verb =
      AddVerb("verify",
              "Example: tandem verify shop/ --deep\n\n"
              "Checks every byte of a database or of one file of it against its checksums. Exit 8\n"
              "and a line for each finding when there is damage. Writes nothing.",
              &verify);
  verb->add_option("PATH", verify.path, "Directory of the database, or one file")->required();
  verb->add_flag("--deep", verify.deep,
                 "Also: each index equals its rows, both ways; all ways to read agree");
  AddOutput(verb);
}

void Grammar::AddCare() {
  CLI::App* verb = AddVerb("flush",
                           "Example: tandem flush shop/\n\n"
                           "Writes what is in memory and in the log to store files.",
                           &arguments_.flush);
  AddDatabase(verb, &arguments_.flush, false);
  verb->add_option("TABLE", arguments_.flush.table, "Default: all");
  verb = AddVerb("compact",
                 "Example: tandem compact shop/ orders\n\n"
                 "Merges the files of each region of a table into one.",
                 &arguments_.compact);
  AddDatabase(verb, &arguments_.compact, false);
  verb->add_option("TABLE", arguments_.compact.table, "Default: all");
}

Result<CommandLine> Grammar::Parse(const std::vector<std::string>& words) {
  if (words.empty()) {
    return Status::InvalidArgument(
        "usage: tandem VERB [options] PATH [arguments]; 'tandem --help' lists the verbs, 'tandem "
        "demo' shows them");
  }
  if (words[0] == "-h" || words[0] == "--help") return Help(kHelp);
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
    return Help(kHelp);
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
    ASSIGN_OR_RETURN(const OutputMode mode, ParseOutputMode(arguments_.output));
    arguments_.import.output = arguments_.get.output = arguments_.scan.output = mode;
    arguments_.query.output = arguments_.explain.output = arguments_.count.output = mode;
    arguments_.info.output = arguments_.dump.output = arguments_.verify.output = mode;
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
  if (!is_verb) known = {"--help", "--verbose"};
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
