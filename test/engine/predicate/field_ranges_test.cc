// The ranges that conditions on fields of the row key leave: all that match, and for conditions on
// the first fields nothing else.
#define BOOST_TEST_DYN_LINK
#include "engine/predicate/field_ranges.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/predicate/bound.h"
#include "test/support/print.h"

namespace tandem::engine {
namespace {

const std::vector<std::string> kUsers = {"", "a", "ab", "b"};
const std::vector<std::string> kNumbers = {"-9223372036854775808", "-1", "0", "1", "2", "7"};
const std::vector<std::string> kTags = {"aa", "ab", "b0"};

// A table whose declarations are `leads` before the same fields, the newest first.
struct FieldTable {
  explicit FieldTable(const std::vector<std::string>& leads) {
    table.name = "t";
    table.families.push_back({});
    table.families[0].options.name = "d";
    for (const std::string& lead : leads) {
      const std::string declaration = lead + "user:text, n:int64 desc, tag:bytes(2)";
      (table.row_key.empty() ? table.row_key : table.former_row_keys.emplace_back()) = declaration;
    }
    const RowKeyEpochs epochs = *format::KeysOf(table);
    for (const std::string& user : kUsers) {
      for (const std::string& n : kNumbers) {
        for (const std::string& tag : kTags) {
          const std::vector<RowKeyField> fields = {{"user", user}, {"n", n}, {"tag", tag}};
          std::ranges::move(*epochs.Keys(fields), std::back_inserter(keys));
        }
      }
    }
  }

  BoundPredicate Bound(const char* text) const {
    auto bound = BoundPredicate::Bind(*Predicate::Parse(text), table);
    BOOST_REQUIRE_EQUAL(bound.status().ToString(), "OK");
    return *std::move(bound);
  }
  // Keys in the ranges of the predicate, of which `*matching` match it.
  size_t KeysIn(const char* text, size_t* matching) const {
    BoundPredicate predicate = Bound(text);
    const KeyRanges ranges = RowsByFields(predicate.root());
    size_t count = 0;
    *matching = 0;
    for (const std::string& key : keys) {
      const bool is_in = std::ranges::any_of(
          ranges, [&key](const format::KeyRange& range) { return range.Contains(key); });
      const bool matches = *predicate.Matches(key, {});
      BOOST_CHECK_MESSAGE(is_in || !matches, table.row_key << ": " << text);
      count += is_in ? 1 : 0;
      *matching += matches ? 1 : 0;
    }
    return count;
  }
  void CheckExact(const char* text) const {
    size_t matching = 0;
    const size_t count = KeysIn(text, &matching);
    BOOST_CHECK_MESSAGE(matching > 0, text << " matches nothing");
    BOOST_CHECK_MESSAGE(count == matching, table.row_key << ": " << text << ": " << count
                                                         << " keys, " << matching << " match");
  }

  format::TableRecord table;
  std::vector<std::string> keys;
};

const std::vector<std::vector<std::string>> kLeads = {{""},
                                                      {"salt(3), "},
                                                      {"hash(user, 2), "},
                                                      {"mod(n, 3), "},
                                                      {"salt(2), mod(n, 2), hash(tag, 1), "},
                                                      {"salt(4), ", "mod(n, 3), ", ""}};

}  // namespace

BOOST_AUTO_TEST_SUITE(field_ranges)

BOOST_AUTO_TEST_CASE(ConditionsOnTheFirstFieldsLeaveTheirRowsAlone) {
  for (const std::vector<std::string>& leads : kLeads) {
    const FieldTable table(leads);
    table.CheckExact("_row.user = 'a' AND _row.n = 1 AND _row.tag = 'ab'");
    table.CheckExact("_row.user = 'a' AND _row.n = 1 AND _row.tag IN ('aa', 'b0')");
    const bool needs_tag = leads.front().find("tag") != std::string::npos;
    if (needs_tag) continue;  // Without it the keys may begin with any hash.
    table.CheckExact("_row.user IN ('a', 'b', 'x') AND _row.n IN (-1, 7) AND _row.tag PREFIX 'a'");
    table.CheckExact("_row.user = 'a'");
    table.CheckExact("_row.user = 'ab' AND _row.n BETWEEN -1 AND 2");
    table.CheckExact("_row.user = 'a' AND (_row.n < 0 OR _row.n > 2)");
    table.CheckExact("_row.user = 'a' AND NOT (_row.n <= 0 OR _row.n >= 7 OR _row.n IS NULL)");
    table.CheckExact("_row.user = 'a' AND _row.n = 1 OR _row.user = 'b' AND _row.n > 1");
    const bool needs_user = leads.front().find("user") != std::string::npos;
    if (needs_user) continue;
    table.CheckExact("_row.user > 'a'");
    table.CheckExact("_row.user PREFIX 'a'");
    table.CheckExact("(_row.user, _row.n) > ('a', 1)");
    table.CheckExact("(_row.user, _row.n) BETWEEN ('a', 1) AND ('b', -1)");
  }
}

BOOST_AUTO_TEST_CASE(OthersLeaveAllRowsThatMatch) {
  for (const std::vector<std::string>& leads : kLeads) {
    const FieldTable table(leads);
    for (const char* text :
         {"_row.n = 1", "_row.tag = 'aa'", "_row.user = 'a' AND _row.tag = 'aa'",
          "_row.user = 'a' OR _row.n = 1", "NOT _row.user = 'a'", "_row.user CONTAINS 'b'",
          "_row.user IS NOT NULL", "_row.user = 'a' AND (_row.tag = 'aa' OR _row.n = 1)"}) {
      size_t matching = 0;
      const size_t count = table.KeysIn(text, &matching);
      BOOST_TEST(count >= matching);
      BOOST_TEST(matching > 0U);
    }
  }
}

// The lead that a later field fixes bounds keys without a condition on the first one.
BOOST_AUTO_TEST_CASE(AFieldThatLeadsTheKeyIsEnough) {
  size_t matching = 0;
  const FieldTable table({"mod(n, 3), "});
  const size_t count = table.KeysIn("_row.n = 1", &matching);
  BOOST_TEST(count < table.keys.size());
  BOOST_TEST(matching == kUsers.size() * kTags.size());
}

BOOST_AUTO_TEST_CASE(NoValueLeavesNoRow) {
  const FieldTable table({"salt(3), "});
  BOOST_TEST(RowsByFields(table.Bound("_row.user = 'a' AND _row.user = 'b'").root()).empty());
  BOOST_TEST(RowsByFields(table.Bound("_row.user IN ()").root()).empty());
  BOOST_TEST(RowsByFields(table.Bound("_row.user = 'a' AND _row.n IN ()").root()).empty());
}

BOOST_AUTO_TEST_CASE(ASkipGoesOverTheFieldsBeforeTheNextCondition) {
  const FieldTable table({"salt(3), "});
  const auto skipped = [&table](const char* text) {
    const auto skip = FieldSkip::Find(table.Bound(text).root());
    return skip.has_value() ? std::string(skip->field()) : std::string("none");
  };
  BOOST_TEST(skipped("_row.n = 1") == "user");
  BOOST_TEST(skipped("_row.tag = 'aa'") == "n");
  BOOST_TEST(skipped("_row.user = 'a' AND _row.tag = 'aa'") == "n");
  BOOST_TEST(skipped("_row.user > 'a' AND _row.n = 1") == "user");
  BOOST_TEST(skipped("_row.user = 'a' AND _row.n > 1") == "none");
  BOOST_TEST(skipped("_row.user = 'a'") == "none");
  BOOST_TEST(skipped("_row.n = 1 OR _row.tag = 'aa'") == "none");
  BOOST_TEST(skipped("NOT _row.n = 1") == "none");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::engine
