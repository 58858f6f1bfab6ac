// The small languages of the command line, the row key template and the suggestions.
#define BOOST_TEST_DYN_LINK
#include "tools/tandem/declarations.h"

#include <boost/test/unit_test.hpp>

#include "test/support/print.h"
#include "tools/tandem/row_key_template.h"
#include "tools/tandem/suggest.h"

namespace tandem::test {
namespace {

std::string Describe(const Result<IndexOptions>& index) {
  if (!index.has_value()) return index.error().ToString();
  const IndexColumn& column = index->columns.at(0);
  return index->name + "=" + column.family + ":" + column.qualifier + ":" +
         std::string(ColumnTypeName(column.type)) + (column.descending ? ":desc" : "");
}

BOOST_AUTO_TEST_SUITE(declarations)

BOOST_AUTO_TEST_CASE(IndexesHaveNameColumnTypeAndDirection) {
  BOOST_CHECK_EQUAL(Describe(tools::ParseIndex("i=d:c")), "i=d:c:bytes");
  BOOST_CHECK_EQUAL(Describe(tools::ParseIndex("i=d:c:int64")), "i=d:c:int64");
  BOOST_CHECK_EQUAL(Describe(tools::ParseIndex("i=d:c:int64_be:desc")), "i=d:c:int64_be:desc");
  BOOST_CHECK_EQUAL(Describe(tools::ParseIndex("i=d:c:desc")), "i=d:c:bytes:desc");
  BOOST_CHECK_EQUAL(Describe(tools::ParseIndex("i=d:desc")), "i=d:desc:bytes");
  BOOST_CHECK_EQUAL(Describe(tools::ParseIndex("i=c")), "i=:c:bytes");
  // As in a predicate.
  BOOST_CHECK_EQUAL(Describe(tools::ParseIndex("i=c::int64")), "i=:c:int64");
  BOOST_CHECK_EQUAL(Describe(tools::ParseIndex("i=d:c::int64 DESC")), "i=d:c:int64:desc");
  BOOST_CHECK_EQUAL(Describe(tools::ParseIndex("i=c desc")), "i=:c:bytes:desc");
  BOOST_CHECK_EQUAL(Describe(tools::ParseIndex("i=d:c ASC")), "i=d:c:bytes");
  BOOST_CHECK_EQUAL(Describe(tools::ParseIndex("i\\x3d=d\\x3a:c\\x2c\\x00")),
                    std::string("i==d::c,\0:bytes", 15));
}

BOOST_AUTO_TEST_CASE(MalformedIndexesAreRefused) {
  for (const char* wrong :
       {"", "i", "=d:c", "i=", "i=d:c:int64:up", "i=d:c:int64:desc:x", "i=d:c:\\x0"}) {
    BOOST_CHECK_MESSAGE(!tools::ParseIndex(wrong).has_value(), wrong);
  }
  BOOST_CHECK_EQUAL(tools::ParseIndex("i=d:c:int46").error().message(),
                    "type 'int46' is not known; did you mean 'int64'?; types: bytes, text, int64, "
                    "uint64, double, bool, timestamp, int64_be, uint64_be, double_be, bool_be, "
                    "timestamp_be");
}

BOOST_AUTO_TEST_CASE(FamiliesHaveSettings) {
  const auto family = tools::ParseFamily("d,versions=3,ttl=7d,compression=none,block-size=16KiB");
  BOOST_REQUIRE(family.has_value());
  BOOST_CHECK_EQUAL(family->name, "d");
  BOOST_CHECK_EQUAL(family->max_versions, 3);
  BOOST_CHECK_EQUAL(family->ttl_micros, 604'800'000'000);
  BOOST_CHECK(family->compression == Compression::kNone);
  BOOST_CHECK_EQUAL(family->block_size_bytes, 16384);
  for (const char* wrong :
       {"", ",versions=1", "d,versions=0", "d,versions=x", "d,ttl=7", "d,compression=lz4",
        "d,colour=red", "d,versions=3B", "d,block-size=99GiB"}) {
    BOOST_CHECK_MESSAGE(!tools::ParseFamily(wrong).has_value(), wrong);
  }
}

BOOST_AUTO_TEST_CASE(ColumnsHaveAFamilyOrMeanTheFirst) {
  const auto chosen = tools::ParseColumns("a,d:b,c,e:\\x2c,e:*,d:\\x2a,f\\x3a:*");
  BOOST_REQUIRE(chosen.has_value());
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"", "a"}, {"d", "b"}, {"", "c"}, {"e", ","}, {"d", "*"}};
  BOOST_REQUIRE_EQUAL(chosen->columns.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    BOOST_CHECK_EQUAL(chosen->columns[i].family, expected[i].first);
    BOOST_CHECK_EQUAL(chosen->columns[i].qualifier, expected[i].second);
  }
  BOOST_CHECK(chosen->families == (std::vector<std::string>{"e", "f:"}));
  BOOST_CHECK(!tools::ParseColumns("a:b:c").has_value());
  BOOST_CHECK(!tools::ParseColumns("*").has_value());
  BOOST_CHECK(tools::ParseColumns("")->columns.empty() &&
              tools::ParseColumns("")->families.empty());
}

BOOST_AUTO_TEST_CASE(KeysAreSeparatedByCommas) {
  BOOST_CHECK(
      *tools::ParseKeys("a,b\\x2c,0x00ff,base64:AA==") ==
      (std::vector<std::string>{"a", "b,", std::string("\0\xff", 2), std::string(1, '\0')}));
  BOOST_CHECK(tools::ParseKeys("")->empty());
  for (const char* wrong : {",a", "a,,b", "a,", "a,0x1"}) {
    BOOST_CHECK_MESSAGE(!tools::ParseKeys(wrong).has_value(), wrong);
  }
}

BOOST_AUTO_TEST_CASE(TimesAreMicrosecondsOrRfc3339) {
  BOOST_CHECK_EQUAL(*tools::ParseTime("--as-of", "-5"), -5);
  BOOST_CHECK_EQUAL(*tools::ParseTime("--as-of", "1970-01-02T00:00:00Z"), 86'400'000'000);
  BOOST_CHECK_EQUAL(tools::ParseTime("--as-of", "tomorrow").error().message(),
                    "--as-of 'tomorrow': expected microseconds since 1970, or a time such as "
                    "2026-11-20T10:11:12Z");
}

BOOST_AUTO_TEST_CASE(CellsSplitAtTheFirstEqualsSign) {
  const auto cell = tools::ParseCell("d:url=http://x/?a=b");
  BOOST_REQUIRE(cell.has_value());
  BOOST_CHECK_EQUAL(cell->column.family, "d");
  BOOST_CHECK_EQUAL(cell->column.qualifier, "url");
  BOOST_CHECK_EQUAL(cell->value, "http://x/?a=b");
  BOOST_CHECK_EQUAL(tools::ParseCell("d:\\x3d=0x41")->value, "A");
  BOOST_CHECK_EQUAL(tools::ParseCell("d:\\x3d=0x41")->column.qualifier, "=");
  BOOST_CHECK_EQUAL(tools::ParseCell("d:=")->column.qualifier, "");
  BOOST_CHECK(!tools::ParseCell("d:x").has_value());
  BOOST_CHECK(!tools::ParseCell("a:b:c=1").has_value());
}

BOOST_AUTO_TEST_CASE(ScopesAreFamiliesOrColumns) {
  BOOST_CHECK(tools::ParseScope("d")->whole_family);
  BOOST_CHECK_EQUAL(tools::ParseScope("d")->family, "d");
  BOOST_CHECK(!tools::ParseScope("d:")->whole_family);
  BOOST_CHECK_EQUAL(tools::ParseScope("d:c")->qualifier, "c");
}

BOOST_AUTO_TEST_CASE(OrdersHaveADirection) {
  const std::vector<std::string> names{"a", "b,c", "d"};
  BOOST_CHECK(*tools::ParseIndexNames("a,b\\x2cc,d") == names);
  BOOST_CHECK(tools::ParseIndexNames("")->empty());
  BOOST_CHECK(!tools::ParseIndexNames("a,,b").has_value());
  BOOST_CHECK(!tools::ParseOrder("i")->descending);
  BOOST_CHECK(tools::ParseOrder("i:desc")->descending);
  BOOST_CHECK_EQUAL(tools::ParseOrder("i\\x3a:asc")->index, "i:");
  BOOST_CHECK(!tools::ParseOrder("i:desc")->is_columns);
  BOOST_CHECK(tools::ParseOrder("f:c")->is_columns);
  BOOST_CHECK(tools::ParseOrder("lower(c):desc")->descending);
  BOOST_CHECK_EQUAL(tools::ParseOrder("lower(c), f:d DESC")->index, "lower(c), f:d DESC");
  BOOST_CHECK(!tools::ParseOrder("lower(c").has_value());
  for (const char* by_key : {"_row", "_row:asc", "_row ASC", "_row desc", "_row:desc"}) {
    const auto order = tools::ParseOrder(by_key);
    BOOST_REQUIRE(order.has_value());
    BOOST_CHECK(order->index.empty() && !order->is_columns);
    BOOST_CHECK_EQUAL(order->descending, std::string(by_key).find("desc") != std::string::npos);
  }
  BOOST_CHECK(!tools::ParseOrder("_row, c").has_value());
}

BOOST_AUTO_TEST_CASE(ASelectionKeepsItsOrder) {
  const auto texts_of = [](const char* text) {
    const tools::Selection selection = tools::ParseSelection(text).value();
    std::vector<std::string> texts;
    for (const tools::SelectedField& field : selection.fields) {
      const ColumnName& column = field.column;
      texts.push_back(field.expression.empty() ? column.family + "|" + column.qualifier
                                               : field.expression);
    }
    return texts;
  };
  const std::vector<std::string> mixed{"|b", "concat(a, ',', \"x,y\")", "f|c", "a::int64", "_row"};
  BOOST_CHECK(texts_of("b, concat(a, ',', \"x,y\"),f:c,a::int64 ,_row") == mixed);
  BOOST_CHECK(texts_of("f:*").empty());
  BOOST_CHECK(tools::ParseSelection("f:*,lower(a)")->families == std::vector<std::string>{"f"});
  const std::vector<std::string> name{"|lower(a)"};
  BOOST_CHECK(texts_of("lower\\x28a)") == name);
  BOOST_CHECK(texts_of("").empty());
  BOOST_CHECK(!tools::ParseSelection("*").has_value());
}

BOOST_AUTO_TEST_CASE(SizesAndDurationsHaveUnits) {
  BOOST_CHECK_EQUAL(*tools::ParseSize("8192"), 8192);
  BOOST_CHECK_EQUAL(*tools::ParseSize("64MiB"), 64u << 20);
  BOOST_CHECK_EQUAL(*tools::ParseSize("1KB"), 1000);
  BOOST_CHECK_EQUAL(*tools::ParseDuration("250ms"), 250'000);
  BOOST_CHECK_EQUAL(*tools::ParseDuration("10s"), 10'000'000);
  for (const char* wrong : {"", "x", "1X", "-1", "99999999999GiB", "1 KiB"}) {
    BOOST_CHECK_MESSAGE(!tools::ParseSize(wrong).has_value(), wrong);
  }
  for (const char* wrong : {"", "7", "7 d", "999999999999d"}) {
    BOOST_CHECK_MESSAGE(!tools::ParseDuration(wrong).has_value(), wrong);
  }
}

std::string KeyOf(std::string_view text) {
  const tools::Field fields[] = {{"Package", "bash"}, {"Version", "5.2"}, {"Empty", ""}};
  const auto key = tools::RowKeyTemplate::Parse(text);
  if (!key.has_value()) return "refused";
  std::string built;
  const std::string problem = key->Build(fields, &built);
  return problem.empty() ? built : "! " + problem;
}

BOOST_AUTO_TEST_CASE(RowKeysAreFieldsOrTemplates) {
  BOOST_CHECK_EQUAL(KeyOf("Version"), "5.2");
  BOOST_CHECK_EQUAL(KeyOf(""), "bash");
  BOOST_CHECK_EQUAL(KeyOf("{Package}/{Version}"), "bash/5.2");
  BOOST_CHECK_EQUAL(KeyOf("p\\x7b{Package}\\x00x"), std::string("p{bash\0x", 8));
  BOOST_CHECK_EQUAL(KeyOf("{Package}{Empty}"), "bash");
  BOOST_CHECK_EQUAL(KeyOf("{Empty}"), "! its row key is empty");
  BOOST_CHECK_EQUAL(KeyOf("{No}"), "! has no field 'No', which the row key needs");
  for (const char* wrong : {"{", "}", "a}", "{a", "{}", "{a{b}}", "{a}}"}) {
    BOOST_CHECK_EQUAL(KeyOf(wrong), "refused");
  }
}

BOOST_AUTO_TEST_CASE(DistancesCountSwapsAsOne) {
  BOOST_CHECK_EQUAL(tools::EditDistance("", "abc"), 3);
  BOOST_CHECK_EQUAL(tools::EditDistance("query", "qurey"), 1);
  BOOST_CHECK_EQUAL(tools::EditDistance("kitten", "sitting"), 3);
  BOOST_CHECK_EQUAL(tools::EditDistance("same", "same"), 0);
}

BOOST_AUTO_TEST_CASE(OnlyNearWordsAreSuggested) {
  const std::vector<std::string> known = {"import", "info", "query", "compact"};
  BOOST_CHECK_EQUAL(tools::DidYouMean("qurey", known), "; did you mean 'query'?");
  BOOST_CHECK_EQUAL(tools::DidYouMean("comp", known), "; did you mean 'compact'?");
  BOOST_CHECK_EQUAL(tools::DidYouMean("bogus", known), "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
