// Merges a row one column at a time:
//   1. The smallest current cell of all sources determines the next family or column.
//   2. A new family: its DeleteFamily markers are taken from all sources; they come first in each.
//   3. The column: its cells are taken from all sources, and sorted if more than one had any.
// A source may move to its next piece while a column is collected; the pins of earlier pieces are
// held until the next column.
#include "format/cell/cell_stream.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/status_macros.h"

namespace tandem::format {
namespace {

class CellsInMemory final : public CellStream {
 public:
  CellsInMemory(std::vector<Cell> cells, std::shared_ptr<const void> pin) {
    cells_ = std::move(cells);
    pin_ = std::move(pin);
  }
  Result<bool> Next() override {
    const bool first = !std::exchange(given_, true);
    if (!first) cells_.clear();
    return first && !cells_.empty();
  }

 private:
  bool given_ = false;
};

// A source and its current cell.
class Cursor {
 public:
  explicit Cursor(std::unique_ptr<CellStream> stream) : stream_(std::move(stream)) {}

  bool valid() const { return at_ < cells_.size(); }
  const Cell& cell() const { return cells_[at_]; }
  const std::shared_ptr<const void>& pin() const { return stream_->pin(); }
  Status Next() {
    ++at_;
    return valid() ? Status() : LoadPiece();
  }
  Status LoadPiece() {
    at_ = 0;
    cells_ = {};
    ASSIGN_OR_RETURN(const bool more, stream_->Next());
    if (more) cells_ = stream_->cells();
    return {};
  }

 private:
  std::unique_ptr<CellStream> stream_;
  std::span<const Cell> cells_;
  size_t at_ = 0;
};

}  // namespace

std::unique_ptr<CellStream> NewCellStream(std::vector<Cell> cells,
                                          std::shared_ptr<const void> pin) {
  return std::make_unique<CellsInMemory>(std::move(cells), std::move(pin));
}

struct ColumnStream::Impl {
  Status Start();
  const Cell* Smallest() const;
  Status BeginFamily(FamilyId next);
  Status GatherColumn(const Cell& first);
  template <typename Wanted>
  Status Take(Wanted wanted, std::vector<Cell>* out);

  std::vector<Cursor> sources;
  bool started = false;
  bool in_family = false;
  bool in_column = false;
  FamilyId family;
  std::string qualifier;  // Of the current column.
  std::vector<Cell> family_deletes;
  std::vector<Cell> cells;
  std::vector<std::shared_ptr<const void>> pins;  // Of `cells`.
};

ColumnStream::ColumnStream(std::vector<std::unique_ptr<CellStream>> sources)
    : impl_(std::make_unique<Impl>()) {
  for (auto& source : sources) impl_->sources.emplace_back(std::move(source));
}

ColumnStream::~ColumnStream() = default;

FamilyId ColumnStream::family() const { return impl_->family; }
std::span<const Cell> ColumnStream::family_deletes() const { return impl_->family_deletes; }
std::span<const Cell> ColumnStream::cells() const { return impl_->cells; }

Result<bool> ColumnStream::Next() {
  Impl& impl = *impl_;
  if (!std::exchange(impl.started, true)) RETURN_IF_ERROR(impl.Start());
  impl.cells.clear();
  impl.pins.clear();
  const Cell* next = impl.Smallest();
  if (next == nullptr) return false;
  if (!impl.in_family || next->family != impl.family) {
    RETURN_IF_ERROR(impl.BeginFamily(next->family));
    next = impl.Smallest();
    if (next == nullptr || next->family != impl.family) return true;  // Markers alone.
  }
  RETURN_IF_ERROR(impl.GatherColumn(*next));
  return true;
}

Status ColumnStream::Impl::Start() {
  for (Cursor& source : sources) RETURN_IF_ERROR(source.LoadPiece());
  return {};
}

// nullptr when every source has ended.
const Cell* ColumnStream::Impl::Smallest() const {
  const Cell* smallest = nullptr;
  for (const Cursor& source : sources) {
    if (!source.valid()) continue;
    if (smallest == nullptr || CellLess(source.cell(), *smallest)) smallest = &source.cell();
  }
  return smallest;
}

Status ColumnStream::Impl::BeginFamily(FamilyId next) {
  if (in_family && next < family) {
    return Status::Corruption("the families of a row are not in order");
  }
  in_family = true;
  in_column = false;
  family = next;
  family_deletes.clear();
  return Take([&](const Cell& cell) { return cell.family == family && IsFamilyDelete(cell); },
              &family_deletes);
}

Status ColumnStream::Impl::GatherColumn(const Cell& first) {
  if (IsFamilyDelete(first) || (in_column && first.qualifier <= qualifier)) {
    return Status::Corruption("the cells of a row are not in order");
  }
  in_column = true;
  qualifier = first.qualifier;
  return Take(
      [&](const Cell& cell) {
        return cell.family == family && !IsFamilyDelete(cell) && cell.qualifier == qualifier;
      },
      &cells);
}

// Moves the wanted cells at the front of each source to `*out`, sorted.
template <typename Wanted>
Status ColumnStream::Impl::Take(Wanted wanted, std::vector<Cell>* out) {
  size_t sources_with_any = 0;
  for (Cursor& source : sources) {
    const size_t before = out->size();
    while (source.valid() && wanted(source.cell())) {
      if (source.pin() != nullptr && (pins.empty() || pins.back() != source.pin())) {
        pins.push_back(source.pin());
      }
      out->push_back(source.cell());
      RETURN_IF_ERROR(source.Next());
    }
    if (out->size() > before) ++sources_with_any;
  }
  if (sources_with_any > 1) std::sort(out->begin(), out->end(), CellLess);
  return {};
}

}  // namespace tandem::format
