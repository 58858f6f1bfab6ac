// See passing.h.
#include "tools/stress/passing.h"

#include <string>

#include "base/status_macros.h"
#include "tools/stress/finding.h"
#include "tools/tandem/format_text.h"

namespace tandem::stress {
namespace {

using tools::Format;

constexpr uint64_t kRows = 12;

std::string FirstName(uint32_t thread) { return Format("passing-{}", thread); }
std::string LastName(uint32_t thread) { return Format("passed-{}", thread); }

/// All rows by the index; kNotFound: there is no such table.
Result<uint64_t> CountIn(const Stressed& stressed, const std::string& table) {
  stressed.Begin("count of a passing table");
  return stressed.database->Count({}, table, Predicate::IsNotNull("c"), {.use_index = "by_c"});
}

Status CheckGone(const Stressed& stressed, const std::string& table) {
  const auto count = CountIn(stressed, table);
  if (count.status().code() == StatusCode::kNotFound) return {};
  if (!count.has_value()) return In("count of " + table, count.error());
  return Mismatch("count of " + table, "no such table", Format("{} rows", *count));
}

Status Fill(const Stressed& stressed, const std::string& table, Durability durability) {
  TableOptions options{.name = table, .families = {{.name = "d"}}};
  options.indexes = {{.name = "by_c", .columns = {{.family = "d", .qualifier = "c"}}}};
  options.split_keys = {"row-06"};
  stressed.Begin("creation of a passing table");
  RETURN_IF_ERROR(In("create " + table, stressed.database->CreateTable(options)));
  WriteBatch batch;
  for (uint64_t row = 0; row < kRows; ++row) {
    batch.Put(table, Format("row-{:02}", row), "d", "c", std::to_string(row));
  }
  stressed.Begin("write to a passing table");
  return In("write " + table, stressed.database->Write({.durability = durability}, batch));
}

Status Drop(const Stressed& stressed, const std::string& table) {
  stressed.Begin("drop of a passing table");
  RETURN_IF_ERROR(In("drop " + table, stressed.database->DropTable(table)));
  return CheckGone(stressed, table);
}

}  // namespace

Status PassTable(const Stressed& stressed, uint32_t thread, Durability durability) {
  const std::string first = FirstName(thread), last = LastName(thread);
  stressed.log->Add(Format("{} create, rename and drop {}", thread, first));
  RETURN_IF_ERROR(Fill(stressed, first, durability));
  stressed.Begin("rename of a passing table");
  RETURN_IF_ERROR(In("rename " + first, stressed.database->RenameTable(first, last)));
  RETURN_IF_ERROR(CheckGone(stressed, first));
  ASSIGN_OR_RETURN(const uint64_t count, CountIn(stressed, last));
  RETURN_IF_ERROR(CheckBetween("rows of " + last + " by index", kRows, kRows, count));
  RETURN_IF_ERROR(Drop(stressed, last));
  stressed.expected->Add(Count::kPassedTables);
  return {};
}

Status RecoverPassing(const Stressed& stressed) {
  for (uint32_t thread = 0; thread < stressed.workload->thread_count(); ++thread) {
    const std::string first = FirstName(thread), last = LastName(thread);
    const auto before = CountIn(stressed, first), after = CountIn(stressed, last);
    for (const auto* count : {&before, &after}) {
      if (count->has_value() || count->status().code() == StatusCode::kNotFound) continue;
      return In("after recovery: count of " + first, count->error());
    }
    if (before.has_value() && after.has_value()) {
      return Mismatch("after recovery", "one of " + first + " and " + last, "both");
    }
    if (before.has_value() && *before != 0) {
      RETURN_IF_ERROR(CheckBetween("after recovery: rows of " + first, kRows, kRows, *before));
    }
    if (after.has_value()) {
      RETURN_IF_ERROR(CheckBetween("after recovery: rows of " + last, kRows, kRows, *after));
    }
    if (before.has_value()) RETURN_IF_ERROR(Drop(stressed, first));
    if (after.has_value()) RETURN_IF_ERROR(Drop(stressed, last));
  }
  return {};
}

}  // namespace tandem::stress
