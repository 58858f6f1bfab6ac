// Merged files against a naive merge: all rows of the inputs in a map, retention asked row by row,
// and a file written from scratch. Both files must be the same to the byte, index sections and
// digests included, whatever was copied through ordinal maps.
#include "compaction/merge.h"

#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <random>
#include <set>
#include <string>

#include "engine/verify/blocks.h"
#include "engine/verify/rows.h"
#include "format/cell/overflow_value.h"
#include "format/cell/visibility.h"
#include "format/hash.h"
#include "format/row/row_block_writer.h"
#include "format/row/wide_row_writer.h"
#include "store_file/scanner.h"
#include "test/compaction/merge_bench.h"
#include "test/support/print.h"

namespace tandem::compaction {
namespace {

/// The keys of rows that are wide in a file of these rows.
std::set<std::string> WideKeys(const Rows& rows) {
  std::set<std::string> keys;
  for (const auto& [key, cells] : rows) {
    size_t width = 0;
    for (const OwnedCell& cell : cells) width += format::WidthOf(cell.view());
    if (width > format::kWideRowBytes) keys.insert(key);
  }
  return keys;
}

bool IsOfOneSequence(const std::vector<Cell>& cells) {
  return std::ranges::all_of(
      cells, [&](const Cell& cell) { return cell.sequence == cells.front().sequence; });
}

/// What the merge of `rows` has to hold, written from scratch; empty when no row survives. Rows of
/// `wide_keys` are wide in some input.
std::string NaiveMerge(Bench* bench, const Rows& rows, const std::set<std::string>& wide_keys,
                       const MergeOptions& options,
                       std::pair<SequenceNumber, SequenceNumber> bounds) {
  const size_t block_bytes = bench->table()->families[0].options.block_size_bytes;
  auto writer = bench->NewWriter("naive", bench->table().get());
  for (const auto& [key, owned] : rows) {
    const std::vector<Cell> cells = Views(owned);
    format::Retention retention{bench->table()->families, options.snapshots, options.now_micros};
    if (options.older_may_contain != nullptr) {
      retention.older_sources_may_hold_row =
          *options.older_may_contain(format::RowHash(key, bench->table()->hash_secret));
    }
    std::vector<Cell> retained;
    format::RetainCells(cells, retention, &retained);
    const bool is_block = !wide_keys.contains(key) && IsOfOneSequence(retained) &&
                          format::RowBlockWriter::FillsBlock(key, retained, block_bytes);
    if (options.older_may_contain == nullptr && options.snapshots.empty() && !is_block) {
      for (Cell& cell : retained) cell.sequence = SequenceNumber(0);
    }
    if (!retained.empty()) BOOST_REQUIRE(writer->AddRow(key, retained).has_value());
  }
  if (writer->row_count() == 0) return "";
  writer->WidenSequences(bounds.first, bounds.second);
  BOOST_REQUIRE(writer->Finish().has_value());
  return bench->Content("naive");
}

bool HidesPut(const OwnedCell& marker, const OwnedCell& put) {
  if (marker.kind == CellKind::kPut || marker.sequence <= put.sequence) return false;
  if (marker.kind == CellKind::kDeleteFamily) return put.timestamp <= marker.timestamp;
  if (marker.qualifier != put.qualifier) return false;
  return marker.kind == CellKind::kDeleteCell ? put.timestamp == marker.timestamp
                                              : put.timestamp <= marker.timestamp;
}

/// The cells of a row by the rules of docs/index-rules.md: each is compared with all that may
/// concern it, those of its column and the DeleteFamily markers.
class RowByTheRules {
 public:
  RowByTheRules(const std::vector<OwnedCell>& cells, const FamilyOptions& family,
                int64_t now_micros)
      : cells_(cells), family_(family), now_(now_micros) {
    for (size_t i = 0; i < cells.size(); ++i) {
      const bool is_family_delete = cells[i].kind == CellKind::kDeleteFamily;
      (is_family_delete ? family_deletes_ : columns_[cells[i].qualifier]).push_back(i);
    }
  }

  /// What a merge drops, and why (rules 9 and 10).
  CellCounts Count(const std::vector<SequenceNumber>& snapshots, bool older_may_hold_row) const {
    const std::set<size_t> latest = Visible(format::kSequenceMax.value);
    std::set<size_t> kept = latest;
    for (const SequenceNumber snapshot : snapshots) kept.merge(Visible(snapshot.value));
    CellCounts counts;
    for (size_t i = 0; i < cells_.size(); ++i) {
      const bool is_marker = cells_[i].kind != CellKind::kPut;
      const bool stays =
          is_marker ? older_may_hold_row || HidesAny(cells_[i], kept) : kept.contains(i);
      ++counts.in;
      counts.out += stays ? 1 : 0;
      if (!stays) ++ReasonFor(cells_[i], latest, &counts.dropped);
    }
    return counts;
  }

 private:
  bool IsExpired(const OwnedCell& put) const {
    return family_.ttl_micros != 0 && put.timestamp + family_.ttl_micros <= now_;
  }
  bool IsDeleted(const OwnedCell& put, uint64_t sequence) const {
    const auto hides = [&](size_t i) {
      return cells_[i].sequence <= sequence && HidesPut(cells_[i], put);
    };
    return std::ranges::any_of(columns_.at(put.qualifier), hides) ||
           std::ranges::any_of(family_deletes_, hides);
  }
  bool HidesAny(const OwnedCell& marker, const std::set<size_t>& puts) const {
    if (marker.kind == CellKind::kDeleteFamily) {
      return std::ranges::any_of(puts, [&](size_t i) { return HidesPut(marker, cells_[i]); });
    }
    return std::ranges::any_of(columns_.at(marker.qualifier), [&](size_t i) {
      return puts.contains(i) && HidesPut(marker, cells_[i]);
    });
  }

  /// The Puts that a reader at `sequence` sees (rules 1 and 2).
  std::set<size_t> Visible(uint64_t sequence) const {
    std::map<std::string, std::map<int64_t, size_t, std::greater<>>> columns;
    for (size_t i = 0; i < cells_.size(); ++i) {
      const OwnedCell& put = cells_[i];
      if (put.kind != CellKind::kPut || put.sequence > sequence) continue;
      if (IsExpired(put) || IsDeleted(put, sequence)) continue;
      const auto [place, is_first] = columns[put.qualifier].emplace(put.timestamp, i);
      if (!is_first && cells_[place->second].sequence < put.sequence) place->second = i;
    }
    std::set<size_t> visible;
    for (const auto& [qualifier, versions] : columns) {
      uint32_t left = family_.max_versions;
      for (const auto& [timestamp, i] : versions) {
        if (left-- == 0) break;
        visible.insert(i);
      }
    }
    return visible;
  }

  uint64_t& ReasonFor(const OwnedCell& cell, const std::set<size_t>& latest,
                      DroppedCells* dropped) const {
    if (cell.kind != CellKind::kPut) return dropped->delete_markers;
    const std::vector<size_t>& column = columns_.at(cell.qualifier);
    if (std::ranges::any_of(column, [&](size_t i) {
          const OwnedCell& other = cells_[i];
          return other.kind == CellKind::kPut && other.timestamp == cell.timestamp &&
                 other.sequence > cell.sequence;
        })) {
      return dropped->replaced;
    }
    const auto newer = std::ranges::count_if(column, [&](size_t i) {
      return latest.contains(i) && cells_[i].timestamp > cell.timestamp;
    });
    if (newer == static_cast<ptrdiff_t>(family_.max_versions)) return dropped->superseded;
    if (IsExpired(cell)) return dropped->expired;
    BOOST_REQUIRE(IsDeleted(cell, format::kSequenceMax.value));
    return dropped->deleted;
  }

  const std::vector<OwnedCell>& cells_;
  const FamilyOptions& family_;
  const int64_t now_;
  std::map<std::string, std::vector<size_t>> columns_;
  std::vector<size_t> family_deletes_;
};

void Add(const CellCounts& more, CellCounts* sum) {
  sum->in += more.in;
  sum->out += more.out;
  sum->dropped.replaced += more.dropped.replaced;
  sum->dropped.superseded += more.dropped.superseded;
  sum->dropped.expired += more.dropped.expired;
  sum->dropped.of_dropped_families += more.dropped.of_dropped_families;
  sum->dropped.deleted += more.dropped.deleted;
  sum->dropped.delete_markers += more.dropped.delete_markers;
}

/// What a merge of `rows` has to count.
CellCounts CountByTheRules(Bench* bench, const Rows& rows, const MergeOptions& options) {
  CellCounts counts;
  for (const auto& [key, cells] : rows) {
    const RowByTheRules row(cells, bench->table()->families[0].options, options.now_micros);
    const bool older =
        options.older_may_contain != nullptr &&
        *options.older_may_contain(format::RowHash(key, bench->table()->hash_secret));
    Add(row.Count(options.snapshots, older), &counts);
  }
  return counts;
}

void RequireSound(Bench* bench, const std::string& name) {
  const auto file = bench->Open(name);
  VerifyReport report;
  {
    format::Findings findings(name, &report);
    BOOST_REQUIRE(format::VerifyBlocks(*file, &findings).ok());
    BOOST_REQUIRE(format::VerifyRows(file.get(), {.deep = true}, &findings).ok());
  }
  BOOST_TEST_REQUIRE(report.findings.empty(),
                     (report.findings.empty() ? "" : report.findings.front().text));
}

struct Trial {
  uint64_t operations = 60;
  uint64_t keys = 12;
  bool wide = false;      ///< Some rows are.
  bool overflow = false;  ///< And have overflow values.
  bool large = false;     ///< Some rows fill a block.
};

/// All rows of a file, overflow values read.
Rows ReadRows(Bench* bench, const std::string& name) {
  const auto file = bench->Open(name);
  format::RowStream row(file.get(), 0, file->row_count());
  Rows rows;
  while (row.Next().ok() && row.valid()) {
    const auto stream = row.Stream();
    BOOST_REQUIRE(stream.has_value());
    while (*(*stream)->Next()) {
      for (const Cell& cell : (*stream)->cells()) {
        std::string value(cell.is_overflow() ? "" : cell.value);
        if (cell.is_overflow()) BOOST_REQUIRE(format::ReadOverflowValue(cell, &value).ok());
        rows[row.key()].push_back({cell.kind, std::string(cell.qualifier), cell.timestamp,
                                   cell.sequence.value, std::move(value)});
      }
    }
  }
  return rows;
}

/// Some files, and the rows of those that are merged: the last ones.
struct Inputs {
  std::vector<std::shared_ptr<format::StoreFile>> files;
  Rows rows;
  std::set<std::string> wide_keys;  ///< Of rows that are wide in some file.
  SequenceNumber first_sequence;
  size_t older_files = 0;           ///< Before them,
  std::set<uint64_t> older_hashes;  ///< and the hashes of their rows.
};

Inputs WriteInputs(const Trial& trial, Bench* bench) {
  format::TableRecord before_last_index = *bench->table();
  before_last_index.indexes.pop_back();
  Inputs inputs;
  const size_t files = 1 + bench->Below(4);
  inputs.older_files = bench->Below(files);
  for (size_t i = 0; i < files; ++i) {
    if (i == inputs.older_files) inputs.first_sequence = SequenceNumber(bench->sequence() + 1);
    Rows rows = bench->NewRows(1 + bench->Below(trial.operations), trial.keys);
    if (trial.wide && bench->Below(3) > 0) bench->Widen(trial.keys, trial.overflow, &rows);
    if (trial.large) bench->Enlarge(&rows);
    if (i < inputs.older_files) {
      for (const auto& [key, cells] : rows) {
        inputs.older_hashes.insert(format::RowHash(key, bench->table()->hash_secret));
      }
      continue;
    }
    inputs.wide_keys.merge(WideKeys(rows));
    // Now and then a file from before the last index was made.
    const bool old = bench->Below(6) == 0;
    inputs.files.push_back(bench->Write("input-" + std::to_string(i), rows,
                                        old ? &before_last_index : bench->table().get()));
    for (const auto& [key, cells] : rows) {
      inputs.rows[key].insert(inputs.rows[key].end(), cells.begin(), cells.end());
    }
  }
  return inputs;
}

/// Writes some files, merges a contiguous part of them and compares. Returns what the merge says.
MergeResult RunTrial(uint64_t seed, const Trial& trial) {
  Bench bench(seed);
  const Inputs inputs = WriteInputs(trial, &bench);
  if (trial.large && bench.Below(3) == 0) bench.ChangeFamily();
  MergeOptions options;
  options.table = bench.table();
  options.now_micros = static_cast<int64_t>(bench.Below(12));
  for (uint64_t count = bench.Below(3); count > 0; --count) {
    options.snapshots.emplace_back(bench.Below(bench.sequence() + 2));
  }
  if (inputs.older_files > 0 || bench.Below(3) == 0) {
    options.older_may_contain = [&](uint64_t hash) -> Result<bool> {
      return inputs.older_hashes.contains(hash) || hash % 5 == 0;  // Filters err on this side.
    };
  }
  std::vector<MergeInput> merged;
  uint64_t input_bytes = 0;
  for (const auto& file : inputs.files) {
    merged.push_back({file.get(), 0, file->row_count()});
    input_bytes += file->size_bytes();
  }
  std::atomic<uint64_t> read_bytes{0};
  options.read_bytes = &read_bytes;

  auto writer = bench.NewWriter("merged", bench.table().get());
  const auto result = MergeFiles(merged, options, writer.get());
  BOOST_REQUIRE_MESSAGE(result.has_value(), result.status().ToString());
  BOOST_REQUIRE_EQUAL(read_bytes.load(), input_bytes);
  const std::string expected =
      NaiveMerge(&bench, inputs.rows, inputs.wide_keys, options,
                 {inputs.first_sequence, SequenceNumber(bench.sequence())});
  BOOST_REQUIRE_EQUAL(result->empty, expected.empty());
  BOOST_REQUIRE_EQUAL(result->rows_in, inputs.rows.size());
  BOOST_REQUIRE_EQUAL(result->cells.in, result->cells.out + result->cells.dropped.total());
  BOOST_REQUIRE_EQUAL(Text(result->cells), Text(CountByTheRules(&bench, inputs.rows, options)));
  if (result->empty) return *result;
  if (trial.overflow) {  // Overflow values of a row in pieces are between its chunks.
    BOOST_REQUIRE_MESSAGE(ReadRows(&bench, "merged") == ReadRows(&bench, "naive"),
                          "seed " << seed << ": rows differ");
  } else {
    BOOST_REQUIRE_MESSAGE(bench.Content("merged") == expected, "seed " << seed << ": files differ");
    BOOST_REQUIRE(result->summary.hash == format::HashOf128(expected));
    BOOST_REQUIRE_EQUAL(result->summary.size_bytes, expected.size());
  }
  RequireSound(&bench, "merged");
  return *result;
}

class SeveralFiles final : public MergeOutput {
 public:
  explicit SeveralFiles(Bench* bench) : bench_(bench) {}
  Result<format::StoreFileWriter*> NextFile() override {
    writer_ = bench_->NewWriter("merged-" + std::to_string(begun_++), bench_->table().get());
    return writer_.get();
  }
  Status Finished(const format::StoreFileSummary&) override {
    finished_.push_back("merged-" + std::to_string(begun_ - 1));
    return {};
  }
  size_t begun() const { return begun_; }
  const std::vector<std::string>& finished() const { return finished_; }

 private:
  Bench* bench_;
  size_t begun_ = 0;
  std::vector<std::string> finished_;
  std::unique_ptr<format::StoreFileWriter> writer_;
};

BOOST_AUTO_TEST_SUITE(merge)

BOOST_AUTO_TEST_CASE(SmallFilesMergeLikeTheNaiveMerge) {
  const uint64_t seed = std::random_device{}();
  BOOST_TEST_MESSAGE("seed " << seed);
  uint64_t copied = 0, collected = 0, emptied = 0, dropped = 0;
  CellCounts cells;
  for (uint64_t trial = 0; trial < 1500; ++trial) {
    BOOST_TEST_INFO("seed " << seed + trial);
    const MergeResult result = RunTrial(seed + trial, {});
    copied += result.rows_copied;
    collected += result.rows_out - result.rows_copied;
    dropped += result.rows_in - result.rows_out;
    emptied += result.empty ? 1 : 0;
    Add(result.cells, &cells);
  }
  BOOST_TEST(copied > 1000u);
  BOOST_TEST(collected > 1000u);
  BOOST_TEST(dropped > 100u);
  BOOST_TEST(emptied > 0u);
  for (const uint64_t count :
       {cells.dropped.replaced, cells.dropped.superseded, cells.dropped.expired,
        cells.dropped.deleted, cells.dropped.delete_markers}) {
    BOOST_TEST(count > 100u);
  }
}

BOOST_AUTO_TEST_CASE(RowsThatFillBlocksMergeLikeTheNaiveMerge) {
  const uint64_t seed = std::random_device{}();
  BOOST_TEST_MESSAGE("seed " << seed);
  uint64_t copied_blocks = 0, copied_rows = 0;
  for (uint64_t trial = 0; trial < 800; ++trial) {
    BOOST_TEST_INFO("seed " << seed + trial);
    const MergeResult result = RunTrial(seed + trial, {.operations = 30, .large = true});
    copied_blocks += result.blocks_copied;
    copied_rows += result.rows_copied;
  }
  BOOST_TEST(copied_blocks > 100u);
  BOOST_TEST(copied_blocks < copied_rows);
}

// Long postings: blocked and Roaring lists, many blocks, several reads of the stream.
BOOST_AUTO_TEST_CASE(LargerFilesMergeLikeTheNaiveMerge) {
  const uint64_t seed = std::random_device{}();
  BOOST_TEST_MESSAGE("seed " << seed);
  for (uint64_t trial = 0; trial < 6; ++trial) {
    RunTrial(seed + trial, {.operations = 20000, .keys = 5000 + 30000 * (trial % 2)});
  }
}

BOOST_AUTO_TEST_CASE(WideRowsMergeLikeTheNaiveMerge) {
  const uint64_t seed = std::random_device{}();
  BOOST_TEST_MESSAGE("seed " << seed);
  for (uint64_t trial = 0; trial < 100; ++trial) {
    BOOST_TEST_INFO("seed " << seed + trial);
    RunTrial(seed + trial, {.operations = 30, .keys = 3, .wide = true, .overflow = trial % 2 == 1});
  }
}

BOOST_AUTO_TEST_CASE(PartsOfFilesMergeLikeTheNaiveMerge) {
  uint64_t copied = 0, collected_of_small = 0;
  for (uint64_t seed = 1; seed < 40; ++seed) {
    Bench bench(seed);
    const Rows rows = bench.NewRows(200, 60);
    const auto file = bench.Write("input", rows, bench.table().get());
    const auto low = static_cast<uint32_t>(bench.Below(rows.size()));
    const auto high = low + static_cast<uint32_t>(bench.Below(rows.size() - low) + 1);
    MergeOptions options;
    options.table = bench.table();
    auto writer = bench.NewWriter("merged", bench.table().get());
    const auto result =
        MergeFiles(std::vector<MergeInput>{{file.get(), low, high}}, options, writer.get());
    BOOST_REQUIRE(result.has_value());
    const Rows part(std::next(rows.begin(), low), std::next(rows.begin(), high));
    const std::string expected = NaiveMerge(&bench, part, {}, options,
                                            {SequenceNumber(1), SequenceNumber(bench.sequence())});
    BOOST_REQUIRE_EQUAL(result->empty, expected.empty());
    BOOST_REQUIRE_EQUAL(Text(result->cells), Text(CountByTheRules(&bench, part, options)));
    if (!expected.empty()) BOOST_REQUIRE(bench.Content("merged") == expected);
    copied += result->rows_copied;
    const bool is_small = high - low < rows.size() / 8;
    if (is_small) BOOST_REQUIRE_EQUAL(result->rows_copied, 0u);
    collected_of_small += is_small ? result->rows_out : 0;
  }
  BOOST_TEST(copied > 100u);
  BOOST_TEST(collected_of_small > 0u);
}

// The second half of a file, and a whole one after it: 550 clean rows.
struct HalfAndWhole {
  HalfAndWhole() {
    bench.table()->families[0].options.ttl_micros = 0;
    for (int i = 0; i < 1000; ++i) Put(i, i < 900 ? &halved : &others);
    half = bench.Write("half", halved, bench.table().get());
    whole = bench.Write("whole", others, bench.table().get());
    inputs = {{half.get(), 450, 900}, {whole.get(), 0, 100}};
    options.table = bench.table();
  }
  void Put(int i, Rows* rows) {
    auto& cells = (*rows)["key" + std::to_string(1000 + i)];
    cells.push_back({CellKind::kPut, "a", i, ++sequence, std::to_string(i % 7)});
    cells.push_back({CellKind::kPut, "n", i, ++sequence, std::to_string(i)});
  }
  Bench bench{3};
  uint64_t sequence = 0;
  Rows halved, others;
  std::shared_ptr<format::StoreFile> half, whole;
  std::vector<MergeInput> inputs;
  MergeOptions options;
};

BOOST_FIXTURE_TEST_CASE(RowsOfAHalfAreCopied, HalfAndWhole) {
  auto writer = bench.NewWriter("merged", bench.table().get());
  const auto result = MergeFiles(inputs, options, writer.get());
  BOOST_REQUIRE(result.has_value());
  BOOST_TEST(result->rows_copied == 550u);
  Rows all(std::next(halved.begin(), 450), halved.end());
  all.insert(others.begin(), others.end());
  BOOST_TEST((bench.Content("merged") ==
              NaiveMerge(&bench, all, {}, options, {SequenceNumber(1), SequenceNumber(2000)})));
  RequireSound(&bench, "merged");
}

BOOST_FIXTURE_TEST_CASE(RowsOfAHalfAreCopiedToSeveralFiles, HalfAndWhole) {
  SeveralFiles output(&bench);
  options.limits.rows = 200;
  const auto result = MergeFiles(inputs, options, &output);
  BOOST_REQUIRE(result.has_value());
  BOOST_TEST(result->rows_copied == 550u);
  BOOST_TEST(output.finished().size() == 3u);
  for (const std::string& name : output.finished()) RequireSound(&bench, name);
}

// Merges the rows of two files into one, which is sound.
MergeResult MergeTwo(Bench* bench, const Rows& older, const Rows& newer) {
  const auto a = bench->Write("a", older, bench->table().get());
  const auto b = bench->Write("b", newer, bench->table().get());
  MergeOptions options;
  options.table = bench->table();
  auto writer = bench->NewWriter("merged", bench->table().get());
  const auto result = MergeFiles(
      std::vector<MergeInput>{{a.get(), 0, a->row_count()}, {b.get(), 0, b->row_count()}}, options,
      writer.get());
  BOOST_REQUIRE(result.has_value());
  RequireSound(bench, "merged");
  return *result;
}

BOOST_AUTO_TEST_CASE(CleanRowsOfDisjointFilesAreAllCopied) {
  Bench bench(3);
  bench.table()->families[0].options.ttl_micros = 0;
  Rows left, right;
  uint64_t sequence = 0;
  for (int i = 0; i < 500; ++i) {
    (i % 3 == 0 ? left : right)["key" + std::to_string(1000 + i)] = {
        {CellKind::kPut, "a", i, ++sequence, std::to_string(i % 7)},
        {CellKind::kPut, "n", i, ++sequence, std::to_string(i)}};
  }
  const MergeResult result = MergeTwo(&bench, left, right);
  BOOST_TEST(result.rows_copied == 500u);
  BOOST_TEST(result.rows_out == 500u);
  BOOST_TEST(result.cells.out == 1000u);
}

// Their entries are those of the newest version, which its file has already.
BOOST_AUTO_TEST_CASE(RowsThatTheirNewestVersionReplacesAreCopied) {
  Bench bench(3);
  bench.table()->families[0].options.ttl_micros = 0;
  bench.table()->families[0].options.max_versions = 1;
  Rows older, newer;
  uint64_t sequence = 0;
  const auto put = [&](int key, Rows* rows) {
    auto& cells = (*rows)["key" + std::to_string(1000 + key)];
    for (const char* const column : {"a", "n"}) {
      const auto time = static_cast<int64_t>(++sequence);
      cells.push_back({CellKind::kPut, column, time, sequence, std::to_string(sequence % 7)});
    }
  };
  for (int i = 0; i < 500; ++i) put(i, &older);
  for (int i = 0; i < 500; i += 2) put(i, &newer);
  newer["key1008"].pop_back();  // Only one of the columns is replaced.
  const MergeResult result = MergeTwo(&bench, older, newer);
  BOOST_TEST(result.rows_out == 500u);
  BOOST_TEST(result.rows_copied == 499u);
  BOOST_TEST(result.cells.out == 1000u);
}

BOOST_AUTO_TEST_CASE(AMergeThatCollectsTooMuchBeginsAgainAsSeveralFiles) {
  Bench bench(5);
  bench.table()->families[0].options.ttl_micros = 0;
  bench.table()->families[0].options.max_versions = 1;
  constexpr uint32_t kRows = 20'000;
  // The newer file replaces a column of each row of the older one.
  std::vector<std::shared_ptr<format::StoreFile>> files;
  std::vector<MergeInput> inputs;
  for (const std::string column : {"n", "a"}) {
    Rows rows;
    for (uint32_t i = 0; i < kRows; ++i) {
      const uint64_t sequence = files.size() * kRows + i + 1;
      rows["key" + std::to_string(100'000 + i)] = {
          {CellKind::kPut, column, 5, sequence, std::to_string(i % 700)}};
    }
    files.push_back(bench.Write(column, rows, bench.table().get()));
    inputs.push_back({files.back().get(), 0, kRows});
  }
  MergeOptions options;
  options.table = bench.table();
  options.entry_bytes = 64 << 10;
  SeveralFiles output(&bench);
  const auto result = MergeFiles(inputs, options, &output);
  BOOST_REQUIRE_MESSAGE(result.has_value(), result.status().ToString());
  BOOST_TEST(result->rows_in == kRows);
  BOOST_TEST(result->rows_out == kRows);
  BOOST_TEST(output.begun() == output.finished().size() + 1);
  BOOST_TEST(output.finished().size() >= 3u);
  uint32_t rows = 0;
  for (const std::string& name : output.finished()) {
    RequireSound(&bench, name);
    const auto file = bench.Open(name);
    rows += file->row_count();
    BOOST_TEST(file->statistics().cells == 2 * uint64_t{file->row_count()});
  }
  BOOST_TEST(rows == kRows);
}

// A file with the row "k", whose only cell has sequence 44, is merged alone.
struct OneRow {
  std::string value;
  bool one_sequence = false;  ///< Of the file.
  bool snapshot = false, older = false;
  uint64_t limits_settled_at = 0;
};

struct MergedRow {
  uint64_t sequence = 0;
  uint64_t blocks_copied = 0;
};

MergedRow MergeAlone(const OneRow& row) {
  Bench bench(1);
  auto input = bench.NewWriter("input", bench.table().get(), row.one_sequence);
  const OwnedCell cell{CellKind::kPut, "z", 5, row.one_sequence ? 0u : 44u, row.value};
  BOOST_REQUIRE(input->AddRow("k", Views({cell})).has_value());
  if (row.one_sequence) {
    BOOST_REQUIRE(input->FinishRows().ok());
    BOOST_REQUIRE(input->FinishAt(SequenceNumber(44)).has_value());
  } else {
    BOOST_REQUIRE(input->Finish().has_value());
  }
  const auto file = bench.Open("input");
  MergeOptions options;
  options.table = bench.table();
  options.limits_settled_at = SequenceNumber(row.limits_settled_at);
  if (row.snapshot) options.snapshots.emplace_back(100);
  if (row.older) options.older_may_contain = [](uint64_t) -> Result<bool> { return false; };
  auto writer = bench.NewWriter("merged", bench.table().get());
  const auto result =
      MergeFiles(std::vector<MergeInput>{{file.get(), 0, 1}}, options, writer.get());
  BOOST_REQUIRE(result.has_value());
  const auto merged = bench.Open("merged");
  format::RowStream rows(merged.get(), 0, 1);
  std::vector<Cell> cells;
  BOOST_REQUIRE(rows.Next().ok());
  BOOST_REQUIRE(rows.Cells(&cells).ok());
  BOOST_TEST(cells[0].value == row.value);
  const uint64_t bound = std::max(uint64_t{44}, row.limits_settled_at);
  BOOST_TEST(merged->statistics().min_sequence.value == bound);
  BOOST_TEST(merged->statistics().max_sequence.value == bound);
  return {cells[0].sequence.value, result->blocks_copied};
}

BOOST_AUTO_TEST_CASE(SequencesStayWhileSomebodyReadsAtThem) {
  for (const bool snapshot : {false, true}) {
    for (const bool older : {false, true}) {
      const MergedRow row = MergeAlone({.value = "1", .snapshot = snapshot, .older = older});
      BOOST_TEST(row.sequence == (snapshot || older ? 44u : 0u));
    }
  }
}

BOOST_AUTO_TEST_CASE(ARowThatFillsABlockKeepsItsSequence) {
  const std::string value(600, 'z');
  for (const bool snapshot : {false, true}) {
    const MergedRow copied = MergeAlone({.value = value, .snapshot = snapshot});
    BOOST_TEST(copied.sequence == 44u);
    BOOST_TEST(copied.blocks_copied == 1u);
    // The block says 0, to which the file adds 44.
    const MergedRow moved =
        MergeAlone({.value = value, .one_sequence = true, .snapshot = snapshot});
    BOOST_TEST(moved.sequence == 44u);
    BOOST_TEST(moved.blocks_copied == 0u);
  }
}

BOOST_AUTO_TEST_CASE(ARowThatFillsABlockIsFromBeforeAChangeOfLimits) {
  const MergedRow row = MergeAlone({.value = std::string(600, 'z'), .limits_settled_at = 50});
  BOOST_TEST(row.sequence == 50u);
  BOOST_TEST(row.blocks_copied == 0u);
}

BOOST_AUTO_TEST_CASE(CancelledMergeStops) {
  Bench bench(1);
  const auto file = bench.Write("input", bench.NewRows(5000, 2000), bench.table().get());
  MergeOptions options;
  options.table = bench.table();
  const std::atomic<bool> cancelled{true};
  options.cancelled = &cancelled;
  auto writer = bench.NewWriter("merged", bench.table().get());
  const auto result = MergeFiles(std::vector<MergeInput>{{file.get(), 0, file->row_count()}},
                                 options, writer.get());
  BOOST_TEST(result.status().code() == StatusCode::kCancelled);
}

BOOST_AUTO_TEST_CASE(FilterErrorsEndTheMerge) {
  Bench bench(1);
  const auto file = bench.Write("input", {{"k", {{CellKind::kDeleteFamily, "", 5, 44, ""}}}},
                                bench.table().get());
  MergeOptions options;
  options.table = bench.table();
  options.older_may_contain = [](uint64_t) -> Result<bool> { return Status::IoError("filter"); };
  auto writer = bench.NewWriter("merged", bench.table().get());
  const auto result =
      MergeFiles(std::vector<MergeInput>{{file.get(), 0, 1}}, options, writer.get());
  BOOST_TEST(result.status().code() == StatusCode::kIoError);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::compaction
