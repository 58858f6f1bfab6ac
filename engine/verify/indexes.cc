// Each row is read once, and once more if its group of rows has a wrong entry.
#include "engine/verify/indexes.h"

#include "base/quote.h"
#include "base/status_macros.h"
#include "index/entries.h"

namespace tandem::format {
namespace {

/// Entries of an index that are compared one by one where it differs from the rows: some 8 MiB.
constexpr size_t kExpectedMax = 1 << 18;

}  // namespace

Status IndexedRow::Read(const RowStream& rows, const Visit& visit) {
  cells_.clear();
  if (!rows.is_wide()) {
    RETURN_IF_ERROR(rows.Cells(&cells_));
    return visit ? visit(cells_) : Status();
  }
  wide_.Clear();
  ASSIGN_OR_RETURN(const std::unique_ptr<CellStream> stream, rows.Stream());
  while (true) {
    ASSIGN_OR_RETURN(const bool more, stream->Next());
    if (!more) break;
    if (visit) RETURN_IF_ERROR(visit(stream->cells()));
    for (const Cell& cell : stream->cells()) KeepIndexed(table_, cell, &wide_);
  }
  wide_.AppendSorted(&cells_);
  return {};
}

IndexesVerifier::IndexesVerifier(StoreFile* file, const FunctionRegistry* functions,
                                 Findings* findings)
    : file_(*file), table_(file->table()), findings_(*findings) {
  if (functions != nullptr) Resolve(*functions, &table_);
}

Status IndexesVerifier::Open(std::optional<IndexId> only) {
  for (const IndexRecord& index : table_.indexes) {
    if (IsUnusable(index) || (only.has_value() && index.id != *only)) continue;
    const Result<IndexSection*> section = file_.Index(index.id);
    if (!section.has_value()) {
      RETURN_IF_ERROR(findings_.AddError(section.error()));
    } else if (*section == nullptr) {
      without_section_.push_back({.index = &index, .is_right = HasCalls(index)});
    } else {
      indexes_.push_back(
          std::make_unique<IndexVerifier>(index, *section, file_.row_count(), &findings_));
      indexes_.back()->set_topic(
          TopicOf(file_.sections(), SectionKind::kIndexDirectory, index.id.value));
    }
  }
  sums_charge_ = file_.blocks().Charge(base::MemoryPart::kFileWindows,
                                       indexes_.size() * IndexVerifier::kSumsBytesMax);
  return {};
}

Status IndexesVerifier::AddRow(uint32_t ordinal, std::string_view row_key,
                               std::span<const Cell> cells) {
  for (const auto& index : indexes_) RETURN_IF_ERROR(index->AddRow(ordinal, row_key, cells));
  for (auto& [index, is_right] : without_section_) {
    if (is_right) continue;
    RowIndexFacts facts;
    FactsOfRow(*index, row_key, cells, &facts);
    is_right = !facts.complete;
  }
  return {};
}

Status IndexesVerifier::Finish() {
  for (const auto& [index, is_right] : without_section_) {
    if (is_right) continue;
    findings_.AddOn({"index", FindingEffect::kDerived},
                    "index " + base::Quote(index->name) + ": the file has no section of it");
  }
  for (const auto& index : indexes_) {
    RETURN_IF_ERROR(index->Finish());
    if (!index->differing().empty()) RETURN_IF_ERROR(DescribeDifferences(index.get()));
  }
  return {};
}

Status IndexesVerifier::DescribeDifferences(IndexVerifier* index) {
  const base::MemoryCharge charge = file_.blocks().Charge(
      base::MemoryPart::kFileWindows, kExpectedMax * IndexVerifier::kExpectedBytes);
  IndexedRow row(file_.table());
  for (const OrdinalRange& group : index->differing()) {
    if (index->expected() >= kExpectedMax) break;
    RowStream rows(&file_, group.low, group.high);
    while (index->expected() < kExpectedMax) {
      RETURN_IF_ERROR(rows.Next());
      if (!rows.valid()) break;
      RETURN_IF_ERROR(row.Read(rows));
      index->Expect(rows.ordinal(), rows.key(), row.cells());
    }
  }
  index->BlameCalls();
  return index->CompareExpected();
}

Status VerifyIndexes(StoreFile* file, const IndexChecks& checks, Findings* findings) {
  findings->set_sections(file->sections());
  const Status status = [&]() -> Status {
    IndexesVerifier indexes(file, checks.functions, findings);
    RETURN_IF_ERROR(indexes.Open(checks.only));
    RowStream rows(file, 0, file->row_count());
    IndexedRow row(file->table());
    const auto count = [report = findings->report()](std::span<const Cell> cells) {
      report->cells += cells.size();
      return Status();
    };
    while (true) {
      RETURN_IF_ERROR(rows.Next());
      if (!rows.valid()) break;
      ++findings->report()->rows;
      RETURN_IF_ERROR(row.Read(rows, count));
      RETURN_IF_ERROR(indexes.AddRow(rows.ordinal(), rows.key(), row.cells()));
    }
    return indexes.Finish();
  }();
  return status.ok() ? status : findings->AddErrorOn({"rows", FindingEffect::kRows}, status);
}

}  // namespace tandem::format
