// The search for an order of operations: what it accepts, and what it must not.
#define BOOST_TEST_DYN_LINK
#include "test/interleave/history.h"

#include <boost/test/unit_test.hpp>

namespace tandem::test {
namespace {

/// Operations on one number, which the state keeps as its last timestamp.
struct HistoryFixture {
  uint64_t Begin() { return ++moment; }
  void Wrote(int64_t value, uint64_t begin) {
    history.Add({.text = "write " + std::to_string(value),
                 .begin = begin,
                 .end = ++moment,
                 .apply = [value](ModelState* state) {
                   state->last_timestamp = value;
                   return true;
                 }});
  }
  void Read(int64_t value, uint64_t begin) {
    history.Add({.text = "read " + std::to_string(value),
                 .begin = begin,
                 .end = ++moment,
                 .apply = [value](ModelState* state) { return state->last_timestamp == value; }});
  }
  bool IsExplained() const { return history.Check({}).empty(); }

  uint64_t moment = 0;
  History history;
};

BOOST_FIXTURE_TEST_SUITE(history, HistoryFixture)

BOOST_AUTO_TEST_CASE(WhatIsDoneAtOnceMayBeInAnyOrder) {
  const uint64_t write = Begin();
  Read(0, Begin());
  Wrote(1, write);
  BOOST_TEST(IsExplained());
}

BOOST_AUTO_TEST_CASE(AnOperationSeesTheOneRightBeforeIt) {
  Wrote(1, Begin());
  Read(0, Begin());
  BOOST_TEST(!IsExplained());
}

// Time does not go back for one reader, though the write lasts longer than both reads.
BOOST_AUTO_TEST_CASE(ASecondReadIsNotBeforeTheFirst) {
  const uint64_t write = Begin();
  Read(1, Begin());
  Read(0, Begin());
  Wrote(1, write);
  BOOST_TEST(!IsExplained());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
