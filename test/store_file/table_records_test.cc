// The records of tables that store files share.
#include "store_file/table_records.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <string>

#include "test/support/print.h"
#include "test/support/sample_records.h"

namespace tandem::format {
namespace {

using test::SampleTable;

std::string Encoded(const TableRecord& table) {
  std::string bytes;
  EncodeTable(table, &bytes);
  return bytes;
}

BOOST_AUTO_TEST_SUITE(TableRecordsTest)

BOOST_AUTO_TEST_CASE(EqualBytesGiveOneRecordWhileSomebodyHoldsIt) {
  TableRecords records;
  const std::string seven = Encoded(SampleTable(7));
  const auto first = records.Decode(seven);
  BOOST_REQUIRE(first.has_value());
  BOOST_TEST(Encoded(**first) == seven);
  BOOST_TEST((*records.Decode(seven) == *first));
  const auto other = records.Decode(Encoded(SampleTable(8)));
  BOOST_REQUIRE(other.has_value());
  BOOST_TEST((*other)->id.value == 8u);
  BOOST_TEST((records.Decode("no table").status().code() == StatusCode::kCorruption));
  BOOST_TEST((*records.Decode(seven) == *first));
}

// Tables come and go, and are altered.
BOOST_AUTO_TEST_CASE(RecordsThatNobodyHoldsAreForgotten) {
  TableRecords records;
  const auto held = records.Decode(Encoded(SampleTable(1000)));
  for (uint32_t id = 1; id <= 200; ++id) {
    BOOST_REQUIRE(records.Decode(Encoded(SampleTable(id))).has_value());
    BOOST_REQUIRE_LE(records.size(), 16u);
  }
  BOOST_TEST((*records.Decode(Encoded(SampleTable(1000))) == *held));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format
