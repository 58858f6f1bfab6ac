// Which files go because all that they have has expired: hand-made ones, and random ones compared
// with what reads see of the cells.
#define BOOST_TEST_DYN_LINK
#include "compaction/expired.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "format/cell/cell.h"
#include "format/cell/visibility.h"
#include "format/schema.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

using compaction::AgingFile;
using format::Cell;
using format::CellKind;
using format::FamilyId;
using format::FamilyRecord;
using format::SequenceNumber;

/// "0 2" for the first and the third.
std::string Picked(const std::vector<AgingFile>& files) {
  std::string text;
  for (const size_t place : compaction::PickExpired(files)) {
    text += (text.empty() ? "" : " ") + std::to_string(place);
  }
  return text;
}

/// Puts up to 100 have expired.
AgingFile FileOf(int64_t newest_put, std::optional<int64_t> newest_marker = {},
                 std::string_view min_key = "a", std::string_view max_key = "z") {
  return {.families = {{.newest_put = newest_put, .expired_through = 100}},
          .has_markers = newest_marker.has_value(),
          .newest = std::max(newest_put, newest_marker.value_or(newest_put)),
          .min_key = min_key,
          .max_key = max_key};
}

BOOST_AUTO_TEST_SUITE(Expired)

BOOST_AUTO_TEST_CASE(FilesGoWhenTheirNewestPutHasExpired) {
  BOOST_TEST(Picked({}) == "");
  BOOST_TEST(Picked({FileOf(100), FileOf(101), FileOf(99)}) == "0 2");
}

BOOST_AUTO_TEST_CASE(EachFamilyHasItsOwnTime) {
  AgingFile file = FileOf(50);
  file.families.push_back({.newest_put = 50, .expired_through = 49});
  BOOST_TEST(Picked({file}) == "");
  file.families[1].expired_through = 50;
  BOOST_TEST(Picked({file}) == "0");
  file.families[1].expired_through = {};  // It keeps its cells.
  BOOST_TEST(Picked({file}) == "");
  file.families[1].newest_put = {};  // It has markers alone: there is nothing that they hide.
  file.has_markers = true;
  BOOST_TEST(Picked({file}) == "0");
}

BOOST_AUTO_TEST_CASE(AMarkerStaysWhileAnOlderFileMayHaveWhatItHides) {
  BOOST_TEST(Picked({FileOf(200), FileOf(50, 100)}) == "1");
  BOOST_TEST(Picked({FileOf(200), FileOf(50, 101)}) == "");
  BOOST_TEST(Picked({FileOf(50, 101), FileOf(200)}) == "0");
  BOOST_TEST(Picked({FileOf(50), FileOf(50, 101)}) == "0 1");
  BOOST_TEST(Picked({FileOf(200, {}, "a", "k"), FileOf(50, 101, "l", "z")}) == "1");
  BOOST_TEST(Picked({FileOf(200, {}, "a", "l"), FileOf(50, 101, "l", "z")}) == "");
}

/// Files of a few cells of a few rows, the oldest first, and a source that is written afterwards.
class RandomFiles {
 public:
  explicit RandomFiles(TestRandom* random) : random_(*random) {
    for (uint8_t id = 0; id < 2; ++id) families_.push_back(RandomFamily(id));
    files_.resize(2 + random_.Below(4));
    for (Source& file : files_) file = RandomSource();
    later_ = RandomSource();
  }

  /// That no read sees whether the files that go are there. Returns how many go.
  size_t Check() {
    std::vector<AgingFile> described;
    for (const Source& file : files_) described.push_back(Describe(file));
    const std::vector<size_t> picked = compaction::PickExpired(described);
    std::vector<const Source*> all, left;
    for (size_t i = 0; i < files_.size(); ++i) {
      all.push_back(&files_[i]);
      const bool goes = std::ranges::find(picked, i) != picked.end();
      if (!goes) left.push_back(&files_[i]);
      if (IsAllExpired(described[i])) BOOST_REQUIRE(goes);
    }
    all.push_back(&later_);
    left.push_back(&later_);
    Compare(all, left, kNow);
    Compare(all, left, kNow + 3);
    RaiseLimits();
    Compare(all, left, kNow + 3);
    return picked.size();
  }

 private:
  using Source = std::map<std::string, std::vector<Cell>>;  // By row.
  static constexpr int64_t kNow = 10;

  FamilyRecord RandomFamily(uint8_t id) {
    FamilyRecord family;
    family.id = FamilyId(id);
    family.options.name = "f" + std::to_string(id);
    family.options.max_versions = static_cast<uint32_t>(1 + random_.Below(3));
    family.options.ttl_micros = static_cast<int64_t>(random_.OneIn(5) ? 0 : 1 + random_.Below(6));
    family.dropped = random_.OneIn(10);
    if (random_.OneIn(3)) {
      family.former_limits.push_back({.changed_at = SequenceNumber(2 * (1 + random_.Below(15))),
                                      .max_versions = static_cast<uint32_t>(1 + random_.Below(3)),
                                      .expired_through = static_cast<int64_t>(random_.Below(9))});
    }
    return family;
  }

  // Operations have odd sequences, so that changes of limits have places of their own.
  Source RandomSource() {
    Source source;
    const int64_t newest = static_cast<int64_t>(3 + random_.Below(8));
    for (uint64_t i = 1 + random_.Below(4); i > 0; --i) {
      constexpr CellKind kKinds[] = {CellKind::kPut,          CellKind::kPut,
                                     CellKind::kPut,          CellKind::kDeleteCell,
                                     CellKind::kDeleteColumn, CellKind::kDeleteFamily};
      Cell cell{.kind = kKinds[random_.Below(std::size(kKinds))],
                .family = FamilyId(static_cast<uint8_t>(random_.Below(2))),
                .qualifier = {},
                .timestamp = static_cast<int64_t>(random_.Below(static_cast<uint64_t>(newest))),
                .sequence = SequenceNumber(sequence_ += 2),
                .value = {}};
      if (cell.kind != CellKind::kDeleteFamily) cell.qualifier = random_.OneIn(2) ? "p" : "q";
      source[std::string(1, static_cast<char>('a' + random_.Below(3)))].push_back(cell);
    }
    return source;
  }

  AgingFile Describe(const Source& source) const {
    AgingFile file{.families = {},
                   .has_markers = false,
                   .newest = INT64_MIN,
                   .min_key = source.begin()->first,
                   .max_key = source.rbegin()->first};
    for (const FamilyRecord& family : families_) {
      AgingFile::Family times{.newest_put = {}, .expired_through = family.ExpiredThrough(kNow)};
      bool is_there = false;
      for (const auto& [row, cells] : source) {
        for (const Cell& cell : cells) {
          if (cell.family != family.id) continue;
          is_there = true;
          file.newest = std::max(file.newest, cell.timestamp);
          if (cell.kind == CellKind::kPut) {
            times.newest_put = std::max(times.newest_put.value_or(INT64_MIN), cell.timestamp);
          } else {
            file.has_markers = true;
          }
        }
      }
      if (is_there) file.families.push_back(times);
    }
    return file;
  }

  static bool IsAllExpired(const AgingFile& file) {
    return std::ranges::all_of(file.families, [&file](const AgingFile::Family& family) {
      return family.expired_through.has_value() && file.newest <= *family.expired_through;
    });
  }

  // As AlterFamily does: cells live longer from now on, and more versions are kept.
  void RaiseLimits() {
    for (FamilyRecord& family : families_) {
      if (family.dropped) continue;
      const uint64_t before =
          family.former_limits.empty() ? 0 : family.former_limits.back().changed_at.value;
      family.former_limits.push_back({.changed_at = SequenceNumber(std::max(sequence_, before) + 2),
                                      .max_versions = family.options.max_versions,
                                      .expired_through = family.ExpiredThrough(kNow)});
      family.options.max_versions += 2;
      family.options.ttl_micros = 0;
    }
  }

  void Compare(const std::vector<const Source*>& all, const std::vector<const Source*>& left,
               int64_t now) const {
    for (const char* row : {"a", "b", "c"}) {
      for (uint64_t sequence = 0; sequence <= sequence_; sequence += 2) {
        const format::ReadPoint point{.sequence = SequenceNumber(sequence + 1), .now_micros = now};
        BOOST_REQUIRE_EQUAL(Seen(left, row, point), Seen(all, row, point));
      }
    }
  }

  std::string Seen(const std::vector<const Source*>& sources, const std::string& row,
                   const format::ReadPoint& point) const {
    std::vector<Cell> cells, visible;
    for (const Source* source : sources) {
      const auto found = source->find(row);
      if (found == source->end()) continue;
      cells.insert(cells.end(), found->second.begin(), found->second.end());
    }
    format::SortCells(cells);
    format::VisibleCells(cells, families_, point, &visible);
    std::string text;
    for (const Cell& cell : visible) text += std::to_string(cell.sequence.value) + " ";
    return text;
  }

  TestRandom& random_;
  std::vector<FamilyRecord> families_;
  uint64_t sequence_ = 1;
  std::vector<Source> files_;
  Source later_;
};

BOOST_AUTO_TEST_CASE(NoReadSeesWhetherExpiredFilesAreThere) {
  TestRandom random("expired/NoReadSeesWhetherExpiredFilesAreThere");
  const size_t trials = Trials(4000);
  size_t gone = 0;
  for (size_t i = 0; i < trials; ++i) gone += RandomFiles(&random).Check();
  BOOST_TEST(gone > trials / 4);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
