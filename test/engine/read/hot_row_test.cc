// Rows of a memstore that were written again and again: what they show is what all their cells say,
// at every sequence, and what a read looks at grows with the logarithm of their updates.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "format/cell/visibility.h"
#include "memstore/memstore.h"
#include "test/engine/hot_table.h"
#include "test/engine/test_engine.h"
#include "test/support/print.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

using engine::MemRow;
using engine::Memstore;
using format::CellKind;
using format::SequenceNumber;

std::string Text(const std::vector<format::Cell>& cells) {
  std::string text;
  for (const format::Cell& cell : cells) {
    text += std::to_string(static_cast<int>(cell.kind)) + ":" + std::to_string(cell.family.value) +
            std::string(cell.qualifier) + "@" + std::to_string(cell.timestamp) + "#" +
            std::to_string(cell.sequence.value) + " ";
  }
  return text;
}

// One row: its cells in a memstore, and beside it all of them, those of an older source too.
class RowHistory {
 public:
  RowHistory(uint32_t versions, uint32_t chain_cells_max, TestRandom* random)
      : versions_(versions),
        table_(HotRecord(versions)),
        memstore_(table_, nullptr, 0, chain_cells_max),
        random_(*random) {
    const uint64_t older = random_.Below(6);
    while (sequence_ < older) {
      format::Cell put = RandomCell(CellKind::kPut);
      put.sequence = SequenceNumber(++sequence_);
      older_.push_back(put);
    }
  }

  void Step() {
    const uint64_t choice = random_.Below(20);
    std::vector<format::Cell> cells;
    if (choice < 11) {
      cells.push_back(RandomCell(CellKind::kPut));
      const format::Cell other = RandomCell(CellKind::kPut);
      if (random_.OneIn(3) && !format::SameColumn(other, cells[0])) cells.push_back(other);
    } else if (choice < 14) {
      cells.push_back(RandomCell(CellKind::kDeleteColumn));
    } else if (choice < 15) {
      cells.push_back(RandomCell(CellKind::kDeleteFamily));
    } else if (choice < 16) {
      for (const format::FamilyRecord& family : table_->families) {
        cells.push_back(RandomCell(CellKind::kDeleteFamily));
        cells.back().family = family.id;
      }
    } else {
      cells = DeleteCell();
    }
    if (cells.empty()) return;
    ++sequence_;
    for (format::Cell& cell : cells) cell.sequence = SequenceNumber(sequence_);
    memstore_.Apply("r", cells);
    own_.insert(own_.end(), cells.begin(), cells.end());
  }

  /// At every sequence the row shows the same as all its cells do.
  void Check() {
    const MemRow* row = memstore_.Find("r");
    if (row == nullptr) return;
    for (uint64_t sequence = 0; sequence <= sequence_; ++sequence) {
      const SequenceNumber at(sequence);
      std::vector<format::Cell> kept = older_;
      Memstore::Cells(row, at, &kept);
      std::vector<format::Cell> all = older_;
      all.insert(all.end(), own_.begin(), own_.end());
      BOOST_REQUIRE_EQUAL(Text(Visible(kept, at)), Text(Visible(all, at)));
      CheckColumn(row, at);
      CheckFamily(row, at);
    }
  }
  uint64_t live_puts = 0, superseded = 0;  ///< What Check met.
  uint64_t families_with_puts = 0, families_without_puts = 0;

 private:
  format::Cell RandomCell(CellKind kind) {
    static constexpr std::string_view kColumns[] = {"a", "b", "c"};
    const format::FamilyId family = table_->families[random_.Below(2)].id;
    const bool is_family = kind == CellKind::kDeleteFamily;
    const std::string_view qualifier = is_family ? "" : kColumns[random_.Below(3)];
    return NewHotCell(kind, family, qualifier, static_cast<int64_t>(1 + random_.Below(8)));
  }

  std::vector<format::Cell> Visible(std::vector<format::Cell> cells, SequenceNumber at) const {
    std::sort(cells.begin(), cells.end(), format::CellLess);
    std::vector<format::Cell> visible;
    format::VisibleCells(cells, table_->families, {.sequence = at}, &visible);
    return visible;
  }

  // Rule 3.
  std::vector<format::Cell> DeleteCell() {
    const format::Cell column = RandomCell(CellKind::kDeleteCell);
    std::vector<format::Cell> visible = older_;
    visible.insert(visible.end(), own_.begin(), own_.end());
    visible = Visible(std::move(visible), format::kSequenceMax);
    std::erase_if(visible,
                  [&](const format::Cell& cell) { return !format::SameColumn(cell, column); });
    if (visible.empty()) return {};
    const size_t hit = random_.Below(visible.size());
    std::vector<format::Cell> cells = {column};
    cells[0].timestamp = visible[hit].timestamp;
    if (visible.size() >= versions_) {
      cells.push_back(column);
      cells.back().kind = CellKind::kDeleteColumn;
      cells.back().timestamp = visible.back().timestamp - 1;
    }
    if (hit == 0 && visible.size() > 1) cells.push_back(visible[1]);
    return cells;
  }

  // Supersedes and NewestPut against their definitions.
  void CheckColumn(const MemRow* row, SequenceNumber at) {
    const format::IndexColumnRecord& column = table_->indexes.front().columns.front();
    std::vector<format::Cell> shown = Visible(own_, at);
    std::erase_if(shown, [&](const format::Cell& cell) {
      return cell.family != column.family || cell.qualifier != column.qualifier;
    });
    const auto newest = Memstore::NewestPut(row, column, at);
    BOOST_REQUIRE_EQUAL(newest.has_value(), !shown.empty());
    if (newest.has_value()) {
      ++live_puts;
      BOOST_REQUIRE_EQUAL(newest->sequence.value, shown[0].sequence.value);
      BOOST_REQUIRE_EQUAL(newest->timestamp, shown[0].timestamp);
    }
    for (int64_t timestamp = 0; timestamp < 10; ++timestamp) {
      const auto touches = [&](const format::Cell& cell) {
        const bool is_column =
            cell.kind == CellKind::kDeleteFamily || cell.qualifier == column.qualifier;
        return cell.family == column.family && is_column && cell.timestamp >= timestamp &&
               cell.sequence <= at && cell.kind != CellKind::kDeleteCell;
      };
      const auto must = [&](const format::Cell& cell) {
        return cell.kind != CellKind::kPut && touches(cell);
      };
      const bool may_be = std::any_of(own_.begin(), own_.end(), touches);
      const bool must_be = std::any_of(own_.begin(), own_.end(), must) ||
                           std::any_of(shown.begin(), shown.end(), touches);
      const bool is = Memstore::Supersedes(row, {&column, timestamp}, at);
      BOOST_REQUIRE(is ? may_be : !must_be);
      superseded += is;
    }
  }

  // The same for all columns of a family: a DeleteFamily alone supersedes older Puts.
  void CheckFamily(const MemRow* row, SequenceNumber at) {
    format::IndexColumnRecord column{table_->families.front().id, ""};
    column.functions = {Function::MapKeys()};
    const auto is_seen = [&](const format::Cell& cell) {
      return cell.family == column.family && cell.sequence <= at;
    };
    const auto deletes = [&](const format::Cell& cell) {
      return is_seen(cell) && cell.kind == CellKind::kDeleteFamily;
    };
    for (int64_t timestamp = 0; timestamp < 10; ++timestamp) {
      const bool expected = std::ranges::any_of(own_, [&](const format::Cell& cell) {
        return deletes(cell) && cell.timestamp >= timestamp;
      });
      BOOST_REQUIRE_EQUAL(Memstore::Supersedes(row, {&column, timestamp}, at), expected);
    }
    if (std::ranges::any_of(own_, is_seen)) BOOST_REQUIRE(Memstore::Touches(row, column, at));
    const auto bounds = Memstore::LivePutsOf(row, column.family, at);
    std::vector<format::Cell> shown = Visible(own_, at);
    std::erase_if(shown, [&](const format::Cell& put) { return put.family != column.family; });
    for (const format::Cell& put : shown) {
      BOOST_REQUIRE(bounds.has_value());
      BOOST_REQUIRE_GE(bounds->max_timestamp, put.timestamp);
      BOOST_REQUIRE(bounds->max_sequence >= put.sequence);
    }
    families_without_puts += bounds.has_value() ? 0 : 1;
    families_with_puts += shown.empty() ? 0 : 1;
  }

  const uint32_t versions_;
  const std::shared_ptr<const format::TableRecord> table_;
  Memstore memstore_;
  TestRandom& random_;
  uint64_t sequence_ = 0;
  std::vector<format::Cell> older_, own_;
};

ReadOptions OfColumn(const std::string& qualifier, uint32_t versions = 1) {
  ReadOptions options;
  options.columns = {{"", qualifier}};
  options.versions = versions;
  return options;
}

// Where the i-th of n updates lies in time.
struct Order {
  std::string name;
  std::function<int64_t(int64_t i, int64_t n)> at;
};
const std::vector<Order>& Orders() {
  static const std::vector<Order> kOrders = {
      {"rising", [](int64_t i, int64_t) { return 10 * i; }},
      {"falling", [](int64_t i, int64_t n) { return 10 * (n - i); }},
      {"random", [](int64_t i, int64_t n) { return 10 * (i * 7919 % n); }},
      {"the same", [](int64_t, int64_t) { return int64_t{10}; }}};
  return kOrders;
}

// What a Get may look at: the recent cells, and some paths down a tree of that many cells. Each
// recent cell of an older memstore is looked for in the tree of a newer one.
uint64_t CellsMax(int64_t updates, uint64_t memstores) {
  uint64_t levels = 1;
  while ((int64_t{1} << levels) < updates) ++levels;
  const uint64_t paths = memstores == 1 ? 6 : engine::kChainCellsMax + 12;
  return memstores * (engine::kChainCellsMax + 2) + paths * levels;
}

// Fills a row with n updates, asks, and sees what that costs, at n and at 16 n.
void CheckCost(uint32_t versions, const std::function<void(HotTable*, int64_t n)>& fill,
               const std::function<HotTable::Answer(const HotTable&, int64_t n)>& ask) {
  for (const int64_t n : {int64_t{2'000}, int64_t{32'000}}) {
    HotTable table(versions);
    fill(&table, n);
    const HotTable::Answer answer = ask(table, n);
    const uint64_t cells_max = CellsMax(n, table.memstore_count());
    BOOST_TEST_MESSAGE(n << " updates: " << answer.cells << " cells, at most " << cells_max);
    BOOST_CHECK_LE(answer.cells, cells_max);
  }
}

BOOST_AUTO_TEST_SUITE(HotRowTest)

BOOST_AUTO_TEST_CASE(ARowShowsAtEverySequenceWhatAllItsCellsSay) {
  TestRandom random("ARowShowsAtEverySequenceWhatAllItsCellsSay");
  uint64_t live_puts = 0, superseded = 0, with_puts = 0, without_puts = 0;
  for (int round = 0; round < 400; ++round) {
    const uint32_t versions = random.OneIn(4) ? kUnlimited : 1 + random.Below(3);
    RowHistory history(versions, static_cast<uint32_t>(1 + random.Below(6)), &random);
    for (uint64_t step = 10 + random.Below(60); step > 0; --step) history.Step();
    history.Check();
    live_puts += history.live_puts;
    superseded += history.superseded;
    with_puts += history.families_with_puts;
    without_puts += history.families_without_puts;
  }
  BOOST_CHECK_GT(live_puts, 1'000u);
  BOOST_CHECK_GT(superseded, 1'000u);
  BOOST_CHECK_GT(with_puts, 1'000u);
  BOOST_CHECK_GT(without_puts, 1'000u);
}

BOOST_AUTO_TEST_CASE(PutsOfOneColumnInAnyOrder) {
  for (const Order& order : Orders()) {
    for (const uint32_t versions : {1u, 3u, kUnlimited}) {
      const auto fill = [&](HotTable* table, int64_t n) {
        for (int64_t i = 0; i < n; ++i) table->Put("a", order.at(i, n));
      };
      BOOST_TEST_CONTEXT(order.name << ", versions " << versions) {
        CheckCost(versions, fill, [](const HotTable& table, int64_t) { return table.Get(); });
        CheckCost(versions, fill,
                  [](const HotTable& table, int64_t) { return table.Get(OfColumn("a", 3)); });
        CheckCost(versions, fill, [](const HotTable& table, int64_t) {
          const auto answer = table.Get(OfColumn("none"));
          BOOST_CHECK_EQUAL(answer.text, "-");
          return answer;
        });
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(PutAndDeleteInTurnDeletedLast) {
  for (const Order& order : Orders()) {
    for (const uint32_t versions : {1u, 3u, kUnlimited}) {
      const auto fill = [&](HotTable* table, int64_t n) {
        for (int64_t i = 0; i < n; ++i) {
          table->Put("a", order.at(i, n));
          table->DeleteColumn("a", order.at(i, n) + 1);
        }
        table->DeleteColumn("a", 100 * n);
      };
      BOOST_TEST_CONTEXT(order.name << ", versions " << versions) {
        CheckCost(versions, fill, [](const HotTable& table, int64_t) {
          const auto answer = table.Get();
          BOOST_CHECK_EQUAL(answer.text, "-");
          return answer;
        });
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(DeletesOfRowsAndColumnsOnly) {
  for (const Order& order : Orders()) {
    BOOST_TEST_CONTEXT(order.name) {
      const auto ask = [](const HotTable& table, int64_t n) {
        const auto answer = table.Get();
        BOOST_CHECK_EQUAL(answer.text, "b@" + std::to_string(100 * n));
        return answer;
      };
      CheckCost(
          1,
          [&](HotTable* table, int64_t n) {
            for (int64_t i = 0; i < n; ++i) table->DeleteRow(order.at(i, n));
            table->Put("b", 100 * n);
          },
          ask);
      CheckCost(
          1,
          [&](HotTable* table, int64_t n) {
            for (int64_t i = 0; i < n; ++i) table->DeleteColumn("b", order.at(i, n));
            table->Put("b", 100 * n);
          },
          ask);
      CheckCost(
          1,
          [&](HotTable* table, int64_t n) {
            for (int64_t i = 0; i < n; ++i) table->DeleteColumn(std::to_string(i), order.at(i, n));
            table->Put("b", 100 * n);
          },
          ask);
    }
  }
}

BOOST_AUTO_TEST_CASE(ManyColumns) {
  const auto fill = [](HotTable* table, int64_t n) {
    for (int64_t i = 0; i < n; ++i) table->Put("c" + std::to_string(i), 10 + i);
  };
  CheckCost(1, fill, [](const HotTable& table, int64_t n) {
    const auto answer = table.Get(OfColumn("c" + std::to_string(n / 2)));
    BOOST_CHECK_NE(answer.text, "-");
    return answer;
  });
  const auto none = [](const HotTable& table, int64_t) {
    const auto answer = table.Get();
    BOOST_CHECK_EQUAL(answer.text, "-");
    return answer;
  };
  // Deleted as one, in a recent cell and in the tree.
  CheckCost(
      1,
      [&](HotTable* table, int64_t n) {
        fill(table, n);
        table->DeleteRow(100 * n);
      },
      none);
  CheckCost(
      1,
      [&](HotTable* table, int64_t n) {
        fill(table, n);
        for (int i = 0; i < 100; ++i) table->DeleteRow(100 * n);
      },
      none);
  // In another memstore than the columns.
  CheckCost(
      1,
      [&](HotTable* table, int64_t n) {
        fill(table, n);
        table->Switch();
        for (int i = 0; i < 100; ++i) table->DeleteRow(100 * n + i);
      },
      none);
  // Deleted one by one.
  CheckCost(
      1,
      [&](HotTable* table, int64_t n) {
        for (int64_t i = 0; i < n; ++i) {
          table->Put("c" + std::to_string(i), 10 + i);
          table->DeleteColumn("c" + std::to_string(i), 10 + i);
        }
      },
      none);
}

BOOST_AUTO_TEST_CASE(OldSnapshots) {
  for (const Order& order : Orders()) {
    for (const uint32_t versions : {1u, 3u, kUnlimited}) {
      const auto fill = [&](HotTable* table, int64_t n) {
        table->Put("a", -5);
        for (int64_t i = 0; i < n; ++i) {
          table->Put("a", order.at(i, n));
          table->DeleteColumn("a", order.at(i, n));
        }
      };
      BOOST_TEST_CONTEXT(order.name << ", versions " << versions) {
        CheckCost(versions, fill, [](const HotTable& table, int64_t) {
          const auto answer = table.Get({}, SequenceNumber(101));
          BOOST_CHECK_EQUAL(answer.text, "a@-5");
          return answer;
        });
        CheckCost(versions, fill, [](const HotTable& table, int64_t) {
          const auto answer = table.Get({}, SequenceNumber(50));
          BOOST_CHECK_EQUAL(answer.text, "-");
          return answer;
        });
        // In the middle a Put was just written, then deleted.
        CheckCost(versions, fill, [&](const HotTable& table, int64_t n) {
          const auto answer = table.Get({}, SequenceNumber(102 + (n & ~int64_t{1})));
          if (order.name == "rising") {
            BOOST_CHECK_EQUAL(answer.text, "a@" + std::to_string(order.at(n / 2, n)));
          }
          return answer;
        });
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(SeveralMemstores) {
  for (const Order& order : Orders()) {
    for (const uint32_t versions : {1u, 3u, kUnlimited}) {
      const auto fill = [&](HotTable* table, int64_t n) {
        for (int memstore = 0; memstore < 2; ++memstore) {
          for (int64_t i = 0; i < n / 2; ++i) table->Put("a", order.at(i, n));
          if (memstore == 0) table->Switch();
        }
      };
      BOOST_TEST_CONTEXT(order.name << ", versions " << versions) {
        CheckCost(versions, fill, [](const HotTable& table, int64_t) {
          const auto answer = table.Get();
          BOOST_CHECK_NE(answer.text, "-");
          return answer;
        });
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(BoundsOfTimeAreSought) {
  const auto fill = [](HotTable* table, int64_t n) {
    for (int64_t i = 0; i < n; ++i) table->Put("a", 10 * i);
  };
  CheckCost(kUnlimited, fill, [](const HotTable& table, int64_t n) {
    ReadOptions options;
    options.as_of = 5 * n;
    const auto answer = table.Get(options);
    BOOST_CHECK_EQUAL(answer.text, "a@" + std::to_string(5 * n));
    return answer;
  });
  CheckCost(kUnlimited, fill, [](const HotTable& table, int64_t n) {
    ReadOptions options;
    options.since = 10 * (n - 2);
    options.versions = kUnlimited;
    const auto answer = table.Get(options);
    BOOST_CHECK_EQUAL(answer.text,
                      "a@" + std::to_string(10 * (n - 1)) + " a@" + std::to_string(10 * (n - 2)));
    return answer;
  });
}

// Memory: a column that keeps few versions has no more of them in its trees.
BOOST_AUTO_TEST_CASE(ACounterTakesLittleMoreThanItsCells) {
  const auto table = HotRecord(1);
  Memstore memstore(table);
  constexpr uint64_t kUpdates = 100'000;
  for (uint64_t i = 1; i <= kUpdates; ++i) {
    format::Cell cell =
        NewHotCell(CellKind::kPut, table->families[0].id, "a", static_cast<int64_t>(i));
    cell.sequence = SequenceNumber(i);
    cell.value = "12345678";
    memstore.Apply("r", {&cell, 1});
  }
  // 48 bytes a cell and 16 in the log of changes; and for each 8 cells a tree, of 64 bytes and some
  // nodes.
  BOOST_CHECK_LT(memstore.size_bytes(), kUpdates * 80 + (1 << 20));
}

// A row of more than is gathered at once: it is read as a stream, and flushed column by column.
BOOST_AUTO_TEST_CASE(ALargeRowIsStreamedAndFlushedAsItIs) {
  for (const uint32_t versions : {1u, 2u, kUnlimited}) {
    TestEngine engine;
    engine.tuning.memstore_bytes = 64 << 20;
    engine.tuning.memstores_total_bytes = 128 << 20;
    BOOST_REQUIRE_EQUAL(engine.Open().ToString(), "OK");
    BOOST_REQUIRE_EQUAL(engine->CreateTable(SimpleTable(versions)).ToString(), "OK");
    BOOST_REQUIRE_EQUAL(engine.Put("r", "older", "file", Durability::kWritten, 5).ToString(), "OK");
    BOOST_REQUIRE_EQUAL(engine->Flush("t").ToString(), "OK");
    const auto put_all = [&](const std::string& value) {
      for (int i = 0; i < 6'000; i += 3) {
        WriteBatch batch;
        for (int j = i; j < i + 3; ++j) batch.Put("t", "r", "d", "q" + std::to_string(j), value);
        batch.Put("t", "r", "d", "c", value);
        BOOST_REQUIRE_EQUAL(engine.Write(batch).ToString(), "OK");
      }
    };
    put_all("first");
    const Result<Snapshot> snapshot = engine->TakeSnapshot();
    WriteBatch batch;
    for (int i = 0; i < 100; ++i) batch.DeleteColumn("t", "r", "d", "q" + std::to_string(7 * i));
    batch.DeleteColumn("t", "r", "d", "older");
    BOOST_REQUIRE_EQUAL(engine.Write(batch).ToString(), "OK");
    put_all("second");
    const auto read = [&](uint32_t of_each, bool old) {
      ReadOptions options;
      options.versions = of_each;
      if (old) options.snapshot = &*snapshot;
      const auto row = engine->Get(options, "t", "r");
      BOOST_REQUIRE_EQUAL(row.status().ToString(), "OK");
      std::string text;
      for (const Cell& cell : (*row)->cells()) {
        text.append(cell.qualifier).append("=").append(cell.value).append("@");
        text += std::to_string(cell.timestamp) + " ";
      }
      return text;
    };
    const std::string newest = read(1, false), all = read(10'000, false);
    const std::string old_newest = read(1, true), old_all = read(10'000, true);
    BOOST_CHECK_EQUAL(std::count(newest.begin(), newest.end(), '@'), 6'001);
    BOOST_CHECK_EQUAL(std::count(old_newest.begin(), old_newest.end(), '@'), 6'002);
    BOOST_REQUIRE_EQUAL(engine->Flush("t").ToString(), "OK");
    BOOST_CHECK(read(1, false) == newest && read(10'000, false) == all);
    BOOST_CHECK(read(1, true) == old_newest && read(10'000, true) == old_all);
    const auto verified = engine->Verify(/*deep=*/true);
    BOOST_REQUIRE_EQUAL(verified.status().ToString(), "OK");
    BOOST_CHECK(verified->findings.empty());
  }
}

// A DeleteCell reads what it needs of a row that was written again and again, and reveals it.
BOOST_AUTO_TEST_CASE(ADeleteCellOfAHotRowRevealsTheVersionBelow) {
  for (const uint32_t versions : {2u, kUnlimited}) {
    TestEngine engine;
    engine.tuning.chain_cells_max = 8;
    BOOST_REQUIRE_EQUAL(engine.Open().ToString(), "OK");
    BOOST_REQUIRE_EQUAL(engine->CreateTable(SimpleTable(versions)).ToString(), "OK");
    for (int i = 1; i <= 100; ++i) {
      BOOST_REQUIRE_EQUAL(
          engine.Put("r", "a", std::to_string(i), Durability::kWritten, i).ToString(), "OK");
    }
    const auto delete_cell = [&](std::optional<int64_t> timestamp) {
      WriteBatch batch;
      batch.DeleteCell("t", "r", "d", "a", timestamp);
      BOOST_REQUIRE_EQUAL(engine.Write(batch).ToString(), "OK");
    };
    delete_cell(std::nullopt);
    BOOST_CHECK_EQUAL(engine.Value("r", "a"), "99");
    delete_cell(50);  // Two versions are kept, or all.
    delete_cell(98);
    ReadOptions options;
    options.versions = 1'000;
    const auto row = engine->Get(options, "t", "r");
    BOOST_REQUIRE(row.has_value() && row->has_value());
    BOOST_CHECK_EQUAL((*row)->cells().size(), versions == 2 ? 1u : 97u);
    for (int i = 0; i < 40; ++i) delete_cell(std::nullopt);
    BOOST_CHECK_EQUAL(engine.Value("r", "a"), versions == 2 ? "-" : "58");
    BOOST_REQUIRE_EQUAL(engine->Flush("t").ToString(), "OK");
    BOOST_CHECK_EQUAL(engine.Value("r", "a"), versions == 2 ? "-" : "58");
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
