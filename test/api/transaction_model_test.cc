// Random transactions beside other writes, flushes, merges and splits, against maps: reads of a
// transaction are those of its map, and it commits if nobody changed what it read or wrote. The
// family keeps two versions of a column, and all puts of one transaction are one version.
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
  struct Version {
    std::string value;
    bool is_own = false;  ///< Of the transaction that is open.
  };
  /// Two versions of each row at most, the newest first. None: there is no row.
  using Rows = std::map<std::string, std::vector<Version>>;
  struct Open {
    Transaction transaction;
    uint64_t begun = 0;
    Rows rows;      ///< That it sees.
    Rows at_begin;  ///< Those of then.
    std::set<std::string> written = {};
    std::set<std::string> read = {};
    bool has_ranges = false;  ///< They are checked.
    std::vector<std::pair<Rows, std::set<std::string>>> savepoints = {};
  };

  void Step() {
    const uint64_t what = random.Below(100);
    if (what < 8 && open.size() < 4) {
      const bool has_ranges = random.OneIn(2);
      open.push_back({.transaction = Begin({.validate_ranges = has_ranges}),
                      .begun = now,
                      .rows = committed,
                      .at_begin = committed,
                      .has_ranges = has_ranges});
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
    for (const auto& [row, versions] : rows) {
      const std::string& value = versions.front().value;
      if (value >= low && value <= high) text += (text.empty() ? "" : " ") + row + "=" + value;
    }
    return text;
  }
  static std::string AllOf(const Rows& rows) { return TextOf(rows, "", "~"); }
  static std::string NewestOf(const Rows& rows, const std::string& row) {
    const auto found = rows.find(row);
    return found == rows.end() ? "" : found->second.front().value;
  }
  static std::vector<std::string> ValuesOf(const Rows& rows, const std::string& row) {
    std::vector<std::string> values;
    const auto found = rows.find(row);
    if (found == rows.end()) return values;
    for (const Version& version : found->second) values.push_back(version.value);
    return values;
  }
  static void PutInto(const std::string& row, const std::string& value, bool is_own, Rows* rows) {
    constexpr size_t kVersionsMax = 2;
    std::vector<Version>& versions = (*rows)[row];
    if (is_own && !versions.empty() && versions.front().is_own) {
      versions.front().value = value;
      return;
    }
    versions.insert(versions.begin(), {value, is_own});
    if (versions.size() > kVersionsMax) versions.pop_back();
  }
  static void DeleteCellOf(const std::string& row, Rows* rows) {
    const auto found = rows->find(row);
    if (found == rows->end()) return;
    found->second.erase(found->second.begin());
    if (found->second.empty()) rows->erase(found);
  }

  void WriteBeside() {
    const std::string row = Key(), value = random.Below(3) == 0 ? "" : Value();
    value.empty() ? Delete(row) : Put(row, value);
    if (value.empty()) committed.erase(row);
    if (!value.empty()) PutInto(row, value, false, &committed);
    changed[row] = ++now;
  }

  void StepIn(Open* one) {
    const uint64_t what = random.Below(70);
    if (what < 30) {
      WriteIn(one);
    } else if (what < 40) {
      ReadIn(one);
    } else if (what < 44) {
      BOOST_REQUIRE(one->transaction.SetSavepoint().ok());
      one->savepoints.push_back({one->rows, one->written});
    } else if (what < 48) {
      if (one->savepoints.empty()) return;
      BOOST_REQUIRE(one->transaction.RollbackToSavepoint().ok());
      std::tie(one->rows, one->written) = one->savepoints.back();
      one->savepoints.pop_back();
    } else {
      Check(one);
    }
  }

  void WriteIn(Open* one) {
    const std::string row = Key(), value = Value(), before = NewestOf(one->rows, row);
    Status status;
    switch (random.Below(8)) {
      case 0:
        status = one->transaction.DeleteRow("t", row);
        one->rows.erase(row);
        break;
      case 1:
      case 2:
        status = one->transaction.DeleteCell("t", row, "d", "c");
        DeleteCellOf(row, &one->rows);
        break;
      case 3:
      case 4:
        UpdateIn(one, row, before);
        break;
      default:
        status = one->transaction.Put("t", row, "d", "c", value);
        PutInto(row, value, true, &one->rows);
    }
    BOOST_REQUIRE_EQUAL(status.ToString(), "OK");
    one->written.insert(row);
  }

  void UpdateIn(Open* one, const std::string& row, const std::string& before) {
    constexpr size_t kDigitsMax = 9;
    std::string expected, found;
    if (random.OneIn(2) && before.size() < kDigitsMax) {
      expected = before + "1";
      const auto value = one->transaction.Append("t", row, "d", "c", "1");
      found = value.has_value() ? *value : value.status().ToString();
    } else {
      expected = std::to_string((before.empty() ? 0 : std::stoll(before)) + 5);
      const auto sum = one->transaction.Increment("t", row, "d", "c", 5);
      found = sum.has_value() ? std::to_string(*sum) : sum.status().ToString();
    }
    BOOST_REQUIRE_EQUAL(found, expected);
    PutInto(row, expected, true, &one->rows);
    one->read.insert(row);
  }

  void ReadIn(Open* one) {
    const std::string first = Key(), second = Key();
    const std::vector<std::string_view> keys = {first, second, first};
    const auto found = one->transaction.MultiGet({.versions = 9}, "t", keys);
    BOOST_REQUIRE_MESSAGE(found.has_value(), found.status().ToString());
    for (size_t i = 0; i < keys.size(); ++i) {
      const std::string key(keys[i]);
      std::string text, expected;
      if ((*found)[i].has_value()) {
        for (const Cell& cell : (*found)[i]->cells()) text += std::string(cell.value) + " ";
      }
      const auto versions = one->rows.find(key);
      if (versions != one->rows.end()) {
        for (const Version& version : versions->second) expected += version.value + " ";
      }
      BOOST_REQUIRE_EQUAL(text, expected);
      BOOST_REQUIRE_EQUAL(Get(&one->transaction, key),
                          expected.empty() ? "-" : NewestOf(one->rows, key));
      one->read.insert(key);
    }
  }

  void Check(Open* one) {
    if (one->has_ranges) return CheckRange(one);
    BOOST_REQUIRE_EQUAL(Scan(&one->transaction), AllOf(one->rows));
    const std::string low = Value(), high = Value();
    BOOST_REQUIRE_EQUAL(Query(&one->transaction, "c >= " + low + " AND c <= " + high),
                        TextOf(one->rows, low, high));
  }

  void CheckRange(Open* one) {
    const std::string low = Key();
    const ScanOptions scan{.start = low, .end = std::string(1, static_cast<char>(low[0] + 3))};
    const std::string value = Value();
    const bool is_scan = random.OneIn(2);
    std::string expected;
    for (char letter = low[0]; letter < scan.end[0]; ++letter) {
      const std::string row(1, letter);
      one->read.insert(row);
      const std::string newest = NewestOf(one->rows, row);
      if (newest.empty() || (!is_scan && newest < value)) continue;
      expected += (expected.empty() ? "" : " ") + row + "=" + newest;
    }
    if (is_scan) {
      BOOST_REQUIRE_EQUAL(RowsOf(one->transaction.Scan({}, "t", scan)), expected);
    } else {
      const std::string text =
          "_row >= '" + scan.start + "' AND _row < '" + scan.end + "' AND c >= '" + value + "'";
      BOOST_REQUIRE_EQUAL(Query(&one->transaction, text), expected);
    }
  }

  void End(size_t at) {
    Open one = std::move(open[at]);
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
    Check(&one);
    if (random.Below(8) == 0) return;  // It is rolled back.
    one.read.insert(one.written.begin(), one.written.end());
    // A row that others left as it was may count as unchanged: they deleted one that was not there,
    // put what it had, or took back what they had put.
    bool is_touched = false, is_changed = false;
    for (const std::string& row : one.read) {
      if (one.written.empty() || changed[row] <= one.begun) continue;
      is_touched = true;
      is_changed |= ValuesOf(committed, row) != ValuesOf(one.at_begin, row);
    }
    const Status status = one.transaction.Commit();
    BOOST_REQUIRE_MESSAGE(status.ok() || status.code() == StatusCode::kConflict, status.ToString());
    if (status.ok()) BOOST_REQUIRE(!is_changed);
    if (!status.ok()) BOOST_REQUIRE(is_touched);
    ++(status.ok() ? commits : conflicts);
    if (!status.ok() || one.written.empty()) return;
    ++now;
    for (const std::string& row : one.written) {
      const auto left = one.rows.find(row);
      committed.erase(row);
      changed[row] = now;
      if (left == one.rows.end()) continue;
      for (Version& version : left->second) version.is_own = false;
      committed[row] = left->second;
    }
    BOOST_REQUIRE_EQUAL(Scan(), AllOf(committed));
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
  BOOST_CHECK_GT(commits, 100);
  BOOST_CHECK_GT(conflicts, 100);
}

}  // namespace
}  // namespace tandem::test
