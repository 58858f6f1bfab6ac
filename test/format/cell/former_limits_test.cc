// Limits of a family that go down and up again, against a state that applies every operation and
// every change of a limit at once and for good: what reads show must not depend on when merges ran.
// The sources of one row are kept as the engine keeps them: flushed before each change, merged in
// any order, with sequences that merges forget.
#include "format/cell/visibility.h"

#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>

namespace tandem::format {
namespace {

using Cells = std::vector<Cell>;
/// By qualifier, then timestamp, the newest first.
using State = std::map<std::string_view, std::map<int64_t, std::string_view, std::greater<>>>;

constexpr std::string_view kQualifiers[] = {"a", "b"};
constexpr std::string_view kValues[] = {"1", "2", "3", "4", "5"};
constexpr int64_t kForever = std::numeric_limits<int64_t>::max() / 2;

State Shown(const Cells& cells) {
  State state;
  for (const Cell& cell : cells) state[cell.qualifier][cell.timestamp] = cell.value;
  return state;
}

std::string Describe(const State& state) {
  std::string text;
  for (const auto& [qualifier, versions] : state) {
    for (const auto& [timestamp, value] : versions) {
      text +=
          std::string(qualifier) + "@" + std::to_string(timestamp) + "=" + std::string(value) + " ";
    }
  }
  return text;
}

struct Source {
  Cells cells;
  uint64_t min = 0, max = 0;
};

class World {
 public:
  explicit World(uint64_t seed) : random_(seed) {
    families_.push_back({FamilyId(0), {.name = "f", .max_versions = 1 + Below(3)}});
    if (Below(2) == 0) family().options.ttl_micros = 3 + Below(3);
  }

  void Step() {
    const uint32_t choice = Below(20);
    if (Below(4) == 0) now_ += Below(3);
    if (choice < 11) return Operate();
    if (choice < 13) return Flush();
    if (choice < 16) return Merge();
    if (choice < 18) return Alter();
    if (choice == 18) {
      snapshots_.push_back({sequence_, now_, altered_, state_});
    } else if (!snapshots_.empty()) {
      snapshots_.erase(snapshots_.begin() + Below(static_cast<uint32_t>(snapshots_.size())));
    }
  }

  /// What differs from the state; empty: nothing.
  std::string Difference() const {
    const std::string present = Compare(kSequenceMax, now_, state_);
    if (!present.empty()) return present;
    for (const Snapshot& snapshot : snapshots_) {
      if (snapshot.altered != altered_) continue;  // It reads what was before the change.
      const std::string past =
          Compare(SequenceNumber(snapshot.sequence), snapshot.now, snapshot.state);
      if (!past.empty()) return "at snapshot " + std::to_string(snapshot.sequence) + ": " + past;
    }
    return {};
  }
  size_t changes() const { return changes_; }
  const std::string& log() const { return log_; }

 private:
  struct Snapshot {
    uint64_t sequence;
    int64_t now;
    int altered;
    State state;
  };

  uint32_t Below(uint32_t limit) { return static_cast<uint32_t>(random_() % limit); }
  FamilyRecord& family() { return families_[0]; }
  void Note(const std::string& what) { log_ += "\n  " + what; }

  static State Alive(State state, const FamilyOptions& options, int64_t now) {
    if (options.ttl_micros == 0) return state;
    for (auto& [qualifier, versions] : state) {
      std::erase_if(versions,
                    [&](const auto& version) { return version.first + options.ttl_micros <= now; });
    }
    return state;
  }
  static void DropEmpty(State* state) {
    std::erase_if(*state, [](const auto& column) { return column.second.empty(); });
  }

  std::string Compare(SequenceNumber sequence, int64_t now, State expected) const {
    Cells all = memstore_, visible;
    for (const Source& source : sources_) {
      all.insert(all.end(), source.cells.begin(), source.cells.end());
    }
    std::sort(all.begin(), all.end(), CellLess);
    VisibleCells(all, families_, {.sequence = sequence, .now_micros = now}, &visible);
    expected = Alive(std::move(expected), families_[0].options, now);
    DropEmpty(&expected);
    const State found = Shown(visible);
    if (found == expected) return {};
    return "expected " + Describe(expected) + ", found " + Describe(found);
  }

  void Add(CellKind kind, std::string_view qualifier, int64_t timestamp, std::string_view value) {
    memstore_.push_back(
        {kind, FamilyId(0), qualifier, timestamp, SequenceNumber(sequence_), value});
  }

  void Operate() {
    ++sequence_;
    const std::string_view qualifier = kQualifiers[Below(2)];
    const int64_t timestamp = 1 + Below(7);
    auto& versions = state_[qualifier];
    const uint32_t choice = Below(8);
    Note(std::to_string(sequence_) + ": operation " + std::to_string(choice) + " " +
         std::string(qualifier) + "@" + std::to_string(timestamp));
    if (choice == 0) return DeleteCell(qualifier, timestamp);
    if (choice == 1) {
      Add(CellKind::kDeleteColumn, qualifier, timestamp, "");
      std::erase_if(versions, [&](const auto& version) { return version.first <= timestamp; });
    } else if (choice == 2) {
      Add(CellKind::kDeleteFamily, "", timestamp, "");
      for (auto& [other, all] : state_) {
        std::erase_if(all, [&](const auto& version) { return version.first <= timestamp; });
      }
    } else {
      const std::string_view value = kValues[sequence_ % 5];
      Add(CellKind::kPut, qualifier, timestamp, value);
      versions[timestamp] = value;
      if (versions.size() > family().options.max_versions)
        versions.erase(std::prev(versions.end()));
    }
  }

  // By rule 3 of docs/index-rules.md.
  void DeleteCell(std::string_view qualifier, int64_t timestamp) {
    const auto visible = Alive(state_, family().options, now_)[qualifier];
    const auto hit = visible.find(timestamp);
    if (hit == visible.end()) return;
    Add(CellKind::kDeleteCell, qualifier, timestamp, "");
    if (visible.size() >= family().options.max_versions) {
      Add(CellKind::kDeleteColumn, qualifier, visible.rbegin()->first - 1, "");
    }
    const auto next = std::next(hit);
    if (hit == visible.begin() && next != visible.end()) {
      Add(CellKind::kPut, qualifier, next->first, next->second);
    }
    state_[qualifier].erase(timestamp);
  }

  std::vector<SequenceNumber> Registered() const {
    std::vector<SequenceNumber> registered;
    for (const Snapshot& snapshot : snapshots_) registered.emplace_back(snapshot.sequence);
    return registered;
  }
  int64_t OldestNow() const {
    int64_t now = now_;
    for (const Snapshot& snapshot : snapshots_) now = std::min(now, snapshot.now);
    return now;
  }

  void Flush() {
    if (memstore_.empty()) return;
    Note("flush");
    Source source{.cells = {}, .min = sequence_, .max = 0};
    for (const Cell& cell : memstore_) {
      source.min = std::min(source.min, cell.sequence.value);
      source.max = std::max(source.max, cell.sequence.value);
    }
    std::sort(memstore_.begin(), memstore_.end(), CellLess);
    const auto registered = Registered();
    RetainCells(memstore_, {families_, registered, OldestNow(), !sources_.empty()}, &source.cells);
    memstore_.clear();
    sources_.push_back(std::move(source));
  }

  uint64_t LastLimitsBefore(uint64_t sequence) const {
    uint64_t last = 0;
    for (const FormerLimits& limits : families_[0].former_limits) {
      if (limits.changed_at.value < sequence) last = limits.changed_at.value;
    }
    return last;
  }

  void Merge() {
    if (sources_.empty()) return;
    const size_t count = sources_.size(), begin = Below(2) == 0 ? 0 : random_() % count;
    const size_t end = begin + 1 + random_() % (count - begin);
    Note("merge " + std::to_string(begin) + " to " + std::to_string(end) + " of " +
         std::to_string(count));
    Source merged{.cells = {}, .min = sources_[begin].min, .max = 0};
    Cells cells;
    for (size_t i = begin; i < end; ++i) {
      cells.insert(cells.end(), sources_[i].cells.begin(), sources_[i].cells.end());
      merged.min = std::min(merged.min, sources_[i].min);
      merged.max = std::max(merged.max, sources_[i].max);
    }
    std::sort(cells.begin(), cells.end(), CellLess);
    const auto registered = Registered();
    const uint64_t last = LastLimitsBefore(end == count ? kSequenceMax.value : sources_[end].min);
    RetainCells(cells, {families_, registered, OldestNow(), begin > 0, SequenceNumber(last)},
                &merged.cells);
    if (begin == 0 && registered.empty()) {
      for (Cell& cell : merged.cells) cell.sequence = SequenceNumber(last);
      merged.min = std::max(merged.min, last);
      merged.max = std::max(merged.max, last);
    }
    const auto first = sources_.begin() + static_cast<std::ptrdiff_t>(begin);
    sources_.erase(first, first + static_cast<std::ptrdiff_t>(end - begin));
    sources_.insert(sources_.begin() + static_cast<std::ptrdiff_t>(begin), std::move(merged));
  }

  // As the engine does, which the model test checks: here what has to follow from it.
  void Alter() {
    FamilyOptions options = family().options;
    options.max_versions = 1 + Below(4);
    if (Below(2) == 0) options.ttl_micros = Below(3) == 0 ? 0 : 2 + Below(6);
    const FamilyOptions& now = family().options;
    const bool leaves_former =
        options.max_versions != now.max_versions || LivesLonger(options, now);
    if (leaves_former) {
      Flush();
      ++sequence_;
      ++changes_;
    }
    Note(std::to_string(sequence_) + ": alter to " + std::to_string(options.max_versions) +
         " versions, time to live " + std::to_string(options.ttl_micros));
    const std::optional<int64_t> expired = family().ExpiredThrough(now_);
    FormerLimits former{.changed_at = SequenceNumber(sequence_)};
    if (options.max_versions != now.max_versions) former.max_versions = now.max_versions;
    if (LivesLonger(options, now)) former.expired_through = expired;
    std::vector<FormerLimits>& all = family().former_limits;
    for (FormerLimits& limits : all) {
      if (limits.expired_through <= expired) limits.expired_through.reset();
    }
    all.push_back(former);
    uint64_t oldest = kSequenceMax.value;
    for (const Source& source : sources_) oldest = std::min(oldest, source.min);
    std::erase_if(all, [&](const FormerLimits& limits) {
      return (leaves_former && limits.changed_at.value <= oldest) ||
             (!limits.max_versions.has_value() && !limits.expired_through.has_value());
    });
    state_ = Alive(std::move(state_), now, now_);
    for (auto& [qualifier, versions] : state_) {
      while (versions.size() > options.max_versions) versions.erase(std::prev(versions.end()));
    }
    family().options = options;
    ++altered_;
  }

  std::mt19937_64 random_;
  std::vector<FamilyRecord> families_;
  State state_;
  Cells memstore_;
  std::vector<Source> sources_;  // Oldest first.
  std::vector<Snapshot> snapshots_;
  uint64_t sequence_ = 0;
  int64_t now_ = 1;
  int altered_ = 0;
  size_t changes_ = 0;
  std::string log_;
};

BOOST_AUTO_TEST_SUITE(former_limits)

BOOST_AUTO_TEST_CASE(ReadsDoNotDependOnWhenMergesRan) {
  const uint64_t seed = std::random_device{}();
  size_t changes = 0;
  for (uint64_t trial = 0; trial < 20000; ++trial) {
    World world(seed + trial);
    for (int step = 0; step < 40; ++step) {
      world.Step();
      const std::string difference = world.Difference();
      BOOST_REQUIRE_MESSAGE(difference.empty(),
                            "seed " << seed + trial << ": " << difference << world.log());
    }
    changes += world.changes();
  }
  BOOST_TEST(changes > 20000u);
}

Cell Put(int64_t timestamp, uint64_t sequence) {
  return {CellKind::kPut, FamilyId(0), "a", timestamp, SequenceNumber(sequence), "1"};
}

std::vector<int64_t> ShownOf(Cells cells, const FamilyRecord& family, int64_t now = 0) {
  std::sort(cells.begin(), cells.end(), CellLess);
  Cells visible;
  VisibleCells(cells, std::span(&family, 1), {.now_micros = now}, &visible);
  std::vector<int64_t> timestamps;
  for (const Cell& cell : visible) timestamps.push_back(cell.timestamp);
  return timestamps;
}

using Timestamps = std::vector<int64_t>;

BOOST_AUTO_TEST_CASE(WhatWasCutStaysCutAndLaterPutsAreKept) {
  const FamilyRecord family{.id = FamilyId(0),
                            .options = {.name = "f", .max_versions = 3},
                            .former_limits = {{SequenceNumber(10), 1, {}}}};
  BOOST_TEST((ShownOf({Put(7, 1), Put(5, 2)}, family) == Timestamps{7}));
  BOOST_TEST((ShownOf({Put(7, 1), Put(5, 12)}, family) == Timestamps{7, 5}));
  // A Put that replaced the one which had cut others cuts them no less.
  BOOST_TEST((ShownOf({Put(7, 1), Put(5, 2), Put(7, 11)}, family) == Timestamps{7}));
  BOOST_TEST((ShownOf({Put(5, 2), Put(7, 11)}, family) == Timestamps{7, 5}));
  BOOST_TEST(
      (ShownOf({Put(9, 11), Put(8, 12), Put(7, 1), Put(5, 2)}, family) == Timestamps{9, 8, 7}));
}

BOOST_AUTO_TEST_CASE(EachRaiseHasItsLimit) {
  const FamilyRecord family{
      .id = FamilyId(0),
      .options = {.name = "f", .max_versions = 4},
      .former_limits = {{SequenceNumber(10), 1, {}}, {SequenceNumber(20), 2, {}}}};
  BOOST_TEST((ShownOf({Put(9, 1), Put(8, 2), Put(7, 11), Put(6, 12), Put(5, 21), Put(4, 22)},
                      family) == Timestamps{9, 7, 5, 4}));
}

BOOST_AUTO_TEST_CASE(WhatHadExpiredStaysAwayAndAnOldTimestampMayBeWrittenAgain) {
  const FamilyRecord family{.id = FamilyId(0),
                            .options = {.name = "f", .max_versions = 9},
                            .former_limits = {{SequenceNumber(10), {}, 5}}};
  BOOST_TEST((ShownOf({Put(6, 1), Put(5, 2), Put(4, 11)}, family, kForever) == Timestamps{6, 4}));
  BOOST_TEST(*family.ExpiredThrough(0, SequenceNumber(9)) == 5);
  BOOST_TEST(!family.ExpiredThrough(0, SequenceNumber(10)).has_value());
  BOOST_TEST(family.may_expire());
}

// {5, 7} in an older file, where 5 shows alone; the merge of two newer ones may not forget the 7 of
// before the change, though a later one has its place.
BOOST_AUTO_TEST_CASE(AMergeKeepsWhatLimitedOlderSources) {
  const FamilyRecord family{.id = FamilyId(0),
                            .options = {.name = "f", .max_versions = 2},
                            .former_limits = {{SequenceNumber(10), 1, {}}}};
  const Cells cells = {Put(7, 11), Put(7, 2)};
  Cells kept;
  RetainCells(cells, {std::span(&family, 1), {}, 0, true}, &kept);
  BOOST_TEST(kept.size() == 2u);
  kept.clear();
  RetainCells(cells, {std::span(&family, 1), {}, 0, false, SequenceNumber(10)}, &kept);
  BOOST_TEST(kept.size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format
