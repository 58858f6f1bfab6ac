// What Write refuses, and that a refused batch leaves nothing behind.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "tandem/limits.h"
#include "test/engine/test_engine.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

struct TableFixture : TestEngine {
  TableFixture() {
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    TableOptions options = SimpleTable(2);
    options.indexes.push_back(
        {.name = "by_n",
         .columns = {{.family = "d", .qualifier = "n", .type = ColumnType::kInt64}}});
    BOOST_REQUIRE_EQUAL((**this).CreateTable(options).ToString(), "OK");
  }
  std::string Refused(const WriteBatch& batch) {
    const Status status = Write(batch);
    BOOST_CHECK(!status.ok());
    return status.ToString();
  }
};

BOOST_FIXTURE_TEST_SUITE(WriteRules, TableFixture)

BOOST_AUTO_TEST_CASE(UnknownNamesAreNotFound) {
  WriteBatch batch;
  batch.Put("nowhere", "r", "d", "q", "v");
  BOOST_CHECK_EQUAL(Refused(batch), "NotFound: table 'nowhere' does not exist");
  batch.Clear();
  batch.DeleteFamily("t", "r", "other");
  BOOST_CHECK_EQUAL(Refused(batch), "NotFound: table 't' has no family 'other'");
}

BOOST_AUTO_TEST_CASE(LimitsHoldOnBothSides) {
  WriteBatch good;
  good.Put("t", std::string(kRowKeyBytesMax, 'r'), "d", std::string(kQualifierBytesMax, 'q'),
           std::string(kValueBytesMax, 'v'), INT64_MIN);
  good.Put("t", std::string_view("\0", 1), "", "", "", INT64_MAX);
  good.DeleteRow("t", "never written");
  BOOST_CHECK_EQUAL(Write(good).ToString(), "OK");

  WriteBatch batch;
  batch.Put("t", "", "d", "q", "v");
  BOOST_CHECK_EQUAL(Refused(batch), "InvalidArgument: a row key is empty");
  batch.Clear();
  batch.Put("t", std::string(kRowKeyBytesMax + 1, 'r'), "d", "q", "v");
  BOOST_CHECK_EQUAL(Refused(batch), "InvalidArgument: row key '" + std::string(40, 'r') +
                                        "'... (65536 bytes) has 65536 bytes, the limit is 65535");
  batch.Clear();
  batch.DeleteColumn("t", "r", "d", std::string(kQualifierBytesMax + 1, 'q'));
  BOOST_CHECK(Refused(batch).find("the qualifier has 2049 bytes") != std::string::npos);
  batch.Clear();
  batch.Put("t", "r", "d", "q", std::string(kValueBytesMax + 1, 'v'));
  BOOST_CHECK_EQUAL(Refused(batch), "InvalidArgument: row 'r', column 'd:q': the value has " +
                                        std::to_string(kValueBytesMax + 1) +
                                        " bytes, the limit is " + std::to_string(kValueBytesMax));
}

BOOST_AUTO_TEST_CASE(AColumnStandsOnceInAnOperation) {
  WriteBatch batch;
  const std::vector<ColumnValue> twice = {{"a", "1"}, {"b", "2"}, {"a", "3"}};
  batch.PutColumns("t", "r", "d", twice);
  BOOST_CHECK_EQUAL(Refused(batch),
                    "InvalidArgument: row 'r', column 'd:a': the column stands twice in one "
                    "operation");
  batch.Clear();
  batch.PutColumns("t", "r", "d", {});
  BOOST_CHECK_EQUAL(Refused(batch), "InvalidArgument: row 'r': a put without columns");
}

BOOST_AUTO_TEST_CASE(AValueHasToFitItsIndex) {
  WriteBatch batch;
  batch.Put("t", "good", "d", "n", "42");
  batch.Put("t", std::string_view("b\0d", 3), "", "n", "4x2");
  const std::string error = Refused(batch);
  BOOST_CHECK(error.starts_with("InvalidArgument: row 'b\\x00d', column 'd:n', index 'by_n': "));
  BOOST_CHECK(error.find("int64") != std::string::npos);
  batch.Clear();
  batch.Put("t", "r", "d", "c", std::string(kIndexKeyBytesMax, 'v'));
  Refused(batch);
  BOOST_CHECK_EQUAL(Rows(), "");
}

BOOST_AUTO_TEST_CASE(TooMuchForOneBatchIsRefused) {
  const std::string value(kValueBytesMax, 'v');
  WriteBatch batch;
  while (batch.size_bytes() <= kBatchBytesMax) {
    batch.Put("t", std::to_string(batch.operation_count()), "d", "q", value);
  }
  BOOST_CHECK(Refused(batch).find("the limit is 67108864") != std::string::npos);
  BOOST_CHECK_EQUAL(Rows(), "");
}

BOOST_AUTO_TEST_CASE(AnEmptyBatchDoesNothing) {
  const uint64_t sequence = (**this).Info().last_sequence;
  BOOST_CHECK_EQUAL(Write(WriteBatch()).ToString(), "OK");
  BOOST_CHECK_EQUAL((**this).Info().last_sequence, sequence);
}

BOOST_AUTO_TEST_CASE(OperationsOfABatchComeOneAfterTheOther) {
  WriteBatch batch;
  batch.Put("t", "r", "d", "q", "old", 5);
  batch.DeleteRow("t", "r", 5);
  batch.Put("t", "r", "d", "q", "new", 5);
  batch.Put("t", "r", "d", "p", "gone", 9);
  batch.DeleteColumn("t", "r", "d", "p", 9);
  BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
  BOOST_CHECK_EQUAL(Rows(), "r{q=new}");
  BOOST_CHECK_EQUAL((**this).Info().last_sequence, 5u);
  BOOST_REQUIRE_EQUAL((**this).Flush("t").ToString(), "OK");
  BOOST_CHECK_EQUAL(Rows(), "r{q=new}");
}

BOOST_AUTO_TEST_CASE(ABatchIsAllOrNothingOverTables) {
  TableOptions second = SimpleTable();
  second.name = "u";
  BOOST_REQUIRE_EQUAL((**this).CreateTable(second).ToString(), "OK");
  WriteBatch batch;
  batch.Put("t", "a", "d", "q", "1");
  batch.Put("u", "a", "d", "q", "1");
  batch.Put("u", "b", "nowhere", "q", "1");
  Refused(batch);
  BOOST_CHECK_EQUAL(Rows("t") + Rows("u"), "");
  // A frame that is not whole on the disk is no frame.
  disk.control().InjectFault({.operations = {DiskOperation::kWrite}, .partly = true});
  batch.Clear();
  batch.Put("t", "a", "d", "q", "1");
  batch.Put("u", "a", "d", "q", "1");
  BOOST_CHECK_EQUAL(Write(batch).code(), StatusCode::kIoError);
  BOOST_CHECK_EQUAL(Rows("t") + Rows("u"), "");
  disk.control().ClearFaults();
  Crash({.kept = CrashPolicy::Kept::kAll});
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  BOOST_CHECK_EQUAL(Rows("t") + Rows("u"), "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
