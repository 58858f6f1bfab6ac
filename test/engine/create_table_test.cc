// Records of tables, and indexes of theirs that are alike.
#define BOOST_TEST_DYN_LINK
#include "engine/create_table.h"

#include <boost/test/unit_test.hpp>

#include "base/random.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

IndexOptions IndexOver(std::string name, std::string qualifier,
                       IndexPlacement placement = IndexPlacement::kLocal) {
  return {.name = std::move(name),
          .columns = {{.family = "d", .qualifier = std::move(qualifier)}},
          .placement = placement};
}

BOOST_AUTO_TEST_SUITE(create_table)

// Tables of former versions may have some; they are restored, and get other indexes.
BOOST_AUTO_TEST_CASE(ATableThatHasAlikeIndexesIsCopied) {
  const auto random = base::NewSeededRandom(1);
  const TableOptions options{.name = "t",
                             .families = {{.name = "d"}},
                             .indexes = {IndexOver("a", "c"), IndexOver("b", "c"),
                                         IndexOver("global", "c", IndexPlacement::kGlobal)}};
  auto record = engine::MakeTableRecord(options, random.get());
  BOOST_REQUIRE_MESSAGE(record.has_value(), record.status().ToString());
  const Status unlike = engine::CheckIndexesUnlike(*record);
  BOOST_TEST(unlike.ToString() == "AlreadyExists: index 'a' has the same definition");
  BOOST_TEST(engine::AddIndexTo(IndexOver("other", "x"), {}, &*record).ToString() == "OK");
  format::TableRecord with_local = *record, with_global = *record;
  const Status local = engine::AddIndexTo(IndexOver("like", "x"), {}, &with_local);
  BOOST_TEST(local.ToString() == "AlreadyExists: index 'other' has the same definition");
  const Status global =
      engine::AddIndexTo(IndexOver("like", "c", IndexPlacement::kGlobal), {}, &with_global);
  BOOST_TEST(global.ToString() == "AlreadyExists: index 'global' has the same definition");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
