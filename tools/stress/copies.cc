// See copies.h.
#include "tools/stress/copies.h"

#include <filesystem>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "tools/generator/generator.h"
#include "tools/stress/contents.h"
#include "tools/stress/finding.h"
#include "tools/stress/kept_files.h"
#include "tools/stress/schema.h"
#include "tools/tandem/format_text.h"

namespace tandem::stress {
namespace {

using tools::Format;

/// The table of a thread.
class Copy {
 public:
  Copy(const Stressed& stressed, uint32_t thread)
      : stressed_(stressed),
        database_(*stressed.database),
        state_(stressed.expected->header().copies[thread]),
        name_(Format("copy-{}", thread)),
        path_(Format("{}/export-{}", stressed.directory, thread)) {}

  Status Make(uint64_t seed);
  Status Recover();

 private:
  Status Export(const Snapshot& snapshot);
  Status Empty();
  Status Attach();
  Status Restore();
  Status Compare(const Snapshot& snapshot, const Predicate& predicate);
  Status RecoverExport();
  Result<uint64_t> Content() const;

  /// Does one thing, after which the table holds `next`.
  template <typename Call>
  Status Change(const char* what, uint64_t next, Call&& call) {
    stressed_.Begin(what);
    stressed_.log->Add(Format("{} {}", what, name_));
    return ChangeContent(&state_.table, next,
                         [&] { return In(Format("{}: {}", name_, what), call()); });
  }

  const Stressed& stressed_;
  Database& database_;
  CopyState& state_;
  const std::string name_, path_;
};

Status Copy::Make(uint64_t seed) {
  test::Dice dice(seed);
  stressed_.Begin("snapshot");
  const auto snapshot = database_.TakeSnapshot();
  if (!snapshot.has_value()) return In("snapshot", snapshot.error());
  RETURN_IF_ERROR(Export(*snapshot));
  RETURN_IF_ERROR(dice.Chance(50) ? Attach() : Restore());
  if (dice.Chance(30)) {
    RETURN_IF_ERROR(Change("attach again", state_.exported,
                           [&] { return database_.Attach(name_, path_).status(); }));
  }
  RETURN_IF_ERROR(RemoveTree(path_));
  stressed_.expected->Add(Count::kTableCopies);
  return Compare(*snapshot,
                 test::Generator(&dice, &stressed_.workload->tables()[0]).NewPredicate());
}

Status Copy::Export(const Snapshot& snapshot) {
  RETURN_IF_ERROR(RemoveTree(path_));
  const auto content = ContentOf(stressed_, kNorth, &snapshot);
  if (!content.has_value()) return In("north: scan before its export", content.error());
  state_.exported = *content;
  stressed_.Begin("export");
  return In("north: export",
            database_.ExportFiles(kNorth, path_, {.snapshot = &snapshot}).status());
}

/// With all families that north may have had.
Status Copy::Empty() {
  if (state_.table.now == kNothing) {
    TableOptions options = stressed_.workload->tables()[0].options;
    options.name = name_;
    RETURN_IF_ERROR(
        Change("create", EmptyContent(), [&] { return database_.CreateTable(options); }));
  } else {
    RETURN_IF_ERROR(
        Change("truncate", EmptyContent(), [&] { return database_.TruncateTable(name_); }));
  }
  const Status status = database_.AddFamily(name_, {.name = "extra"});
  return status.code() == StatusCode::kAlreadyExists ? Status() : In(name_, status);
}

Status Copy::Attach() {
  RETURN_IF_ERROR(Empty());
  return Change("attach", state_.exported, [&] { return database_.Attach(name_, path_).status(); });
}

Status Copy::Restore() {
  if (state_.table.now != kNothing) {
    RETURN_IF_ERROR(Change("drop", kNothing, [&] { return database_.DropTable(name_); }));
  }
  return Change("restore", state_.exported,
                [&] { return database_.RestoreTable(path_, kNorth, {.as = name_}).status(); });
}

/// Of the table, which may not exist.
Result<uint64_t> Copy::Content() const {
  const Result<uint64_t> content = ContentOf(stressed_, name_, nullptr);
  if (content.status().code() == StatusCode::kNotFound) return kNothing;
  if (!content.has_value()) return In(name_ + ": scan", content.error());
  return content;
}

Status Copy::Compare(const Snapshot& snapshot, const Predicate& predicate) {
  ASSIGN_OR_RETURN(const uint64_t content, Content());
  if (content != state_.exported) {
    return Mismatch(name_ + ": scan", Format("content {:016x} of north", state_.exported.load()),
                    Format("content {:016x}", content));
  }
  const std::string where = Format("{}: query {}", name_, predicate.ToString());
  ReadOptions then;
  then.snapshot = &snapshot;
  QueryOptions scanned;
  scanned.no_index = true;
  stressed_.Begin("query of a copy");
  const auto expected = ReadAll(database_.Query(then, kNorth, predicate, scanned));
  if (!expected.has_value()) return In(where + " of north", expected.error());
  const auto found = ReadAll(database_.Query({}, name_, predicate));
  if (!found.has_value()) return In(where, found.error());
  return SameRows(where + ", compared with north", *expected, *found);
}

Status Copy::Recover() {
  ASSIGN_OR_RETURN(const uint64_t content, Content());
  RETURN_IF_ERROR(RecoverContent("table " + name_, content, &state_.table));
  return RecoverExport();
}

/// An export that was cut off cannot be attached; one that was not holds what was exported.
Status Copy::RecoverExport() {
  if (!std::filesystem::exists(path_)) return {};
  RETURN_IF_ERROR(Empty());
  state_.table.next = state_.exported.load();
  stressed_.Begin("attach after recovery");
  const Status attached = database_.Attach(name_, path_).status();
  const bool is_refused =
      attached.code() == StatusCode::kInvalidArgument || attached.code() == StatusCode::kNotFound;
  if (!attached.ok() && !is_refused) return In(name_ + ": attach after recovery", attached);
  ASSIGN_OR_RETURN(const uint64_t content, Content());
  const uint64_t expected = attached.ok() ? state_.exported.load() : EmptyContent();
  if (content != expected) {
    return Mismatch(
        Format("{}: after the attach of what the process left: {}", name_, attached.ToString()),
        Format("content {:016x}", expected), Format("content {:016x}", content));
  }
  state_.table.now = content;
  return RemoveTree(path_);
}

}  // namespace

Status CopyNorth(const Stressed& stressed, uint32_t thread, uint64_t seed) {
  return Copy(stressed, thread).Make(seed);
}

Status RecoverCopies(const Stressed& stressed) {
  for (uint32_t thread = 0; thread < kCopies; ++thread) {
    RETURN_IF_ERROR(Copy(stressed, thread).Recover());
  }
  return {};
}

}  // namespace tandem::stress
