// The ordinals of a value, read by chunks: what reading all of them gives, at the cost of a few
// chunks; and hostile bytes.
#define BOOST_TEST_DYN_LINK
#include "index/value_ordinals.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <iterator>

#include "test/support/test_random.h"

namespace tandem::format {
namespace {

using test::TestRandom;
using Ordinals = std::vector<uint32_t>;

// A list in memory that counts the bytes that are read of it.
struct StoredList {
  std::string bytes = {};
  ListBounds bounds = {};
  ListForm form = ListForm::kBlocked;
  uint64_t bytes_read = 0;

  Result<ValueOrdinals> Open() {
    const ListPlace place{form, 0, bytes.size()};
    return ValueOrdinals::Open(
        place, bounds,
        [this](uint64_t offset, uint64_t size) -> Result<std::string_view> {
          BOOST_REQUIRE_LE(offset + size, bytes.size());
          bytes_read += size;
          return std::string_view(bytes).substr(offset, size);
        },
        [] { return Status::Corruption("broken list"); });
  }
};

StoredList Store(ListForm form, const Ordinals& ordinals, uint32_t row_count) {
  StoredList list{.bounds = {static_cast<uint32_t>(ordinals.size()), row_count}, .form = form};
  form == ListForm::kBlocked ? AppendBlockedList(ordinals, &list.bytes)
                             : AppendRoaringList(ordinals, &list.bytes);
  return list;
}

// Scattered with one in `gap`, or in runs.
Ordinals RandomOrdinals(TestRandom* random, uint32_t row_count, uint32_t gap, bool in_runs) {
  Ordinals ordinals;
  bool in_run = false;
  for (uint32_t ordinal = 0; ordinal < row_count; ++ordinal) {
    if (!in_runs || random->OneIn(1000)) in_run = random->OneIn(gap);
    if (in_run) ordinals.push_back(ordinal);
  }
  if (ordinals.empty()) ordinals.push_back(row_count - 1);
  return ordinals;
}

// Of all rows one in `gap`, and some that the list has.
Ordinals RandomSought(const Ordinals& ordinals, uint32_t row_count, TestRandom* random) {
  Ordinals sought;
  const uint64_t gap = 1 + random->Below(1 + row_count / 10);
  for (uint64_t at = random->Below(gap); at < row_count; at += 1 + random->Below(2 * gap)) {
    if (random->OneIn(2)) {
      sought.push_back(ordinals[random->Below(ordinals.size())]);
    } else {
      sought.push_back(static_cast<uint32_t>(at));
    }
  }
  std::ranges::sort(sought);
  sought.erase(std::ranges::unique(sought).begin(), sought.end());
  return sought;
}

void CheckCommon(ValueOrdinals* list, const Ordinals& ordinals, const Ordinals& sought) {
  Ordinals wanted, found;
  std::ranges::set_intersection(ordinals, sought, std::back_inserter(wanted));
  BOOST_REQUIRE(list->AppendCommon(sought, &found).ok());
  BOOST_REQUIRE(found == wanted);
}

void CheckSame(ValueOrdinals* list, const Ordinals& ordinals, uint32_t row_count,
               TestRandom* random) {
  BOOST_REQUIRE_EQUAL(list->count(), ordinals.size());
  for (int i = 0; i < 50; ++i) {
    const auto rank = static_cast<uint32_t>(random->Below(ordinals.size()));
    BOOST_REQUIRE_EQUAL(*list->At(rank), ordinals[rank]);
    const auto ordinal = static_cast<uint32_t>(random->Below(row_count + 1));
    const auto below = std::ranges::lower_bound(ordinals, ordinal) - ordinals.begin();
    BOOST_REQUIRE_EQUAL(*list->RankOf(ordinal), static_cast<uint32_t>(below));
    const OrdinalRange rows{ordinal, static_cast<uint32_t>(ordinal + random->Below(row_count))};
    Ordinals wanted, found;
    std::ranges::copy_if(ordinals, std::back_inserter(wanted),
                         [&](uint32_t at) { return rows.Contains(at); });
    BOOST_REQUIRE(list->Append(rows, &found).ok());
    BOOST_REQUIRE(found == wanted);
  }
  for (int i = 0; i < 10; ++i) {
    CheckCommon(list, ordinals, RandomSought(ordinals, row_count, random));
  }
  CheckCommon(list, ordinals, {});
  CheckCommon(list, ordinals, {ordinals.front()});
  CheckCommon(list, ordinals, {ordinals.back()});
}

BOOST_AUTO_TEST_SUITE(ValueOrdinalsSuite)

BOOST_AUTO_TEST_CASE(EveryFormIsReadByItsChunks) {
  TestRandom random("a value's ordinals");
  for (const uint32_t row_count : {100u, 70'000u, 300'000u}) {
    for (const uint32_t gap : {1u, 2u, 20u, 5'000u}) {
      for (const bool in_runs : {false, true}) {
        const Ordinals ordinals = RandomOrdinals(&random, row_count, gap, in_runs);
        for (const ListForm form : {ListForm::kBlocked, ListForm::kRoaring}) {
          StoredList stored = Store(form, ordinals, row_count);
          Result<ValueOrdinals> list = stored.Open();
          BOOST_REQUIRE(list.has_value());
          CheckSame(&*list, ordinals, row_count, &random);
        }
        ValueOrdinals given(ordinals);
        CheckSame(&given, ordinals, row_count, &random);
      }
    }
  }
  ValueOrdinals none;
  BOOST_CHECK_EQUAL(none.count(), 0u);
  BOOST_CHECK_EQUAL(*none.RankOf(7), 0u);
}

BOOST_AUTO_TEST_CASE(OneLookUpReadsOneChunk) {
  constexpr uint32_t kRows = 1 << 20;
  TestRandom random("a value's ordinals");
  const Ordinals ordinals = RandomOrdinals(&random, kRows, 10, false);
  for (const ListForm form : {ListForm::kBlocked, ListForm::kRoaring}) {
    StoredList stored = Store(form, ordinals, kRows);
    Result<ValueOrdinals> list = stored.Open();
    BOOST_REQUIRE(list.has_value());
    BOOST_CHECK_EQUAL(*list->At(50'000), ordinals[50'000]);
    BOOST_CHECK_LT(stored.bytes_read, stored.bytes.size() / 8);
    const uint64_t before = stored.bytes_read;
    BOOST_CHECK_EQUAL(*list->RankOf(ordinals[50'000]), 50'000u);
    BOOST_CHECK_EQUAL(stored.bytes_read, before);
    CheckCommon(&*list, ordinals, {7, ordinals[90'000], kRows - 1});
    BOOST_CHECK_LT(stored.bytes_read - before, stored.bytes.size() / 4);
  }
}

// What is read of a changed list ascends and is within bounds, or it is refused.
BOOST_AUTO_TEST_CASE(BrokenListsAreRefusedOrInBounds) {
  TestRandom random("a value's ordinals");
  uint32_t refused = 0;
  for (int round = 0; round < 3000; ++round) {
    const uint32_t row_count = 1 + static_cast<uint32_t>(random.Below(300'000));
    const auto gap = static_cast<uint32_t>(1 + random.Below(3000));
    const ListForm form = random.OneIn(2) ? ListForm::kBlocked : ListForm::kRoaring;
    StoredList stored =
        Store(form, RandomOrdinals(&random, std::min(row_count, 5'000u), gap, false), row_count);
    for (uint64_t changes = 1 + random.Below(3); changes > 0; --changes) {
      stored.bytes[random.Below(std::min<size_t>(stored.bytes.size(), 64))] =
          static_cast<char>(random.Below(256));
    }
    if (random.OneIn(4)) stored.bytes.resize(random.Below(stored.bytes.size()) + 1);
    Result<ValueOrdinals> list = stored.Open();
    Ordinals all;
    const Ordinals sought = {0, row_count / 3, row_count - 1};
    if (Ordinals found; list.has_value() && list->AppendCommon(sought, &found).ok()) {
      BOOST_REQUIRE(std::ranges::includes(sought, found));
    }
    if (!list.has_value() || !list->Append({}, &all).ok()) {
      ++refused;
      continue;
    }
    BOOST_REQUIRE(std::ranges::adjacent_find(all, std::ranges::greater_equal()) == all.end());
    BOOST_REQUIRE(all.empty() || all.back() < row_count);
    BOOST_REQUIRE_EQUAL(all.size(), list->count());
  }
  BOOST_CHECK_GT(refused, 100u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format
