// Errors that may pass (base/passing.h), at each operation of a flush, a merge and a roll of the
// log: nothing is lost, nothing is left over, the database continues to take writes, and what
// failed is retried. Files that a failed write or sync left in doubt are discarded.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/passing.h"
#include "test/engine/test_engine.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

const Status kPassing[] = {
    Status::Unavailable("injected: too many open files"),
    Status::OutOfMemory("injected: no memory"),
    Status::NoSpace("injected: no space"),
};

// The operations on files other than the log, ROOT and a directory, which have rules of their own.
bool IsOfStoreFile(const DiskEvent& event) { return event.name.starts_with("store-"); }

// Names in the directory of the database that the catalog does not know.
size_t LeftOver(TestEngine* engine) {
  size_t stores = 0;
  const auto directory = *engine->disk.OpenDirectory("db", false);
  for (const std::string& name : *directory->List()) stores += name.starts_with("store-");
  return stores - engine->FileCount();
}

void Prepare(TestEngine* engine) {
  engine->tuning.compaction_runs = 100;
  BOOST_REQUIRE(engine->Open().ok());
  BOOST_REQUIRE((*engine)->CreateTable(SimpleTable()).ok());
  BOOST_REQUIRE(engine->Put("a", "c", "1").ok());
  BOOST_REQUIRE((*engine)->Flush("t").ok());
  WriteBatch batch;
  batch.DeleteRow("t", "b");
  batch.Put("t", "b", "d", "c", "2");
  BOOST_REQUIRE(engine->Write(batch).ok());
}

// Lets the `at`-th operation on a store file fail with `status`. Returns whether it came.
class FailAt {
 public:
  FailAt(TestEngine* engine, size_t at, const Status& status) : engine_(*engine) {
    engine_.disk.control().SetHook([this, at, status](const DiskEvent& event) {
      if (!IsOfStoreFile(event) || ++count_ != at) return;
      what_ = Describe(event);
      is_write_ =
          event.operation == DiskOperation::kWrite || event.operation == DiskOperation::kDataSync;
      name_ = event.name;
      engine_.disk.control().InjectFault({.at = 1, .status = status});
    });
  }
  ~FailAt() {
    engine_.disk.control().SetHook(nullptr);
    engine_.disk.control().ClearFaults();
  }
  bool has_come() const { return !what_.empty(); }
  const std::string& what() const { return what_; }
  const std::string& name() const { return name_; }
  bool is_write() const { return is_write_; }

 private:
  TestEngine& engine_;
  size_t count_ = 0;
  std::string what_, name_;
  bool is_write_ = false;
};

BOOST_AUTO_TEST_SUITE(PassingErrors)

BOOST_AUTO_TEST_CASE(WhichErrorsMayPassIsDecidedInOnePlace) {
  for (const Status& status : kPassing) BOOST_CHECK(base::MayPass(status));
  BOOST_CHECK(!base::MayPass(Status()));
  for (const Status& status :
       {Status::IoError(""), Status::Corruption(""), Status::NotFound(""), Status::ReadOnly(""),
        Status::Busy(""), Status::Unsupported(""), Status::Cancelled("")}) {
    BOOST_CHECK(!base::MayPass(status));
    BOOST_CHECK(!base::MayPassInPlace(status));
  }
  for (const Status& status : kPassing) {
    BOOST_CHECK_EQUAL(base::MayPassInPlace(status), status.code() == StatusCode::kNoSpace);
  }
}

BOOST_AUTO_TEST_CASE(AFlushIsDoneAgain) {
  for (const Status& status : kPassing) {
    for (size_t at = 1;; ++at) {
      TestEngine engine(at);
      Prepare(&engine);
      std::string what;
      {
        FailAt fault(&engine, at, status);
        const Status flushed = engine->Flush("t");
        if (!fault.has_come()) {
          BOOST_CHECK_GE(at, 8u);  // It did fail at operations before.
          break;
        }
        what = fault.what() + ", " + status.ToString();
        // Where a descriptor is missing, an idle file gives up its own, and it goes on at once.
        const bool may_go_on = flushed.ok() && status.code() == StatusCode::kUnavailable;
        BOOST_CHECK_MESSAGE((may_go_on || flushed.code() == status.code()),
                            what << ": " << flushed.ToString());
        BOOST_CHECK_MESSAGE(!engine->Info().read_only, what);
        if (fault.is_write()) {
          BOOST_CHECK_MESSAGE(!engine.disk.Content("db", fault.name()).has_value(), what);
        }
      }
      BOOST_REQUIRE_EQUAL(engine.Rows(), "a{c=1} b{c=2}");
      BOOST_REQUIRE_MESSAGE(engine.Put("c", "c", "3").ok(), what);
      // The retry is scheduled: nobody asks for it.
      engine.clock.Advance(1'000'000);
      engine.executor.Drain();
      BOOST_CHECK_MESSAGE(engine.FileCount() == 2, what << ": " << engine.FileCount());
      BOOST_CHECK_MESSAGE(LeftOver(&engine) == 0, what);
      BOOST_REQUIRE_EQUAL(engine.Rows(), "a{c=1} b{c=2} c{c=3}");
      BOOST_CHECK((*engine->Verify(true)).findings.empty());
      engine.Crash({.kept = CrashPolicy::Kept::kNone});
      BOOST_REQUIRE_EQUAL(engine.Open().ToString(), "OK");
      BOOST_CHECK(engine.Rows().starts_with("a{c=1} b{c=2}"));
    }
  }
}

BOOST_AUTO_TEST_CASE(AMergeIsDoneAgain) {
  for (const Status& status : kPassing) {
    for (size_t at = 1;; ++at) {
      TestEngine engine(at);
      Prepare(&engine);
      BOOST_REQUIRE(engine->Flush("t").ok());
      engine.executor.Drain();
      bool is_removal = false;
      {
        FailAt fault(&engine, at, status);
        const Status merged = engine->Compact("t");
        if (!fault.has_come()) break;
        is_removal = fault.what().starts_with("remove");
        const std::string what = fault.what() + ", " + status.ToString();
        BOOST_CHECK_MESSAGE((merged.ok() || merged.code() == status.code()),
                            what << ": " << merged.ToString());
        BOOST_CHECK_MESSAGE(!engine->Info().read_only, what);
      }
      BOOST_REQUIRE_EQUAL(engine.Rows(), "a{c=1} b{c=2}");
      BOOST_REQUIRE_EQUAL(engine->Compact("t").ToString(), "OK");
      BOOST_CHECK_EQUAL(engine.FileCount(), 1u);
      // A file that was replaced and failed to go is removed by the next open.
      BOOST_CHECK_EQUAL(LeftOver(&engine), is_removal ? 1u : 0u);
      BOOST_REQUIRE(engine.Close().ok());
      BOOST_REQUIRE(engine.Open().ok());
      BOOST_CHECK_EQUAL(LeftOver(&engine), 0u);
      BOOST_REQUIRE_EQUAL(engine.Rows(), "a{c=1} b{c=2}");
    }
  }
}

// The policy's own merge, which nobody asks for.
BOOST_AUTO_TEST_CASE(ADueMergeIsTriedAgain) {
  TestEngine engine;
  engine.tuning.compaction_runs = 4;
  BOOST_REQUIRE(engine.Open().ok());
  BOOST_REQUIRE(engine->CreateTable(SimpleTable()).ok());
  for (int i = 0; i < 4; ++i) {
    BOOST_REQUIRE(engine.Put(std::to_string(i), "c", "v").ok());
    BOOST_REQUIRE(engine->Flush("t").ok());
    if (i == 2) engine.executor.Drain();
  }
  engine.disk.control().InjectFault({.operations = {DiskOperation::kCreate},
                                     .sticky = true,
                                     .status = Status::Unavailable("injected")});
  engine.executor.Drain();
  BOOST_CHECK_EQUAL(engine.FileCount(), 4u);
  engine.disk.control().ClearFaults();
  engine.clock.Advance(10'000'000);
  engine.executor.Drain();
  BOOST_CHECK_EQUAL(engine.FileCount(), 1u);
}

// A failed edit of the catalog: the outputs of the merge go as soon as no crash can show them.
BOOST_AUTO_TEST_CASE(TheFilesOfAMergeThatCannotBeShownGo) {
  for (const Status& status : kPassing) {
    TestEngine engine;
    Prepare(&engine);
    BOOST_REQUIRE(engine->Flush("t").ok());
    engine.executor.Drain();
    engine.disk.control().SetHook([&](const DiskEvent& event) {
      if (event.operation != DiskOperation::kWrite || !event.name.starts_with("manifest-")) return;
      engine.disk.control().InjectFault({.status = status});
    });
    BOOST_CHECK_EQUAL(engine->Compact("t").code(), status.code());
    engine.disk.control().SetHook(nullptr);
    engine.disk.control().ClearFaults();
    BOOST_CHECK(!engine->Info().read_only);
    BOOST_REQUIRE_EQUAL(engine->Compact("t").ToString(), "OK");
    BOOST_CHECK_EQUAL(LeftOver(&engine), 0u);
    BOOST_CHECK_EQUAL(engine.Rows(), "a{c=1} b{c=2}");
  }
}

BOOST_AUTO_TEST_CASE(ASegmentThatCannotBeBegunFailsItsGroupAlone) {
  TestEngine engine;
  BOOST_REQUIRE(engine.Open().ok());
  BOOST_REQUIRE(engine->CreateTable(SimpleTable()).ok());
  BOOST_REQUIRE(engine.Put("a", "c", "1").ok());
  for (const Status& status : kPassing) {
    engine.disk.control().InjectFault(
        {.operations = {DiskOperation::kCreate}, .sticky = true, .status = status});
    // A full disk makes the next write begin a segment.
    engine.disk.control().InjectFault(
        {.operations = {DiskOperation::kWrite}, .status = Status::NoSpace("injected")});
    BOOST_CHECK_EQUAL(engine.Put("b", "c", "2").code(), StatusCode::kNoSpace);
    for (int i = 0; i < 3; ++i) {
      BOOST_CHECK_EQUAL(engine.Put("b", "c", "2").code(), status.code());
    }
    engine.disk.control().ClearFaults();
    BOOST_CHECK_EQUAL(engine.Put("b", "c", "3").ToString(), "OK");
  }
  BOOST_CHECK(!engine->Info().read_only);
  engine.Crash({.kept = CrashPolicy::Kept::kAll});
  BOOST_REQUIRE(engine.Open().ok());
  BOOST_CHECK_EQUAL(engine.Rows(), "a{c=1} b{c=3}");
}

// Whatever the error: what the log was given is in doubt. A full disk apart, which cuts it back.
BOOST_AUTO_TEST_CASE(AFailedWriteOrSyncOfTheLogStaysFinal) {
  for (const Status& status : kPassing) {
    for (const DiskOperation operation : {DiskOperation::kWrite, DiskOperation::kDataSync}) {
      const bool is_full_write =
          operation == DiskOperation::kWrite && status.code() == StatusCode::kNoSpace;
      TestEngine engine;
      BOOST_REQUIRE(engine.Open().ok());
      BOOST_REQUIRE(engine->CreateTable(SimpleTable()).ok());
      engine.disk.control().InjectFault({.operations = {operation}, .status = status});
      BOOST_CHECK(!engine.Put("a", "c", "1", Durability::kSynced).ok());
      engine.disk.control().ClearFaults();
      BOOST_CHECK_EQUAL(engine->Info().read_only, !is_full_write);
      BOOST_CHECK_EQUAL(engine.Put("b", "c", "2").ok(), is_full_write);
    }
  }
}

// The same of ROOT, which a new manifest is the first to need. A full disk apart: what it left in
// doubt is written whole by the next edit.
BOOST_AUTO_TEST_CASE(AFailedWriteOrSyncOfRootStaysFinal) {
  for (const Status& status : kPassing) {
    for (const DiskOperation operation : {DiskOperation::kWrite, DiskOperation::kDataSync}) {
      const bool is_full_write =
          operation == DiskOperation::kWrite && status.code() == StatusCode::kNoSpace;
      TestEngine engine;
      Prepare(&engine);
      bool is_edit = true, has_come = false;
      engine.disk.control().SetHook([&](const DiskEvent& event) {
        if (event.operation == DiskOperation::kWrite && event.name.starts_with("manifest-")) {
          // The edit cannot be appended, so a new manifest is written.
          if (!std::exchange(is_edit, false)) return;
          engine.disk.control().InjectFault({.status = Status::NoSpace("injected")});
        } else if (event.name == "ROOT" && event.operation == operation && !has_come) {
          has_come = true;
          engine.disk.control().InjectFault({.status = status});
        }
      });
      BOOST_CHECK(!engine->Flush("t").ok());
      engine.disk.control().SetHook(nullptr);
      engine.disk.control().ClearFaults();
      BOOST_REQUIRE(has_come);
      BOOST_CHECK_EQUAL(engine->CreateTable({.name = "u", .families = {{.name = "d"}}}).ok(),
                        is_full_write);
      engine.Crash({.kept = CrashPolicy::Kept::kNone});
      BOOST_REQUIRE_EQUAL(engine.Open().ToString(), "OK");
      BOOST_CHECK(engine.Rows().starts_with("a{c=1}"));
    }
  }
}

// Writers that have to wait for a flush get the error that hinders it.
BOOST_AUTO_TEST_CASE(AWriterLearnsWhatHindersTheFlush) {
  TestEngine engine;
  BOOST_REQUIRE(engine.Open().ok());
  BOOST_REQUIRE(engine->CreateTable(SimpleTable()).ok());
  engine.disk.control().SetHook([&](const DiskEvent& event) {
    if (event.operation != DiskOperation::kCreate || !IsOfStoreFile(event)) return;
    engine.disk.control().InjectFault({.status = kPassing[0]});
  });
  Status status;
  int rows = 0;
  for (; status.ok() && rows < 1000; ++rows) {
    status = engine.Put(std::to_string(10'000 + rows), "q", std::string(20'000, 'v'));
  }
  BOOST_CHECK_EQUAL(status.code(), StatusCode::kUnavailable);
  BOOST_CHECK_MESSAGE(status.message().find("waiting to be flushed, and that is tried again: ") !=
                              std::string::npos ||
                          status.message().find("their limit is") != std::string::npos,
                      status.ToString());
  engine.disk.control().SetHook(nullptr);
  engine.disk.control().ClearFaults();
  engine.clock.Advance(1'000'000);
  engine.executor.Drain();
  BOOST_CHECK_EQUAL(engine.Put("z", "c", "1").ToString(), "OK");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
