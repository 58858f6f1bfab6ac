// The forward scan is the reference, because it is the simplest way to read.
//
//   1. Rows: the scan is cut into pieces of some thousand rows. The rows of each piece are kept as
//      hashes; a reverse scan of the same keys, and one point read per row, must give the same.
//   2. Values: for each index, `column IS NOT NULL` through the index gives exactly the scanned
//      rows that have the column, in key order. Ordered by the index, in either direction, the
//      rows come in index order, and those of the first values are the scanned rows of these
//      values. Of a small table these are all values; the rows of a large one lie all over its
//      files in that order, so that each would cost a block.
//   3. Some values of each index, seen in the scan, are queried one by one and counted; of an index
//      over several columns also some values of all of them together. The rest is about its first.
//      Each query scans the files that lack the index. Where these have many rows, one value of
//      each kind is queried, and nothing is read in the index's order, which would sort them.
//
//   4. Of a partial index its predicate, with and without a condition on its first column, is asked
//      for through the index and by a scan.
//
// A condition has the type of the first index over its column, and an index of another type does
// not serve it. So each index is queried through a table in which it is alone on its column.
#include "engine/verify/reads.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/quote.h"
#include "base/status_macros.h"
#include "engine/predicate/bound.h"
#include "engine/query/duplicates.h"
#include "engine/query/partial_index.h"
#include "engine/verify/findings.h"
#include "engine/verify/row_hashes.h"
#include "format/value_text.h"
#include "index/entries.h"
#include "index/key.h"
#include "tandem/limits.h"

namespace tandem::engine {
namespace {

using format::Findings;
using format::Hash128;

constexpr size_t kPieceRows = 4096;
constexpr size_t kSampledValues = 32;  ///< Of each index.
constexpr uint64_t kOrderedRowsMax = 1 << 14;

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

/// The first rows in the order of an index.
struct OrderedRows {
  bool descending = false;
  std::optional<std::string> end = {};  ///< The first value that is not among them; nullopt: none.
  RowSum found = {};                    ///< By the ordered read.
  RowSum scanned = {};                  ///< By the scan.
  bool IsBefore(const std::string& a, const std::string& b) const {
    return descending ? a > b : a < b;
  }
};

/// An index, and what the scan says about its first column.
struct ScannedIndex {
  const format::IndexRecord* record = nullptr;
  std::vector<size_t> columns = {};  ///< All of them, in ReadsVerifier::columns_.
  /// Row counts by the index keys of all columns, for those seen first.
  std::map<std::vector<std::string>, uint64_t> samples_of_all = {};
  /// Many rows lie in files without it, which each query by it scans.
  bool is_scanned = false;
  uint64_t rows = 0;                        ///< That have the column.
  std::map<std::string, uint64_t> samples;  ///< Row counts by index key, for the values seen first.
  OrderedRows ordered[2] = {{.descending = false}, {.descending = true}};
  size_t samples_max() const { return is_scanned ? 1 : kSampledValues; }
};

/// Whether more rows than are read in its order lie in files without a section of the index that
/// can be read.
bool IsScanned(const TableView& view, const format::IndexRecord& index) {
  uint64_t rows = 0;
  for (const auto& region : view.regions) {
    for (const FileSlice& slice : region->files) {
      const Result<format::IndexSection*> section = slice.file->store().Index(index.id);
      if (!section.has_value() || *section == nullptr) rows += slice.high - slice.low;
    }
  }
  return rows > kOrderedRowsMax;
}

/// The rows whose value in `column` has the index key `key`. Infinity has no literal: it is what
/// compares beyond the largest finite number.
Result<Predicate> EqualsKey(const std::string& column, const format::IndexColumnRecord& record,
                            std::string_view key) {
  ASSIGN_OR_RETURN(const std::optional<std::string> value, format::DecodeIndexKey(record, &key));
  const bool is_double = TextType(record.type) == ColumnType::kDouble;
  const std::string last = format::DoubleText(std::numeric_limits<double>::max());
  Predicate predicate = Predicate::Equal(column, value.value_or(""));
  if (is_double && value == "inf") predicate = Predicate::Greater(column, last);
  if (is_double && value == "-inf") predicate = Predicate::Less(column, "-" + last);
  return predicate.WithFunctions(record.functions).As(record.type);
}

class ReadsVerifier {
 public:
  /// `only`: that index, and nothing else; nullptr: everything.
  ReadsVerifier(const ReadResources& resources, const TableView& view,
                const format::IndexRecord* only, VerifyReport* report)
      : resources_(resources),
        view_(view),
        only_(only),
        findings_("table " + base::Quote(view.table->name), report) {
    options_.versions = std::numeric_limits<uint32_t>::max();
    options_.pieces = true;
    findings_.set_topic({"reads", FindingEffect::kAccess});
  }

  Status Run();

 private:
  Status CompareAll();
  Status ScanForward();
  Status ComparePiece();
  Status ComparePointReads();
  void NoteValues(const SeenRow& row);
  Status CompareKeyOrder(size_t which);
  Status ReadInIndexOrder(size_t which, OrderedRows* ordered);
  void CompareOrdered(const ScannedIndex& index);
  Status CompareSamples(size_t which);
  Status CheckUnique(const format::IndexRecord& index);
  Result<RowHashes> Scan(const ScanOptions& scan) const;
  Result<RowHashes> Query(const Predicate& predicate, const QueryOptions& query) const;
  Status CompareInOrder(const format::IndexRecord& index);
  static void NoteValue(const std::string& key, ScannedIndex* index);
  void NoteValuesOfAll(const SeenRow& row, ScannedIndex* index);
  Status CompareSample(const ScannedIndex& index, const Predicate& equal, uint64_t rows);
  SeenColumn SeenOf(const format::IndexColumnRecord& column) const;
  /// By its place in columns_.
  std::string ColumnName(size_t which) const { return NameOf(columns_[which]); }
  static std::string NameOf(const SeenColumn& column) {
    if (column.record.is_of_row_key()) return std::string(format::kRowKeyColumn);
    return column.family + ":" + column.record.qualifier;
  }
  /// Whether its order is read. Rows have none by several values.
  bool HasOrder(size_t which) const {
    return !indexes_[which].is_scanned && !format::IsMultiValued(columns_[which].record);
  }
  Predicate IsNotNull(size_t which) const {
    const format::IndexColumnRecord& column = columns_[which].record;
    return Predicate::IsNotNull(ColumnName(which)).WithFunctions(column.functions).As(column.type);
  }

  const ReadResources& resources_;
  const TableView& view_;
  const format::IndexRecord* const only_;
  Findings findings_;
  ReadOptions options_;
  std::vector<ScannedIndex> indexes_;
  std::vector<SeenColumn> columns_;  ///< Of the indexes; always ascending.
  std::vector<SeenRow> piece_;
};

/// A read that hits damage is a finding, and ends the comparison.
Status ReadsVerifier::Run() {
  const Status status = CompareAll();
  return status.ok() ? status : findings_.AddError(status);
}

Status ReadsVerifier::CompareAll() {
  for (const format::IndexRecord& record : view_.table->indexes) {
    if (record.state == format::IndexState::kDropping || format::IsUnusable(record)) continue;
    if (only_ != nullptr && record.id != only_->id) continue;
    if (record.needs_order()) {
      RETURN_IF_ERROR(CompareInOrder(record));
      continue;
    }
    ScannedIndex& index = indexes_.emplace_back();
    index.record = &record;
    index.is_scanned = IsScanned(view_, record);
    index.columns.push_back(columns_.size());
    columns_.push_back(SeenOf(record.columns[0]));
  }
  for (ScannedIndex& index : indexes_) {
    for (size_t i = 1; i < index.record->columns.size(); ++i) {
      index.columns.push_back(columns_.size());
      columns_.push_back(SeenOf(index.record->columns[i]));
    }
  }
  RETURN_IF_ERROR(ScanForward());
  for (size_t which = 0; which < indexes_.size(); ++which) {
    findings_.set_topic({"index", FindingEffect::kDerived});
    for (OrderedRows& ordered : indexes_[which].ordered) {
      if (!HasOrder(which)) break;
      RETURN_IF_ERROR(ReadInIndexOrder(which, &ordered));
    }
    RETURN_IF_ERROR(CompareKeyOrder(which));
    RETURN_IF_ERROR(CompareSamples(which));
    RETURN_IF_ERROR(CheckUnique(*indexes_[which].record));
  }
  return {};
}

Status ReadsVerifier::CompareInOrder(const format::IndexRecord& index) {
  const bool is_partial = index.where.has_value();
  ASSIGN_OR_RETURN(const Predicate where,
                   is_partial ? Predicate::Parse(index.where->text) : Predicate());
  const SeenColumn column = SeenOf(index.columns[0]);
  const Predicate present = Predicate::IsNotNull(NameOf(column))
                                .WithFunctions(column.record.functions)
                                .As(column.record.type);
  findings_.set_topic({"index", FindingEffect::kDerived});
  std::vector<Predicate> asked = {Predicate::And({where, present})};
  if (is_partial && !HasRowsWithoutCells(index)) asked.push_back(where);
  for (const Predicate& predicate : asked) {
    ASSIGN_OR_RETURN(
        const BoundPredicate bound,
        BoundPredicate::Bind(predicate, *view_.table, {.functions = resources_.functions}));
    if (!CoversRows(*view_.table, index, bound.root())) return {};
    QueryOptions through, scanned;
    through.use_index = index.name;
    scanned.no_index = true;
    ASSIGN_OR_RETURN(RowHashes hits, Query(predicate, through));
    ASSIGN_OR_RETURN(RowHashes rows, Query(predicate, scanned));
    const SeenRow& hit = hits.row();
    const SeenRow& row = rows.row();
    bool is_hit = true, is_row = true;
    while (is_hit && is_row && hit.key == row.key && hit.hash == row.hash) {
      ASSIGN_OR_RETURN(is_hit, hits.Next());
      ASSIGN_OR_RETURN(is_row, rows.Next());
    }
    if (!is_hit && !is_row) continue;
    findings_.Add("index " + base::Quote(index.name) + " differs from the scan for " +
                  base::Quote(predicate.ToString()) + ": expected " +
                  (is_row ? "row " + base::Quote(row.key) : "the end") + ", found " +
                  (is_hit ? "row " + base::Quote(hit.key) : "the end"));
  }
  return {};
}

Status ReadsVerifier::CheckUnique(const format::IndexRecord& index) {
  if (!index.unique || index.state != format::IndexState::kReady) return {};
  ASSIGN_OR_RETURN(const UniqueReport report, FindDuplicates(resources_, view_, index, nullptr));
  findings_.set_topic({"index", FindingEffect::kNothing});
  for (const DuplicateRows& found : report.listed) {
    findings_.Add("unique index " + base::Quote(index.name) + ": rows " + base::Quote(found.row) +
                  " and " + base::Quote(found.other) + " have the value " +
                  base::Quote(found.value));
  }
  return {};
}

SeenColumn ReadsVerifier::SeenOf(const format::IndexColumnRecord& column) const {
  SeenColumn seen{.family = {}, .record = column};
  if (!column.is_of_row_key()) {
    seen.family = view_.table->FindFamily(column.family)->options.name;
  }
  seen.record.descending = false;
  return seen;
}

Result<RowHashes> ReadsVerifier::Scan(const ScanOptions& scan) const {
  ASSIGN_OR_RETURN(std::unique_ptr<RowSource> rows, ScanRows(resources_, view_, options_, scan));
  return RowHashes(std::move(rows), columns_);
}

Result<RowHashes> ReadsVerifier::Query(const Predicate& predicate,
                                       const QueryOptions& query) const {
  ASSIGN_OR_RETURN(std::unique_ptr<RowSource> rows,
                   QueryRows(resources_, view_, options_, predicate, query));
  return RowHashes(std::move(rows), columns_);
}

Status ReadsVerifier::ScanForward() {
  ASSIGN_OR_RETURN(RowHashes rows, Scan({}));
  std::string last_key;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) break;
    const SeenRow& row = rows.row();
    if (row.key <= last_key) findings_.Add("scanned keys do not rise at " + base::Quote(row.key));
    last_key = row.key;
    NoteValues(row);
    if (only_ != nullptr) continue;
    piece_.push_back({row.key, row.hash, row.pieces, {}, {}});
    if (piece_.size() == kPieceRows) RETURN_IF_ERROR(ComparePiece());
  }
  return ComparePiece();
}

void ReadsVerifier::NoteValues(const SeenRow& row) {
  for (size_t which = 0; which < indexes_.size(); ++which) {
    const std::optional<std::string>& key = row.values[which];
    if (!key.has_value()) continue;
    ScannedIndex& index = indexes_[which];
    ++index.rows;
    NoteValue(*key, &index);
    if (index.columns.size() > 1) NoteValuesOfAll(row, &index);
  }
  for (const auto& [column, key] : row.more_values) NoteValue(key, &indexes_[column]);
}

// A value is counted from its first row on or not at all.
void ReadsVerifier::NoteValue(const std::string& key, ScannedIndex* index) {
  if (index->samples.size() < index->samples_max()) index->samples.try_emplace(key, 0);
  const auto sample = index->samples.find(key);
  if (sample != index->samples.end()) ++sample->second;
}

void ReadsVerifier::NoteValuesOfAll(const SeenRow& row, ScannedIndex* index) {
  std::vector<std::string> keys;
  for (const size_t column : index->columns) {
    const std::optional<std::string>& key = row.values[column];
    if (!key.has_value()) return;
    keys.push_back(*key);
  }
  const size_t samples_max = index->samples_max();
  if (index->samples_of_all.size() < samples_max) index->samples_of_all.try_emplace(keys, 0);
  const auto sample = index->samples_of_all.find(keys);
  if (sample != index->samples_of_all.end()) ++sample->second;
}

Status ReadsVerifier::ComparePiece() {
  if (piece_.empty()) return {};
  ScanOptions scan;
  scan.start = piece_.front().key;
  scan.end = piece_.back().key + '\0';
  scan.reverse = true;
  ASSIGN_OR_RETURN(RowHashes rows, Scan(scan));
  const SeenRow& row = rows.row();
  for (auto expected = piece_.rbegin();; ++expected) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    const bool ends = expected == piece_.rend();
    if (!more && ends) break;
    if (more && !ends && row.key == expected->key && row.hash == expected->hash) continue;
    findings_.Add("a reverse scan differs from the forward scan: expected " +
                  (ends ? "the end" : "row " + base::Quote(expected->key)) + ", found " +
                  (more ? "row " + base::Quote(row.key) : "the end") +
                  (more && !ends && row.key == expected->key ? " with other cells" : ""));
    break;
  }
  RETURN_IF_ERROR(ComparePointReads());
  piece_.clear();
  return {};
}

/// Point reads return whole rows: rows that came in pieces are compared by the scans only.
Status ReadsVerifier::ComparePointReads() {
  for (const SeenRow& seen : piece_) {
    if (seen.pieces > 1) continue;
    ASSIGN_OR_RETURN(const std::optional<Row> row,
                     GetRow(view_.RegionOf(seen.key), options_, seen.key));
    if (!row.has_value()) {
      findings_.Add("a point read does not find the scanned row " + base::Quote(seen.key));
    } else if (row->key() != seen.key || HashOfWhole(row->view()) != seen.hash) {
      findings_.Add("a point read finds other cells than the scan in row " + base::Quote(seen.key));
    }
  }
  return {};
}

/// `column IS NOT NULL` through the index against the scan, row by row; and what was read in index
/// order.
Status ReadsVerifier::CompareKeyOrder(size_t which) {
  ScannedIndex& index = indexes_[which];
  const std::string& name = index.record->name;
  QueryOptions query;
  query.use_index = name;
  ASSIGN_OR_RETURN(RowHashes hits, Query(IsNotNull(which), query));
  ASSIGN_OR_RETURN(RowHashes scanned, Scan({}));
  const SeenRow& row = scanned.row();
  const SeenRow& hit = hits.row();
  while (true) {
    bool more = true, has_column = false;
    while (more && !has_column) {
      ASSIGN_OR_RETURN(more, scanned.Next());
      has_column = more && row.values[which].has_value();
    }
    const bool has_entry = more && row.values[which]->size() <= kIndexKeyBytesMax;
    if (has_entry) {
      for (OrderedRows& ordered : index.ordered) {
        const bool is_before = !ordered.end || ordered.IsBefore(*row.values[which], *ordered.end);
        if (is_before) ordered.scanned.Add(row.hash);
      }
    }
    ASSIGN_OR_RETURN(const bool is_hit, hits.Next());
    if (!more && !is_hit) break;
    const bool same_key = more && is_hit && row.key == hit.key;
    if (same_key && row.hash == hit.hash) continue;
    findings_.Add("index " + base::Quote(name) + " differs from the scan: expected " +
                  (more ? "row " + base::Quote(row.key) : "the end") + ", found " +
                  (is_hit ? "row " + base::Quote(hit.key) : "the end") +
                  (same_key ? " with other cells" : ""));
    return {};
  }
  if (HasOrder(which)) CompareOrdered(index);
  return {};
}

Status ReadsVerifier::ReadInIndexOrder(size_t which, OrderedRows* ordered) {
  const ScannedIndex& index = indexes_[which];
  QueryOptions query;
  query.order_by = index.record->name;
  query.descending = ordered->descending;
  const bool is_large = index.rows > kOrderedRowsMax;
  if (is_large) query.limit = kOrderedRowsMax;
  ASSIGN_OR_RETURN(RowHashes hits, Query({}, query));
  const SeenRow& hit = hits.row();
  RowSum sum;
  std::string value;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, hits.Next());
    if (!more) break;
    const std::optional<std::string>& key = hit.values[which];
    if (!key.has_value() || (sum.rows > 0 && ordered->IsBefore(*key, value))) {
      findings_.Add("ordered by index " + base::Quote(index.record->name) + ", row " +
                    base::Quote(hit.key) + " is out of order");
    }
    if (key.has_value() && *key != value) {
      ordered->found = sum;
      value = *key;
    }
    sum.Add(hit.hash);
  }
  if (is_large) {
    ordered->end = value;
  } else {
    ordered->found = sum;
  }
  return {};
}

void ReadsVerifier::CompareOrdered(const ScannedIndex& index) {
  for (const OrderedRows& ordered : index.ordered) {
    if (ordered.found == ordered.scanned) continue;
    findings_.Add("ordered by index " + base::Quote(index.record->name) +
                  (ordered.descending ? ", falling" : "") + ": expected the " +
                  std::to_string(ordered.scanned.rows) + " scanned rows" +
                  (ordered.end ? " with its first values" : " with the column") + ", found " +
                  std::to_string(ordered.found.rows) + " rows");
  }
}

Status ReadsVerifier::CompareSamples(size_t which) {
  const ScannedIndex& index = indexes_[which];
  for (const auto& [key, rows] : index.samples) {
    ASSIGN_OR_RETURN(const Predicate equal,
                     EqualsKey(ColumnName(which), columns_[which].record, key));
    RETURN_IF_ERROR(CompareSample(index, equal, rows));
  }
  for (const auto& [keys, rows] : index.samples_of_all) {
    std::vector<Predicate> conditions;
    for (size_t i = 0; i < keys.size(); ++i) {
      const size_t column = index.columns[i];
      ASSIGN_OR_RETURN(Predicate equal,
                       EqualsKey(ColumnName(column), columns_[column].record, keys[i]));
      conditions.push_back(std::move(equal));
    }
    RETURN_IF_ERROR(CompareSample(index, Predicate::And(std::move(conditions)), rows));
  }
  return {};
}

Status ReadsVerifier::CompareSample(const ScannedIndex& index, const Predicate& equal,
                                    uint64_t rows) {
  QueryOptions query;
  query.use_index = index.record->name;
  ASSIGN_OR_RETURN(const uint64_t counted, CountRows(resources_, view_, options_, equal, query));
  findings_.Compare("rows that index " + base::Quote(index.record->name) + " counts of " +
                        base::Quote(equal.ToString()),
                    rows, counted);
  return {};
}

}  // namespace

Status VerifyReads(const ReadResources& resources, const TableView& view, VerifyReport* report) {
  return ReadsVerifier(resources, view, nullptr, report).Run();
}

Status VerifyReadsBy(const ReadResources& resources, const TableView& view,
                     const format::IndexRecord& index, VerifyReport* report) {
  return ReadsVerifier(resources, view, &index, report).Run();
}

}  // namespace tandem::engine
