// Random transactions beside other writes, flushes, merges and splits, against maps: reads of a
// transaction are those of its map, and it commits if nobody changed what it read or wrote.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "test/api/transaction_fixture.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

class RandomTransactions : public TransactionFixture {
 protected:
  using Rows = std::map<std::string, std::string>;
  struct Open {
    Transaction transaction;
    uint64_t begun = 0;
    Rows rows;    ///< That it sees.
    Rows writes;  ///< An empty value: deleted.
    std::set<std::string> read = {};
    std::vector<std::pair<Rows, Rows>> savepoints = {};
  };

  void Step() {
    const uint64_t what = random.Below(100);
    if (what < 8 && open.size() < 4) {
      open.push_back({.transaction = Begin(), .begun = now, .rows = committed, .writes = {}});
    } else if (what < 16) {
      WriteBeside();
    } else if (what < 19) {
      random.Below(3) == 0 ? Compact() : Flush();
    } else if (what < 20) {
      if (++splits < 8) (void)database->Split("t", {.key = Key() + "m"});
    } else if (!open.empty()) {
      const size_t at = random.Below(open.size());
      what < 94 ? StepIn(&open[at]) : End(at);
    }
  }

  int commits = 0, conflicts = 0;

 private:
  std::string Key() { return std::string(1, static_cast<char>('a' + random.Below(20))); }
  std::string Value() { return std::to_string(100 + random.Below(30)); }

  static std::string TextOf(const Rows& rows, const std::string& low, const std::string& high) {
    std::string text;
    for (const auto& [row, value] : rows) {
      if (value >= low && value <= high) text += (text.empty() ? "" : " ") + row + "=" + value;
    }
    return text;
  }
  static void Apply(const std::string& row, const std::string& value, Rows* rows) {
    if (value.empty()) {
      rows->erase(row);
    } else {
      (*rows)[row] = value;
    }
  }

  void WriteBeside() {
    const std::string row = Key(), value = random.Below(3) == 0 ? "" : Value();
    value.empty() ? Delete(row) : Put(row, value);
    Apply(row, value, &committed);
    changed[row] = ++now;
  }

  void StepIn(Open* one) {
    const uint64_t what = random.Below(70);
    if (what < 25) {
      const std::string row = Key(), value = random.Below(4) == 0 ? "" : Value();
      const Status status = value.empty() ? one->transaction.DeleteRow("t", row)
                                          : one->transaction.Put("t", row, "d", "c", value);
      BOOST_REQUIRE_EQUAL(status.ToString(), "OK");
      one->writes[row] = value;
      Apply(row, value, &one->rows);
    } else if (what < 40) {
      const std::string row = Key();
      const auto found = one->rows.find(row);
      const std::string expected = found == one->rows.end() ? "-" : found->second;
      BOOST_REQUIRE_EQUAL(Get(&one->transaction, row), expected);
      one->read.insert(row);
    } else if (what < 44) {
      BOOST_REQUIRE(one->transaction.SetSavepoint().ok());
      one->savepoints.push_back({one->rows, one->writes});
    } else if (what < 48) {
      if (one->savepoints.empty()) return;
      BOOST_REQUIRE(one->transaction.RollbackToSavepoint().ok());
      std::tie(one->rows, one->writes) = one->savepoints.back();
      one->savepoints.pop_back();
    } else {
      Check(one);
    }
  }

  void Check(Open* one) {
    BOOST_REQUIRE_EQUAL(Scan(&one->transaction), TextOf(one->rows, "", "999"));
    const std::string low = Value(), high = Value();
    BOOST_REQUIRE_EQUAL(Query(&one->transaction, "c >= " + low + " AND c <= " + high),
                        TextOf(one->rows, low, high));
  }

  void End(size_t at) {
    Open one = std::move(open[at]);
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
    Check(&one);
    if (random.Below(8) == 0) return;  // It is rolled back.
    for (const auto& [row, value] : one.writes) one.read.insert(row);
    // A row that others left as it was may count as unchanged: they deleted one that was not there,
    // or put what it had.
    bool is_touched = false, is_changed = false;
    for (const std::string& row : one.read) {
      if (one.writes.empty() || changed[row] <= one.begun) continue;
      is_touched = true;
      is_changed |= committed.contains(row);
    }
    const Status status = one.transaction.Commit();
    BOOST_REQUIRE_MESSAGE(status.ok() || status.code() == StatusCode::kConflict, status.ToString());
    if (status.ok()) BOOST_REQUIRE(!is_changed);
    if (!status.ok()) BOOST_REQUIRE(is_touched);
    ++(status.ok() ? commits : conflicts);
    if (!status.ok() || one.writes.empty()) return;
    ++now;
    for (const auto& [row, value] : one.writes) {
      Apply(row, value, &committed);
      changed[row] = now;
    }
    BOOST_REQUIRE_EQUAL(Scan(), TextOf(committed, "", "999"));
  }

  TestRandom random{"random transactions"};
  Rows committed;
  std::map<std::string, uint64_t> changed;  // When a row was changed last.
  uint64_t now = 0;
  int splits = 0;
  std::vector<Open> open;
};

BOOST_FIXTURE_TEST_CASE(RandomTransactionsAgreeWithMaps, RandomTransactions) {
  for (int step = 0; step < 10'000; ++step) Step();
  BOOST_CHECK_GT(commits, 200);
  BOOST_CHECK_GT(conflicts, 30);
}

}  // namespace
}  // namespace tandem::test
