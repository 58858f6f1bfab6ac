// demo: imports Debian's package list, asks six questions, draws the result, and says what to do
// next.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/status_macros.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/database_access.h"
#include "tools/tandem/demo_queries.h"
#include "tools/tandem/explanation_output.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/importer.h"
#include "tools/tandem/input_packages.h"
#include "tools/tandem/output.h"
#include "tools/tandem/output_table.h"
#include "tools/tandem/table_picture.h"
#include "tools/tandem/verbs.h"

namespace tandem::tools {
namespace {

struct ShownColumn {
  const char* name;
  size_t width;
};
constexpr ShownColumn kColumnsShown[] = {
    {"Section", 10}, {"Installed-Size", 8}, {"Maintainer", 32}};
constexpr size_t kKeyWidth = 40;

/// A text in a column of that many characters, after a gap.
std::string Padded(std::string_view bytes, size_t width) {
  const std::string text = CutToWidth(EscapeBytes(bytes), width);
  return "  " + text + std::string(width - DisplayWidth(text), ' ');
}

Result<std::string> FreshDirectory() {
  const char* const parent = std::getenv("TMPDIR");
  std::string path = std::string(parent == nullptr ? "/tmp" : parent) + "/tandem-demo-XXXXXX";
  if (mkdtemp(path.data()) != nullptr) return path;
  return Status::IoError(path + ": " + std::strerror(errno));
}

class Demo {
 public:
  Demo(std::string path, const Context& context) : path_(std::move(path)), context_(context) {}
  Status Run();

 private:
  Status Import();
  Status Ask(const DemoQuery& query, size_t number);
  Status ShowRows(const DemoQuery& query, const Predicate& predicate);
  void SayHowToGoOn(const TableInfo& table);
  void Say(const std::string& text) { WriteBytes(context_.out, text); }

  std::string path_;
  const Context& context_;
  std::unique_ptr<Database> database_;
};

Status Demo::Run() {
  ASSIGN_OR_RETURN(database_, OpenForWriting(path_, context_, true));
  RETURN_IF_ERROR(Import());
  Say("\nSix questions\n");
  size_t number = 0;
  for (const DemoQuery& query : DemoQueries()) {
    if (context_.is_interrupted()) return Status::Cancelled("interrupted");
    RETURN_IF_ERROR(Ask(query, ++number));
  }
  ASSIGN_OR_RETURN(const TableInfo table, FindTable(*database_, kDemoTable));
  Say("\nRegions and files: rows and their indexes lie in the same file\n");
  Say(DrawTable(table));
  RETURN_IF_ERROR(database_->Close());
  SayHowToGoOn(table);
  return {};
}

Status Demo::Import() {
  ASSIGN_OR_RETURN(const PackageList packages, PackageList::Open(context_));
  const Status created = database_->CreateTable(DemoTableOptions());
  if (created.code() == StatusCode::kAlreadyExists) {
    return Status::AlreadyExists(
        Format("{}: {}; give another directory", path_, created.message()));
  }
  RETURN_IF_ERROR(created);
  Say(Format("Importing {} into table '{}' with three indexes\n", packages.input()->name(),
             kDemoTable));
  std::fflush(context_.out);
  ImportJob job;
  job.table = kDemoTable;
  job.format = "deb822";
  job.compact = true;
  ASSIGN_OR_RETURN(job.row_key, RowKeyTemplate::Parse(kDemoRow));
  Importer importer(database_.get(), std::move(job), context_);
  RETURN_IF_ERROR(importer.Add(packages.input()));
  const double written = importer.summary().seconds;
  RETURN_IF_ERROR(importer.Finish());
  const ImportSummary summary = importer.summary();
  Say(
      Format("  {} rows, {} cells, {} in {:.2f} s; merged into one file in {:.2f} s; records "
             "refused: {}\n",
             FormatCount(summary.rows()), FormatCount(summary.cells), FormatSize(summary.bytes),
             written, summary.seconds - written, summary.rejected));
  return {};
}

Status Demo::Ask(const DemoQuery& query, size_t number) {
  Predicate predicate;
  if (*query.predicate != '\0') {
    ASSIGN_OR_RETURN(predicate, Predicate::Parse(query.predicate));
  }
  const std::string order = *query.order_by == '\0' ? ""
                                                    : Format("order by {} descending, limit {}",
                                                             query.order_by, query.limit);
  Say(Format("\n{}. {}: {}{}\n", number, query.title, query.predicate, order));
  ASSIGN_OR_RETURN(const Explanation explanation,
                   database_->Explain({}, kDemoTable, predicate, query.options()));
  Say("   plan:  " + ExplanationLine(explanation) + "\n");
  const int64_t begin = context_.clock->MonotonicMicros();
  ASSIGN_OR_RETURN(const uint64_t count,
                   database_->Count({}, kDemoTable, predicate, query.options()));
  const int64_t micros = context_.clock->MonotonicMicros() - begin;
  Say(Format("   count: {} rows in {:.2f} ms\n", FormatCount(count),
             static_cast<double>(micros) / 1000));
  return ShowRows(query, predicate);
}

/// The first rows of an answer, a line each.
Status Demo::ShowRows(const DemoQuery& query, const Predicate& predicate) {
  constexpr uint64_t kRowsShown = 3;
  QueryOptions options = query.options();
  if (options.limit == 0) options.limit = kRowsShown;
  ReadOptions read;
  for (const ShownColumn& column : kColumnsShown) read.columns.push_back({"d", column.name});
  ASSIGN_OR_RETURN(Cursor cursor, database_->Query(read, kDemoTable, predicate, options));
  while (cursor.Next()) {
    std::string line = Padded(cursor.row().key(), kKeyWidth);
    for (const ShownColumn& column : kColumnsShown) {
      line += Padded(cursor.row().Find("d", column.name).value_or("-"), column.width);
    }
    Say("  " + line + "\n");
  }
  return cursor.status();
}

void Demo::SayHowToGoOn(const TableInfo& table) {
  const std::string start = context_.program + " ";
  const std::string where = path_ + " " + std::string(kDemoTable);
  Say("\nGo on with the database in " + path_ + "\n");
  Say("  " + start + "query " + where +
      " \"Section = 'games' AND \\\"Installed-Size\\\" > 500000\" \\\n"
      "    --select Package,Installed-Size\n");
  Say("  " + start + "explain " + where + " \"Section = 'games' OR Section = 'shells'\"\n");
  Say("  " + start + "scan " + where + " --prefix bash/ --columns Version,Depends\n");
  Say("  " + start + "info " + path_ + "\n");
  for (const RegionInfo& region : table.regions) {
    if (region.files.empty()) continue;
    Say("  " + start + Format("dump {}/store-{}", path_, region.files.back().number) +
        " --index section\n");
    break;
  }
  Say("  " + start + "verify " + path_ + " --deep\n");
}

}  // namespace

Result<ExitCode> RunVerb(const DemoOptions& options, const Context& context) {
  std::string path = options.directory;
  if (path.empty()) {
    ASSIGN_OR_RETURN(path, FreshDirectory());
  }
  RETURN_IF_ERROR(Demo(std::move(path), context).Run());
  return ExitCode::kDone;
}

}  // namespace tandem::tools
