// What a row shows and which cells a merge keeps, against a reference that follows the index rules
// word by word and looks at every pair of cells. Small random rows (few columns, timestamps 1 to 7,
// sequences in any order of timestamps) are where these rules break.
#include "format/cell/visibility.h"

#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <random>
#include <string>

namespace tandem::format {
namespace {

using Cells = std::vector<Cell>;

constexpr std::string_view kQualifiers[] = {"", "a", "b"};
constexpr std::string_view kValues[] = {"1", "2"};

Cell MakeCell(CellKind kind, std::string_view qualifier, int64_t timestamp, uint64_t sequence) {
  return {kind,
          FamilyId(0),
          qualifier,
          timestamp,
          SequenceNumber(sequence),
          kind == CellKind::kPut ? kValues[sequence % 2] : ""};
}

std::vector<FamilyRecord> MakeFamilies(uint32_t max_versions, int64_t ttl_micros) {
  return {{FamilyId(0), {.name = "f", .max_versions = max_versions, .ttl_micros = ttl_micros}},
          {FamilyId(3), {.name = "g", .max_versions = 4 - max_versions}}};
}

std::string Describe(const Cells& cells) {
  std::string text;
  for (const Cell& cell : cells) {
    text += "  family " + std::to_string(cell.family.value) + " kind " +
            std::to_string(static_cast<int>(cell.kind)) + " '" + std::string(cell.qualifier) +
            "' timestamp " + std::to_string(cell.timestamp) + " sequence " +
            std::to_string(cell.sequence.value) + "\n";
  }
  return text;
}

bool SameCells(const Cells& a, const Cells& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Cell& x, const Cell& y) {
    return x.kind == y.kind && SameColumn(x, y) && x.timestamp == y.timestamp &&
           x.sequence == y.sequence && x.value == y.value;
  });
}

bool ReferenceHides(const Cell& marker, const Cell& put) {
  if (marker.kind == CellKind::kPut || marker.family != put.family) return false;
  if (marker.sequence <= put.sequence) return false;
  if (marker.kind == CellKind::kDeleteFamily) return put.timestamp <= marker.timestamp;
  if (marker.qualifier != put.qualifier) return false;
  return marker.kind == CellKind::kDeleteCell ? put.timestamp == marker.timestamp
                                              : put.timestamp <= marker.timestamp;
}

/// Rules 1 and 2, as they read.
Cells ReferenceVisible(const Cells& cells, const std::vector<FamilyRecord>& families,
                       const ReadPoint& point) {
  std::map<std::pair<uint8_t, std::string_view>, std::map<int64_t, Cell, std::greater<>>> columns;
  for (const Cell& put : cells) {
    if (put.kind != CellKind::kPut || put.sequence > point.sequence) continue;
    const FamilyOptions& family = families[put.family.value == 0 ? 0 : 1].options;
    if (family.ttl_micros != 0 && put.timestamp + family.ttl_micros <= point.now_micros) continue;
    if (std::any_of(cells.begin(), cells.end(), [&](const Cell& marker) {
          return marker.sequence <= point.sequence && ReferenceHides(marker, put);
        })) {
      continue;
    }
    auto& versions = columns[{put.family.value, put.qualifier}];
    const auto found = versions.find(put.timestamp);
    if (found == versions.end() || found->second.sequence < put.sequence) {
      versions[put.timestamp] = put;
    }
  }
  Cells visible;
  for (const auto& [column, versions] : columns) {
    uint32_t left = families[column.first == 0 ? 0 : 1].options.max_versions;
    for (const auto& [timestamp, put] : versions) {
      if (left-- == 0) break;
      if (timestamp >= point.since && timestamp <= point.as_of) visible.push_back(put);
    }
  }
  std::sort(visible.begin(), visible.end(), CellLess);
  return visible;
}

/// Rules 9 and 10, as they read.
Cells ReferenceRetained(const Cells& cells, const std::vector<FamilyRecord>& families,
                        const Retention& retention) {
  Cells kept = ReferenceVisible(cells, families, {kSequenceMax, retention.now_micros});
  for (const SequenceNumber snapshot : retention.snapshots) {
    for (const Cell& put : ReferenceVisible(cells, families, {snapshot, retention.now_micros})) {
      if (!std::any_of(kept.begin(), kept.end(), [&](const Cell& other) {
            return !CellLess(put, other) && !CellLess(other, put);
          })) {
        kept.push_back(put);
      }
    }
  }
  const Cells puts = kept;
  for (const Cell& marker : cells) {
    if (marker.kind == CellKind::kPut) continue;
    if (retention.older_sources_may_hold_row ||
        std::any_of(puts.begin(), puts.end(),
                    [&](const Cell& put) { return ReferenceHides(marker, put); })) {
      kept.push_back(marker);
    }
  }
  std::sort(kept.begin(), kept.end(), CellLess);
  return kept;
}

/// The history of one row as the engine writes it: one sequence an operation, DeleteCell by rule 3,
/// clock readings that never fall.
class History {
 public:
  History(std::mt19937_64* random, const std::vector<FamilyRecord>& families)
      : random_(*random), families_(families) {}

  uint64_t Below(uint64_t limit) { return random_() % limit; }

  void Advance() {
    ++sequence_;
    if (Below(3) == 0) now_ += static_cast<int64_t>(Below(3));
    const FamilyId family = Below(4) == 0 ? FamilyId(3) : FamilyId(0);
    const std::string_view qualifier = kQualifiers[Below(3)];
    const int64_t timestamp = 1 + static_cast<int64_t>(Below(7));
    switch (Below(8)) {
      case 0:
        return DeleteOneVersion(family, qualifier, timestamp);
      case 1:
        return Add(CellKind::kDeleteColumn, family, qualifier, timestamp);
      case 2:
        return Add(CellKind::kDeleteFamily, family, "", timestamp);
      case 3:  // DeleteRow: one marker a family, one sequence.
        Add(CellKind::kDeleteFamily, FamilyId(0), "", timestamp);
        return Add(CellKind::kDeleteFamily, FamilyId(3), "", timestamp);
      default:
        return Add(CellKind::kPut, family, qualifier, timestamp);
    }
  }

  int64_t now() const { return now_; }
  uint64_t sequence() const { return sequence_; }
  /// The cells with sequences in (above, through], sorted.
  Cells Between(uint64_t above, uint64_t through) const {
    Cells part;
    for (const Cell& cell : cells_) {
      if (cell.sequence.value > above && cell.sequence.value <= through) part.push_back(cell);
    }
    std::sort(part.begin(), part.end(), CellLess);
    return part;
  }

 private:
  void Add(CellKind kind, FamilyId family, std::string_view qualifier, int64_t timestamp) {
    Cell cell = MakeCell(kind, qualifier, timestamp, sequence_);
    cell.family = family;
    cells_.push_back(cell);
  }

  void DeleteOneVersion(FamilyId family, std::string_view qualifier, int64_t timestamp) {
    Cells versions;
    for (const Cell& put : ReferenceVisible(cells_, families_, {kSequenceMax, now_})) {
      if (put.family == family && put.qualifier == qualifier) versions.push_back(put);
    }
    const auto hit = std::find_if(versions.begin(), versions.end(),
                                  [&](const Cell& put) { return put.timestamp == timestamp; });
    if (hit == versions.end()) return;
    Add(CellKind::kDeleteCell, family, qualifier, timestamp);
    if (versions.size() == families_[family.value == 0 ? 0 : 1].options.max_versions) {
      Add(CellKind::kDeleteColumn, family, qualifier, versions.back().timestamp - 1);
    }
    if (hit == versions.begin() && versions.size() > 1) {
      Cell revealed = versions[1];
      revealed.sequence = SequenceNumber(sequence_);
      cells_.push_back(revealed);
    }
  }

  std::mt19937_64& random_;
  const std::vector<FamilyRecord>& families_;
  Cells cells_;
  uint64_t sequence_ = 0;
  int64_t now_ = 0;
};

struct RandomRows {
  RandomRows() : seed(std::random_device{}()), random(seed) { BOOST_TEST_MESSAGE("seed " << seed); }
  std::vector<FamilyRecord> Families() {
    return MakeFamilies(1 + static_cast<uint32_t>(random() % 3),
                        random() % 2 == 0 ? 0 : 2 + static_cast<int64_t>(random() % 4));
  }
  ReadPoint Point(SequenceNumber sequence, int64_t now_micros) {
    ReadPoint point{sequence, now_micros};
    if (random() % 3 == 0) point.since = static_cast<int64_t>(random() % 9);
    if (random() % 3 == 0) point.as_of = static_cast<int64_t>(random() % 9);
    return point;
  }
  std::vector<SequenceNumber> Snapshots(uint64_t last) {
    std::vector<SequenceNumber> snapshots;
    for (uint64_t count = random() % 4; count > 0; --count) {
      snapshots.emplace_back(random() % (last + 1));
    }
    return snapshots;
  }
  uint64_t seed;
  std::mt19937_64 random;
};

Cells Visible(const Cells& cells, const std::vector<FamilyRecord>& families,
              const ReadPoint& point) {
  Cells out;
  VisibleCells(cells, families, point, &out);
  return out;
}

Cells Joined(Cells a, const Cells& b, const Cells& c) {
  a.insert(a.end(), b.begin(), b.end());
  a.insert(a.end(), c.begin(), c.end());
  std::sort(a.begin(), a.end(), CellLess);
  return a;
}

BOOST_FIXTURE_TEST_SUITE(visibility, RandomRows)

BOOST_AUTO_TEST_CASE(RandomRowsShowWhatTheRulesSay) {
  for (int trial = 0; trial < 20000; ++trial) {
    const auto families = Families();
    History history(&random, families);
    for (uint64_t count = random() % 24; count > 0; --count) history.Advance();
    const Cells cells = history.Between(0, kSequenceMax.value);
    for (uint64_t sequence = 0; sequence <= history.sequence() + 1; ++sequence) {
      const ReadPoint point = Point(SequenceNumber(sequence), static_cast<int64_t>(random() % 14));
      BOOST_REQUIRE_MESSAGE(
          SameCells(Visible(cells, families, point), ReferenceVisible(cells, families, point)),
          "seed " << seed << " trial " << trial << " sequence " << sequence << "\n"
                  << Describe(cells));
    }
  }
}

BOOST_AUTO_TEST_CASE(BlindDeletesInAnyOrderShowWhatTheRulesSay) {
  for (int trial = 0; trial < 20000; ++trial) {
    const auto families = Families();
    Cells cells;
    for (uint64_t sequence = 1 + random() % 16; sequence > 0; --sequence) {
      const auto kind = static_cast<CellKind>(random() % 4);
      cells.push_back(MakeCell(kind,
                               kind == CellKind::kDeleteFamily ? "" : kQualifiers[random() % 3],
                               1 + static_cast<int64_t>(random() % 7), sequence));
    }
    std::sort(cells.begin(), cells.end(), CellLess);
    const ReadPoint point =
        Point(SequenceNumber(random() % 18), static_cast<int64_t>(random() % 14));
    BOOST_REQUIRE_MESSAGE(
        SameCells(Visible(cells, families, point), ReferenceVisible(cells, families, point)),
        "seed " << seed << " trial " << trial << "\n"
                << Describe(cells));
    const auto snapshots = Snapshots(16);
    const Retention retention{families, snapshots, point.now_micros, random() % 2 == 0};
    Cells retained;
    RetainCells(cells, retention, &retained);
    BOOST_REQUIRE_MESSAGE(SameCells(retained, ReferenceRetained(cells, families, retention)),
                          "seed " << seed << " trial " << trial << "\n"
                                  << Describe(cells));
  }
}

// The property that makes compaction invisible: whatever lies below and above the merged part, and
// however often a part was merged before, every read that is still possible sees what it saw.
BOOST_AUTO_TEST_CASE(MergesNeverChangeWhatReadsSee) {
  for (int trial = 0; trial < 30000; ++trial) {
    const auto families = Families();
    History history(&random, families);
    for (uint64_t count = random() % 8; count > 0; --count) history.Advance();
    const uint64_t low = history.sequence();
    for (uint64_t count = random() % 16; count > 0; --count) history.Advance();
    const uint64_t high = history.sequence();
    const auto snapshots = Snapshots(high);
    const Cells older = history.Between(0, low), merged = history.Between(low, high);
    const Retention retention{families, snapshots, history.now(),
                              !older.empty() || random() % 2 == 0};
    Cells retained;
    RetainCells(merged, retention, &retained);
    BOOST_REQUIRE(SameCells(retained, ReferenceRetained(merged, families, retention)));

    for (uint64_t count = random() % 4; count > 0; --count) history.Advance();
    const Cells newer = history.Between(high, kSequenceMax.value);
    const Cells all = Joined(older, merged, newer), left = Joined(older, retained, newer);
    std::vector<SequenceNumber> readable = snapshots;
    for (uint64_t sequence = high; sequence <= history.sequence(); ++sequence) {
      readable.emplace_back(sequence);
    }
    for (const SequenceNumber sequence : readable) {
      const ReadPoint point = Point(sequence, history.now() + static_cast<int64_t>(random() % 4));
      BOOST_REQUIRE_MESSAGE(
          SameCells(Visible(all, families, point), Visible(left, families, point)),
          "seed " << seed << " trial " << trial << " read at " << sequence.value << "\nall\n"
                  << Describe(all) << "left\n"
                  << Describe(left));
    }
  }
}

BOOST_AUTO_TEST_CASE(MergingTwiceKeepsWhatMergingOnceKeeps) {
  for (int trial = 0; trial < 10000; ++trial) {
    const auto families = Families();
    History history(&random, families);
    for (uint64_t count = random() % 24; count > 0; --count) history.Advance();
    const auto snapshots = Snapshots(history.sequence());
    const Retention retention{families, snapshots, history.now(), random() % 2 == 0};
    Cells once, twice;
    RetainCells(history.Between(0, kSequenceMax.value), retention, &once);
    RetainCells(once, retention, &twice);
    BOOST_REQUIRE_MESSAGE(SameCells(once, twice), "seed " << seed << " trial " << trial);
  }
}

BOOST_AUTO_TEST_CASE(HidesNeedsScopeAndSmallerSequence) {
  for (int trial = 0; trial < 20000; ++trial) {
    Cell a = MakeCell(static_cast<CellKind>(random() % 4), kQualifiers[random() % 3],
                      1 + static_cast<int64_t>(random() % 3), 1 + random() % 3);
    if (a.kind == CellKind::kDeleteFamily) a.qualifier = "";
    if (random() % 4 == 0) a.family = FamilyId(3);
    const Cell put = MakeCell(CellKind::kPut, kQualifiers[random() % 3],
                              1 + static_cast<int64_t>(random() % 3), 1 + random() % 3);
    BOOST_REQUIRE_EQUAL(Hides(a, put), ReferenceHides(a, put));
  }
}

BOOST_AUTO_TEST_CASE(ExtremeTimestampsNeitherOverflowNorExpireByMistake) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  constexpr int64_t kGreatest = std::numeric_limits<int64_t>::max();
  const auto families = MakeFamilies(3, kGreatest);
  const Cells cells = {MakeCell(CellKind::kPut, "a", kGreatest, 3),
                       MakeCell(CellKind::kPut, "a", 0, 2),
                       MakeCell(CellKind::kPut, "a", kLeast, 1)};
  BOOST_TEST(Visible(cells, families, {kSequenceMax, -2}).size() == 3u);
  BOOST_TEST(Visible(cells, families, {kSequenceMax, 0}).size() == 2u);
  BOOST_TEST(Visible(cells, families, {kSequenceMax, kGreatest}).size() == 1u);
  const auto brief = MakeFamilies(3, 1);
  BOOST_TEST(Visible(cells, brief, {kSequenceMax, kLeast}).size() == 3u);
  BOOST_TEST(Visible(cells, brief, {kSequenceMax, kGreatest}).size() == 1u);
}

// A sweep needs milliseconds; comparing each Put with each marker would need minutes.
BOOST_AUTO_TEST_CASE(LargeRowsAreSweptNotCompared) {
  constexpr uint64_t kCount = 100000;
  std::vector<std::string> names;
  for (uint64_t i = 0; i < kCount; ++i) names.push_back(std::to_string(kCount + i));
  Cells cells;
  for (uint64_t i = 0; i < kCount; ++i) {  // Timestamps fall, sequences rise.
    cells.push_back(
        MakeCell(CellKind::kDeleteFamily, "", static_cast<int64_t>(kCount - i), 3 * i + 2));
  }
  for (uint64_t i = 0; i < kCount; ++i) {  // Half a step below and above its marker's sequence.
    cells.push_back(MakeCell(CellKind::kPut, names[i], static_cast<int64_t>(kCount - i),
                             i % 2 == 0 ? 3 * i + 1 : 3 * i + 3));
  }
  for (uint64_t i = 0; i < kCount; ++i) {  // One column of versions and markers.
    cells.push_back(MakeCell(i % 2 == 0 ? CellKind::kPut : CellKind::kDeleteColumn, "z",
                             static_cast<int64_t>(4 * kCount - i), 4 * kCount + i));
  }
  const auto families = MakeFamilies(3, 0);
  BOOST_TEST(Visible(cells, families, {}).size() == kCount / 2 + 3);
  Cells retained;
  RetainCells(cells, {families, {}, 0, false}, &retained);
  BOOST_TEST(SameCells(Visible(retained, families, {}), Visible(cells, families, {})));
  BOOST_TEST(SameCells(retained, Visible(cells, families, {})));  // No kept Put is hidden.
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format
