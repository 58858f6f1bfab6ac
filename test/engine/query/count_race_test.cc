// Counting while another thread writes: a row that is written again meanwhile counts once. The
// writer is the hook of the disk, which writes when the count reads for the n-th time, for each n.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <functional>

#include "test/engine/test_engine.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

constexpr int kRowsOfFile = 40;

void RequireOk(const Status& status) { BOOST_REQUIRE_EQUAL(status.ToString(), "OK"); }

/// Two files over the same range of keys, of whose rows all but one lack the indexed column,
/// and a memstore; nothing of them is cached.
void Fill(TestEngine* engine) {
  RequireOk(engine->Open());
  RequireOk((*engine)->CreateTable(SimpleTable()));
  for (const char* const ending : {"a", "b"}) {
    for (int row = 100; row < 100 + kRowsOfFile; ++row) {
      RequireOk(engine->Put(std::to_string(row) + ending, "other", "x"));
    }
    // With the column, so that the file has a section of the index.
    RequireOk(engine->Put(std::string("099") + ending, "c", "there"));
    RequireOk((*engine)->Flush("t"));
  }
  RequireOk(engine->Close());
  RequireOk(engine->Open());
  RequireOk(engine->Put("120m", "other", "x"));
}

BOOST_AUTO_TEST_SUITE(count_race)

BOOST_AUTO_TEST_CASE(ARowWrittenMeanwhileCountsOnce) {
  const Predicate absent = Predicate::IsNull("c");
  QueryOptions query;
  query.use_index = "by_c";
  bool has_written = true;
  for (int at = 1; has_written; ++at) {
    TestEngine engine;
    Fill(&engine);
    has_written = false;
    int reads = 0;
    engine.disk.control().SetHook([&](const DiskEvent& event) {
      if (event.operation != DiskOperation::kRead || ++reads != at) return;
      has_written = true;
      for (int row = 100; row < 100 + kRowsOfFile; ++row) {
        for (const char* const ending : {"a", "b"}) {
          RequireOk(engine.Put(std::to_string(row) + ending, "other", "y", Durability::kMemory));
        }
      }
    });
    const auto count = engine->Count({}, "t", absent, query);
    engine.disk.control().SetHook({});
    RequireOk(count.status());
    BOOST_TEST(*count == 2u * kRowsOfFile + 1, *count << ", written at read " << at);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
