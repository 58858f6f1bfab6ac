// Merging sources of one row: every cell once, in order, column by column, however the sources are
// cut into pieces.
#include "format/cell/cell_stream.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <utility>

#include "test/format/random_rows.h"
#include "test/support/print.h"

namespace tandem::format {
namespace {

using test::RandomRows;

// Gives its cells in pieces of random size, each with bytes of its own that go with its pin.
class PiecewiseStream final : public CellStream {
 public:
  PiecewiseStream(std::vector<Cell> cells, uint64_t seed)
      : rest_(std::move(cells)), random_(seed) {}
  Result<bool> Next() override {
    cells_.clear();
    if (at_ == rest_.size()) return false;
    auto bytes = std::make_shared<std::vector<std::string>>();
    const size_t end = std::min(rest_.size(), at_ + 1 + random_.Below(5));
    bytes->reserve(2 * (end - at_));
    for (; at_ < end; ++at_) {
      Cell cell = rest_[at_];
      cell.qualifier = bytes->emplace_back(cell.qualifier);
      cell.value = bytes->emplace_back(cell.value);
      cells_.push_back(cell);
    }
    pin_ = std::move(bytes);
    return true;
  }

 private:
  std::vector<Cell> rest_;
  RandomRows random_;
  size_t at_ = 0;
};

std::unique_ptr<CellStream> Pieces(std::vector<Cell> cells, uint64_t seed) {
  return std::make_unique<PiecewiseStream>(std::move(cells), seed);
}

void Sort(std::vector<Cell>* cells) { std::stable_sort(cells->begin(), cells->end(), CellLess); }

// Every cell that the stream gives; its shape is checked on the way.
std::vector<std::pair<uint8_t, test::OwnedCell>> Drain(ColumnStream* columns) {
  std::vector<std::pair<uint8_t, test::OwnedCell>> all;
  const auto add = [&](std::span<const Cell> cells) {
    for (const test::OwnedCell& cell : test::Owned({cells.begin(), cells.end()})) {
      all.emplace_back(columns->family().value, cell);
    }
  };
  int family = -1;
  while (*columns->Next()) {
    const auto deletes = columns->family_deletes();
    if (columns->family().value != family) {
      BOOST_TEST(columns->family().value > family);
      family = columns->family().value;
      add(deletes);
      BOOST_TEST((!columns->cells().empty() || !deletes.empty()));
    } else {
      BOOST_TEST(!columns->cells().empty());
    }
    for (const Cell& cell : columns->cells()) {
      BOOST_TEST(cell.qualifier == columns->cells()[0].qualifier);
    }
    add(columns->cells());
  }
  BOOST_TEST(!*columns->Next());
  return all;
}

BOOST_AUTO_TEST_SUITE(CellStreamTest)

BOOST_AUTO_TEST_CASE(CellsInMemoryAreOnePiece) {
  const std::string name = "q";
  std::vector<Cell> cells(3);
  cells[0].qualifier = name;
  auto stream = NewCellStream(cells, nullptr);
  BOOST_TEST(*stream->Next());
  BOOST_TEST(stream->cells().size() == 3u);
  BOOST_TEST(!*stream->Next());
  BOOST_TEST(stream->cells().empty());
  BOOST_TEST(!*NewCellStream({}, nullptr)->Next());
}

BOOST_AUTO_TEST_CASE(MergedSourcesGiveEveryCellInOrder) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      RandomRows random(seed);
      std::vector<test::OwnedRow> rows;
      for (uint64_t i = random.Below(5) * 3; i < 15; ++i) rows.push_back(random.Row());
      std::vector<Cell> all;
      std::vector<std::vector<Cell>> parts(1 + random.Below(4));
      for (size_t i = 0; i < rows.size(); ++i) {
        for (Cell& cell : test::Views(rows[i])) {
          cell.family = FamilyId(static_cast<uint8_t>(i % 3 * 5));
          all.push_back(cell);
          parts[random.Below(parts.size())].push_back(cell);
        }
      }
      Sort(&all);
      std::vector<std::unique_ptr<CellStream>> sources;
      for (std::vector<Cell>& part : parts) {
        Sort(&part);
        sources.push_back(random.Below(3) == 0 ? NewCellStream(part, nullptr)
                                               : Pieces(part, seed + sources.size()));
      }
      ColumnStream columns(std::move(sources));
      const auto merged = Drain(&columns);
      BOOST_REQUIRE(merged.size() == all.size());
      for (size_t i = 0; i < all.size(); ++i) {
        BOOST_TEST(merged[i].first == all[i].family.value);
        // Cells that compare equal may change places.
        const Cell view = merged[i].second.View();
        Cell expected = all[i];
        expected.family = view.family;
        BOOST_TEST((!CellLess(view, expected) && !CellLess(expected, view)));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(FamilyOfMarkersAloneIsAColumnWithoutCells) {
  std::vector<Cell> cells(2);
  cells[0].kind = cells[1].kind = CellKind::kDeleteFamily;
  cells[0].family = FamilyId(1);
  cells[1].family = FamilyId(2);
  std::vector<std::unique_ptr<CellStream>> sources;
  sources.push_back(NewCellStream(cells, nullptr));
  sources.push_back(NewCellStream(cells, nullptr));
  ColumnStream columns(std::move(sources));
  for (const uint8_t family : {1, 2}) {
    BOOST_REQUIRE(*columns.Next());
    BOOST_TEST(columns.family().value == family);
    BOOST_TEST(columns.family_deletes().size() == 2u);
    BOOST_TEST(columns.cells().empty());
  }
  BOOST_TEST(!*columns.Next());
}

BOOST_AUTO_TEST_CASE(CellsOutOfOrderAreCorruption) {
  for (const bool marker : {false, true}) {
    std::vector<Cell> cells(3);
    cells[0].qualifier = "b";
    cells[1].qualifier = marker ? "" : "a";
    cells[1].kind = marker ? CellKind::kDeleteFamily : CellKind::kPut;
    cells[2].qualifier = "c";
    std::vector<std::unique_ptr<CellStream>> sources;
    sources.push_back(NewCellStream(cells, nullptr));
    ColumnStream columns(std::move(sources));
    BOOST_REQUIRE(*columns.Next());
    BOOST_TEST(columns.Next().status().code() == StatusCode::kCorruption);
  }
  std::vector<Cell> cells(2);
  cells[0].family = FamilyId(1);
  std::vector<std::unique_ptr<CellStream>> sources;
  sources.push_back(NewCellStream(cells, nullptr));
  ColumnStream columns(std::move(sources));
  BOOST_REQUIRE(*columns.Next());
  BOOST_TEST(columns.Next().status().code() == StatusCode::kCorruption);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format
