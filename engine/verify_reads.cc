// The forward scan is the measure, because it is the plainest way to read.
//
//   1. Rows: the scan is cut into pieces of some thousand rows. Of each piece the rows are
//   remembered
//      as hashes; a reverse scan of the same keys, and one point read a row, must give the same.
//   2. Values: for each index, `column IS NOT NULL` through the index gives exactly the scanned
//   rows
//      that have the column, in key order; ordered by the index it gives the same rows, as the
//      order says, in both directions.
//   3. Some values of each index, met in the scan, are queried one by one and counted.
#include "engine/verify_reads.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "format/coding.h"
#include "format/findings.h"
#include "format/hash.h"
#include "format/index_key.h"

namespace tandem::engine {
namespace {

using format::Findings;
using format::Hash128;
using format::Quoted;

constexpr size_t kPieceRows = 4096;
constexpr size_t kSampledValues = 32;  ///< Of each index.

/// A row as far as two reads of it have to agree.
struct SeenRow {
  std::string key;
  Hash128 hash;
};

Hash128 HashOfRow(const RowView& row, std::string* scratch) {
  scratch->clear();
  format::AppendLengthPrefixed(scratch, row.key());
  for (const Cell& cell : row.cells()) {
    format::AppendLengthPrefixed(scratch, cell.family);
    format::AppendLengthPrefixed(scratch, cell.qualifier);
    format::AppendU64(scratch, static_cast<uint64_t>(cell.timestamp));
    format::AppendLengthPrefixed(scratch, cell.value);
  }
  return format::HashOf128(*scratch);
}

/// An order-independent sum of rows.
struct RowSum {
  uint64_t rows = 0;
  uint64_t low = 0, high = 0;
  void Add(const Hash128& hash) {
    ++rows;
    low += hash.low;
    high += hash.high;
  }
  bool operator==(const RowSum&) const = default;
};

/// An index, and what the scan says about its column.
struct ScannedIndex {
  const format::IndexRecord* record = nullptr;
  std::string family;
  format::IndexColumnRecord column;         ///< Ascending, whatever the index says.
  RowSum rows;                              ///< Rows that have the column.
  std::map<std::string, uint64_t> samples;  ///< Rows by index key, for the values met first.
  const std::string& qualifier() const { return column.qualifier; }
  std::string name() const { return family + ":" + qualifier(); }
};

class ReadsVerifier {
 public:
  ReadsVerifier(const ReadContext& context, const TableView& view, VerifyReport* report)
      : context_(context), view_(view), findings_("table " + Quoted(view.table->name), report) {
    options_.versions = std::numeric_limits<uint32_t>::max();
  }

  Status Run();

 private:
  Status CompareAll();
  Status ScanForward();
  Status ComparePiece();
  Status ComparePointReads();
  Status NoteValues(const RowView& row, const Hash128& hash);
  Status CompareKeyOrder(const ScannedIndex& index);
  Status CompareIndexOrder(const ScannedIndex& index, bool descending);
  Status CompareSamples(const ScannedIndex& index);
  static Result<std::optional<std::string>> IndexKeyOf(const ScannedIndex& index,
                                                       const RowView& row);

  const ReadContext& context_;
  const TableView& view_;
  Findings findings_;
  ReadOptions options_;
  std::vector<ScannedIndex> indexes_;
  std::vector<SeenRow> piece_;
  std::string scratch_;
};

Predicate IsNotNull(const ScannedIndex& index) {
  return Predicate::Compare(Predicate::Kind::kIsNotNull, index.name(), {});
}

/// A read that meets damage is a finding, and ends the comparison.
Status ReadsVerifier::Run() {
  const Status status = CompareAll();
  return status.ok() ? status : findings_.AddError(status);
}

Status ReadsVerifier::CompareAll() {
  for (const format::IndexRecord& record : view_.table->indexes) {
    if (record.state == format::IndexState::kDropping) continue;
    ScannedIndex& index = indexes_.emplace_back();
    index.record = &record;
    index.column = record.columns[0];
    index.column.descending = false;
    for (const format::FamilyRecord& family : view_.table->families) {
      if (family.id == record.columns[0].family) index.family = family.options.name;
    }
  }
  RETURN_IF_ERROR(ScanForward());
  for (const ScannedIndex& index : indexes_) {
    RETURN_IF_ERROR(CompareKeyOrder(index));
    RETURN_IF_ERROR(CompareIndexOrder(index, false));
    RETURN_IF_ERROR(CompareIndexOrder(index, true));
    RETURN_IF_ERROR(CompareSamples(index));
  }
  return Status();
}

Status ReadsVerifier::ScanForward() {
  ASSIGN_OR_RETURN(const auto rows, ScanRows(context_, view_, options_, {}));
  std::string last_key;
  RowView row;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, rows->Next(&row));
    if (!more) break;
    if (row.key() <= last_key) findings_.Add("scanned keys do not rise at " + Quoted(row.key()));
    last_key = row.key();
    const Hash128 hash = HashOfRow(row, &scratch_);
    RETURN_IF_ERROR(NoteValues(row, hash));
    piece_.push_back({last_key, hash});
    if (piece_.size() == kPieceRows) RETURN_IF_ERROR(ComparePiece());
  }
  return ComparePiece();
}

Status ReadsVerifier::NoteValues(const RowView& row, const Hash128& hash) {
  for (ScannedIndex& index : indexes_) {
    ASSIGN_OR_RETURN(const std::optional<std::string> key, IndexKeyOf(index, row));
    if (!key.has_value()) continue;
    index.rows.Add(hash);
    // A value is counted from its first row on or not at all.
    if (index.samples.size() < kSampledValues) index.samples.try_emplace(*key, 0);
    const auto sample = index.samples.find(*key);
    if (sample != index.samples.end()) ++sample->second;
  }
  return Status();
}

/// The row's value as an ascending index would hold it, so that keys compare as values do.
Result<std::optional<std::string>> ReadsVerifier::IndexKeyOf(const ScannedIndex& index,
                                                             const RowView& row) {
  const auto value = row.Find(index.family, index.qualifier());
  if (!value.has_value()) return std::optional<std::string>();
  std::string key;
  RETURN_IF_ERROR(format::AppendIndexKey(index.column, value, &key));
  return std::optional<std::string>(std::move(key));
}

Status ReadsVerifier::ComparePiece() {
  if (piece_.empty()) return Status();
  ScanOptions scan;
  scan.start = piece_.front().key;
  scan.end = piece_.back().key + '\0';
  scan.reverse = true;
  ASSIGN_OR_RETURN(const auto rows, ScanRows(context_, view_, options_, scan));
  RowView row;
  for (auto expected = piece_.rbegin();; ++expected) {
    ASSIGN_OR_RETURN(const bool more, rows->Next(&row));
    const bool ends = expected == piece_.rend();
    if (!more && ends) break;
    if (more && !ends && row.key() == expected->key &&
        HashOfRow(row, &scratch_) == expected->hash) {
      continue;
    }
    findings_.Add("a reverse scan differs from the forward scan: expected " +
                  (ends ? "the end" : "row " + Quoted(expected->key)) + ", found " +
                  (more ? "row " + Quoted(row.key()) : "the end") +
                  (more && !ends && row.key() == expected->key ? " with other cells" : ""));
    break;
  }
  RETURN_IF_ERROR(ComparePointReads());
  piece_.clear();
  return Status();
}

Status ReadsVerifier::ComparePointReads() {
  for (const SeenRow& seen : piece_) {
    ASSIGN_OR_RETURN(const std::optional<Row> row, GetRow(view_, options_, seen.key));
    if (!row.has_value()) {
      findings_.Add("a point read does not find the scanned row " + Quoted(seen.key));
    } else if (row->key() != seen.key || HashOfRow(row->view(), &scratch_) != seen.hash) {
      findings_.Add("a point read finds other cells than the scan in row " + Quoted(seen.key));
    }
  }
  return Status();
}

/// `column IS NOT NULL` through the index against the scan, row by row.
Status ReadsVerifier::CompareKeyOrder(const ScannedIndex& index) {
  QueryOptions query;
  query.use_index = index.record->name;
  ASSIGN_OR_RETURN(const auto hits, QueryRows(context_, view_, options_, IsNotNull(index), query));
  ASSIGN_OR_RETURN(const auto scanned, ScanRows(context_, view_, options_, {}));
  RowView hit, row;
  while (true) {
    bool more = true, has_column = false;
    while (more && !has_column) {
      ASSIGN_OR_RETURN(more, scanned->Next(&row));
      has_column = more && row.Find(index.family, index.qualifier()).has_value();
    }
    ASSIGN_OR_RETURN(const bool is_hit, hits->Next(&hit));
    if (!more && !is_hit) return Status();
    const bool same_key = more && is_hit && row.key() == hit.key();
    if (same_key && HashOfRow(row, &scratch_) == HashOfRow(hit, &scratch_)) continue;
    findings_.Add("index " + Quoted(index.record->name) + " differs from the scan: expected " +
                  (more ? "row " + Quoted(row.key()) : "the end") + ", found " +
                  (is_hit ? "row " + Quoted(hit.key()) : "the end") +
                  (same_key ? " with other cells" : ""));
    return Status();
  }
}

Status ReadsVerifier::CompareIndexOrder(const ScannedIndex& index, bool descending) {
  QueryOptions query;
  query.order_by = index.record->name;
  query.descending = descending;
  ASSIGN_OR_RETURN(const auto hits, QueryRows(context_, view_, options_, {}, query));
  RowSum sum;
  RowView hit;
  std::string previous;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, hits->Next(&hit));
    if (!more) break;
    ASSIGN_OR_RETURN(const std::optional<std::string> key, IndexKeyOf(index, hit));
    if (!key.has_value() || (sum.rows > 0 && (descending ? *key > previous : *key < previous))) {
      findings_.Add("ordered by index " + Quoted(index.record->name) + ", row " +
                    Quoted(hit.key()) + " is out of order");
    }
    previous = key.value_or("");
    sum.Add(HashOfRow(hit, &scratch_));
  }
  if (sum != index.rows) {
    findings_.Add("ordered by index " + Quoted(index.record->name) +
                  (descending ? ", falling" : "") + ": expected the " +
                  std::to_string(index.rows.rows) + " scanned rows with the column, found " +
                  std::to_string(sum.rows) + " rows");
  }
  return Status();
}

Status ReadsVerifier::CompareSamples(const ScannedIndex& index) {
  for (const auto& [key, rows] : index.samples) {
    std::string_view rest = key;
    ASSIGN_OR_RETURN(const std::optional<std::string> value,
                     format::DecodeIndexKey(index.column, &rest));
    QueryOptions query;
    query.use_index = index.record->name;
    const Predicate equal = Predicate::Equal(index.name(), value.value_or(""));
    ASSIGN_OR_RETURN(const uint64_t counted, CountRows(context_, view_, options_, equal, query));
    findings_.Compare("rows of value " + Quoted(value.value_or("")) + " counted by index " +
                          Quoted(index.record->name),
                      rows, counted);
  }
  return Status();
}

}  // namespace

Status VerifyReads(const ReadContext& context, const TableView& view, VerifyReport* report) {
  ReadsVerifier verifier(context, view, report);
  return verifier.Run();
}

}  // namespace tandem::engine
