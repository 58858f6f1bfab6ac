// Rows as reads return them: a view into a cursor, or a copy that owns its bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#pragma GCC visibility push(default)

namespace tandem {

/// One visible version of one column. Lifetime of its bytes: that of the view or row it is part of.
struct Cell {
  std::string_view family;
  std::string_view qualifier;
  int64_t timestamp = 0;  ///< Microseconds since 1970, or the writer's own.
  std::string_view value;
};

/// The current row of a cursor: a few pointers, so copying a view copies no bytes. Cells are sorted
/// by family, qualifier, newest first. Lifetime: until the cursor moves, is moved from or is
/// destroyed; copy it into a Row to keep it.
class RowView {
 public:
  RowView() = default;
  RowView(std::string_view key, std::span<const Cell> cells, bool continues = false)
      : key_(key), cells_(cells), continues_(continues) {}
  std::string_view key() const { return key_; }
  std::span<const Cell> cells() const { return cells_; }
  /// More cells of this row follow in the next view (ReadOptions::pieces).
  bool continues() const { return continues_; }
  /// The newest value of a column; nullopt if the row has none, or it was not requested.
  std::optional<std::string_view> Find(std::string_view family, std::string_view qualifier) const;

 private:
  std::string_view key_;
  std::span<const Cell> cells_;
  bool continues_ = false;
};

/// A row that owns its bytes, in one block of memory. Move-only; views into it stay valid when it
/// is moved. Threads: any number may read it.
class Row {
 public:
  /// Copies the view's cells; for a row in pieces, those of this piece. Throws std::bad_alloc.
  explicit Row(const RowView& view);
  Row(Row&& other) noexcept { *this = std::move(other); }
  Row& operator=(Row&& other) noexcept {
    block_ = std::move(other.block_);
    key_ = std::exchange(other.key_, {});
    cells_ = std::exchange(other.cells_, {});
    return *this;
  }
  std::string_view key() const { return key_; }
  std::span<const Cell> cells() const { return cells_; }
  std::optional<std::string_view> Find(std::string_view family, std::string_view qualifier) const {
    return view().Find(family, qualifier);
  }
  RowView view() const { return {key_, cells_}; }

 private:
  std::unique_ptr<char[]> block_;  // The cells, then the bytes that they and the key refer to.
  std::string_view key_;
  std::span<const Cell> cells_;
};

}  // namespace tandem

#pragma GCC visibility pop
