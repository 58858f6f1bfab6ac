// Lists of ordinals in every form: bytes as documented, round trips at every density, and hostile
// bytes, which yield a refusal or a valid list and never a bad access.
#define BOOST_TEST_DYN_LINK
#include "index/postings.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <iterator>
#include <set>

#include "test/support/hex.h"
#include "test/support/test_random.h"

namespace tandem::format {
namespace {

using test::FromHex;
using test::Hex;
using test::TestRandom;

using Ordinals = std::vector<uint32_t>;

enum class Form { kSmall, kBlocked, kRoaring };
constexpr Form kForms[] = {Form::kSmall, Form::kBlocked, Form::kRoaring};

std::string Encode(Form form, const Ordinals& ordinals) {
  std::string bytes;
  if (form == Form::kSmall) AppendSmallList(ordinals, &bytes);
  if (form == Form::kBlocked) AppendBlockedList(ordinals, &bytes);
  if (form == Form::kRoaring) AppendRoaringList(ordinals, &bytes);
  return bytes;
}

bool Decode(Form form, ListBounds bounds, std::string_view bytes, Ordinals* out) {
  if (form == Form::kBlocked) return ReadBlockedList(bounds, bytes, out);
  if (form == Form::kRoaring) return ReadRoaringList(bounds, bytes, out);
  ByteReader reader(bytes);
  return ReadSmallList(bounds, &reader, out) && reader.done();
}

ListBounds BoundsOf(const Ordinals& ordinals, uint32_t row_count) {
  return {static_cast<uint32_t>(ordinals.size()), row_count};
}

// Ordinals below `row_count`: scattered with that many of a thousand, or in runs.
Ordinals RandomOrdinals(TestRandom* random, uint32_t row_count) {
  Ordinals ordinals;
  const uint64_t density = 1 + random->Below(1000);
  const bool in_runs = random->OneIn(3);
  bool in_run = false;
  for (uint32_t ordinal = 0; ordinal < row_count; ++ordinal) {
    if (!in_runs || random->OneIn(500)) in_run = random->Below(1000) < density;
    if (in_run) ordinals.push_back(ordinal);
  }
  if (ordinals.empty()) ordinals.push_back(row_count - 1);
  return ordinals;
}

BOOST_AUTO_TEST_SUITE(PostingsSuite)

BOOST_AUTO_TEST_CASE(ListsAreAsDocumented) {
  BOOST_TEST(Hex(Encode(Form::kSmall, {5, 6, 300})) == "05 00 A5 02");
  BOOST_TEST(Hex(Encode(Form::kBlocked, {3, 4, 8})) == "08 00 00 00 02 33");
  Ordinals two_blocks;
  for (uint32_t i = 0; i < 130; ++i) two_blocks.push_back(i * 2);
  BOOST_TEST(Hex(Encode(Form::kBlocked, two_blocks)) ==
             "FE 00 00 00 02 01 00 00 01 01 FE FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF 03");
  std::string place;
  AppendListPlace({ListForm::kRoaring, 300, 5}, &place);
  BOOST_TEST(Hex(place) == "03 AC 02 05");
}

BOOST_AUTO_TEST_CASE(RoaringListsAreOfThePublicForm) {
  // One array container: cookie 12346, 1 container; key 0, cardinality - 1; offset 16; values.
  BOOST_TEST(Hex(Encode(Form::kRoaring, {1, 5, 9})) ==
             "3A 30 00 00 01 00 00 00 00 00 02 00 10 00 00 00 01 00 05 00 09 00");
  // One run container: cookie 12347, a byte of run flags, key and cardinality - 1, no offsets.
  Ordinals run;
  for (uint32_t i = 10; i < 110; ++i) run.push_back(i);
  BOOST_TEST(Hex(Encode(Form::kRoaring, run)) == "3B 30 00 00 01 00 00 63 00 01 00 0A 00 63 00");
}

BOOST_AUTO_TEST_CASE(EveryFormReadsWhatItWrote) {
  TestRandom random("EveryFormReadsWhatItWrote");
  for (int i = 0; i < 60; ++i) {
    const uint32_t row_count = static_cast<uint32_t>(1 + random.Below(i % 2 == 0 ? 1000 : 300'000));
    const Ordinals ordinals = RandomOrdinals(&random, row_count);
    for (const Form form : kForms) {
      Ordinals out{77};
      BOOST_REQUIRE(Decode(form, BoundsOf(ordinals, row_count), Encode(form, ordinals), &out));
      BOOST_REQUIRE(out.size() == ordinals.size() + 1);
      BOOST_REQUIRE(std::equal(ordinals.begin(), ordinals.end(), out.begin() + 1));
    }
  }
}

BOOST_AUTO_TEST_CASE(APartOfAListIsWhatLiesInIt) {
  TestRandom random("APartOfAListIsWhatLiesInIt");
  for (int i = 0; i < 200; ++i) {
    const uint32_t row_count = static_cast<uint32_t>(1 + random.Below(i % 2 == 0 ? 1000 : 300'000));
    const Ordinals ordinals = RandomOrdinals(&random, row_count);
    ListBounds bounds = BoundsOf(ordinals, row_count);
    bounds.wanted.low = static_cast<uint32_t>(random.Below(row_count + 1));
    bounds.wanted.high =
        bounds.wanted.low + static_cast<uint32_t>(random.Below(row_count + 10 - bounds.wanted.low));
    Ordinals expected{77};
    std::copy_if(ordinals.begin(), ordinals.end(), std::back_inserter(expected),
                 [&](uint32_t ordinal) { return bounds.wanted.Contains(ordinal); });
    for (const Form form : kForms) {
      Ordinals out{77};
      BOOST_REQUIRE(Decode(form, bounds, Encode(form, ordinals), &out));
      BOOST_REQUIRE(out == expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(LargestOrdinalsFit) {
  const uint32_t row_count = 0x7fffffff;
  const Ordinals ordinals{0, 1, 70'000, 0x40000000, row_count - 1};
  for (const Form form : kForms) {
    Ordinals out;
    BOOST_REQUIRE(Decode(form, BoundsOf(ordinals, row_count), Encode(form, ordinals), &out));
    BOOST_TEST(out == ordinals, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(WrongCountAndTooLargeOrdinalsAreRefused) {
  TestRandom random("WrongCountAndTooLargeOrdinalsAreRefused");
  for (int i = 0; i < 50; ++i) {
    const uint32_t row_count = i % 2 == 0 ? 2000 : 150'000;
    const Ordinals ordinals = RandomOrdinals(&random, row_count);
    const ListBounds bounds = BoundsOf(ordinals, row_count);
    for (const Form form : kForms) {
      const std::string bytes = Encode(form, ordinals);
      Ordinals out;
      BOOST_TEST(!Decode(form, {bounds.count + 1, row_count}, bytes, &out));
      if (bounds.count > 1) BOOST_TEST(!Decode(form, {bounds.count - 1, row_count}, bytes, &out));
      BOOST_TEST(!Decode(form, {bounds.count, ordinals.back()}, bytes, &out));
      BOOST_TEST(!Decode(form, bounds, bytes + '\0', &out));
      BOOST_TEST(!Decode(form, bounds, bytes.substr(0, bytes.size() - 1), &out));
    }
  }
}

BOOST_AUTO_TEST_CASE(ChangedBytesGiveARefusalOrAValidList) {
  TestRandom random("ChangedBytesGiveARefusalOrAValidList");
  for (int i = 0; i < 20'000; ++i) {
    static Ordinals ordinals;
    if (i % 100 == 0) ordinals = RandomOrdinals(&random, i % 200 == 0 ? 500 : 150'000);
    const uint32_t row_count = ordinals.back() + 1 + static_cast<uint32_t>(random.Below(2));
    for (const Form form : kForms) {
      if (form == Form::kSmall && ordinals.size() > 1000) continue;
      static std::string bytes;
      bytes = Encode(form, ordinals);
      for (uint64_t changes = 1 + random.Below(3); changes > 0; --changes) {
        // Mostly in the headers, where the sizes are.
        const size_t at =
            random.Below(random.OneIn(2) ? bytes.size() : std::min<size_t>(bytes.size(), 24));
        bytes[at] =
            static_cast<char>(random.OneIn(2) ? random.Next() : bytes[at] ^ (1 << random.Below(8)));
      }
      Ordinals out;
      if (!Decode(form, BoundsOf(ordinals, row_count), bytes, &out)) continue;
      BOOST_REQUIRE(out.size() == ordinals.size());
      BOOST_REQUIRE(std::is_sorted(out.begin(), out.end(), std::less_equal<>()));
      BOOST_REQUIRE(out.back() < row_count);
    }
    if (ordinals.size() > 20'000) i += 90;
  }
}

BOOST_AUTO_TEST_CASE(NonsensePlacesAreRefused) {
  const auto read = [](std::string_view hex) {
    const std::string bytes = FromHex(hex);
    ByteReader reader(bytes);
    ListPlace place;
    return ReadListPlace({100, 1000}, &reader, &place);
  };
  BOOST_TEST(read("02 00 05"));
  BOOST_TEST(read("03 00 05"));
  BOOST_TEST(!read("01 00 05"));
  BOOST_TEST(!read("04 00 05"));
  BOOST_TEST(!read("02 00"));
  BOOST_TEST(!read("02 00 FF FF FF 7F"));
  BOOST_TEST(!read("03 00 FF FF FF 7F"));
}

BOOST_AUTO_TEST_CASE(FormFollowsDensity) {
  BOOST_TEST((FormOf({65, 65 * 32}) == ListForm::kBlocked));
  BOOST_TEST((FormOf({66, 65 * 32}) == ListForm::kRoaring));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format
