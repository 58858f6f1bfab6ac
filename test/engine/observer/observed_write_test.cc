// A batch on its way through observers: what a race of planning with an edit of the schema leaves.
#define BOOST_TEST_DYN_LINK
#include "engine/observer/observed_write.h"

#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/fork_mark.h"
#include "engine/region/region_set.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

using engine::ObservedWrite;
using engine::Observers;
using engine::Table;

class Counting final : public Observer {
 public:
  Status BeforeWrite(PendingWrite* write) override {
    ++calls;
    mutations += write->mutations().size();
    WriteBatch more;
    more.Increment("counts", "all", "d", "rows", static_cast<int64_t>(write->mutations().size()));
    return write->Add(more);
  }
  int calls = 0;
  size_t mutations = 0;
};

std::shared_ptr<const Table> NewTable(const std::string& name, uint64_t id,
                                      const std::vector<std::string>& observers) {
  format::TableRecord record;
  record.id = format::TableId(id);
  record.name = name;
  record.observers = observers;
  auto table = std::make_shared<Table>();
  table->record = std::make_shared<const format::TableRecord>(std::move(record));
  return table;
}

BOOST_AUTO_TEST_SUITE(observed_write)

// The record is replaced between two operations that are planned, so the plan has the table twice.
BOOST_AUTO_TEST_CASE(ATableThatThePlanHasTwiceIsAskedOnce) {
  const auto counting = std::make_shared<Counting>();
  const int database = 0;
  const Observers observers(&database, {{"a", counting}}, *base::ForkMark::Make());
  WriteBatch batch;
  batch.Put("t", "r", "d", "c", "1");
  batch.Put("u", "r", "d", "c", "1");
  batch.Put("t", "s", "d", "c", "1");
  const auto read = [](const ReadOptions&, std::string_view,
                       std::string_view) -> Result<std::optional<Row>> {
    return Status::Unsupported("nothing is read");
  };
  const std::vector<std::shared_ptr<const Table>> tables = {
      NewTable("t", 1, {"a"}), NewTable("u", 2, {}), NewTable("t", 1, {"a"})};
  ObservedWrite write(batch, false, observers, read);
  BOOST_REQUIRE_EQUAL(write.Ask(tables).ToString(), "OK");
  BOOST_CHECK_EQUAL(counting->calls, 1);
  BOOST_CHECK_EQUAL(counting->mutations, 2u);
  BOOST_CHECK_EQUAL(write.batch().operation_count(), 4u);
  BOOST_CHECK_EQUAL(write.CheckTables(tables).ToString(), "OK");
  const std::vector<std::shared_ptr<const Table>> changed = {NewTable("t", 1, {"a", "b"})};
  BOOST_CHECK_EQUAL(write.CheckTables(changed).code(), StatusCode::kUnsupported);
  const std::vector<std::shared_ptr<const Table>> unobserved = {NewTable("t", 1, {})};
  BOOST_CHECK_EQUAL(write.CheckTables(unobserved).code(), StatusCode::kConflict);
  const std::vector<std::shared_ptr<const Table>> replaced = {NewTable("t", 3, {"a"})};
  BOOST_CHECK_EQUAL(write.CheckTables(replaced).code(), StatusCode::kConflict);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
