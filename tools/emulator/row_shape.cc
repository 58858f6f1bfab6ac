// See row_shape.h.
#include "tools/emulator/row_shape.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/status_macros.h"
#include "tandem/limits.h"
#include "tools/generator/dice.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/format_text.h"

namespace tandem::emulator {
namespace {

using test::Mix;

constexpr uint64_t kRowsMax = 65'536;        // That are read of a table,
constexpr uint64_t kBytesMax = 64ull << 20;  // and bytes of them.
constexpr uint64_t kWords = 8192;

// One of the words, the k-th about as often as 1 / k.
void AppendWord(uint64_t draw, std::string* text) {
  const double uniform = static_cast<double>(draw >> 11) * 0x1p-53;
  const auto word = static_cast<uint64_t>(std::pow(static_cast<double>(kWords), uniform));
  const uint64_t letters = Mix(0, word);
  const uint64_t length = 2 + letters % 8;
  for (uint64_t i = 0; i < length; ++i) {
    text->push_back("etaoinshrdlcumwfgypbvkjxqz"[Mix(letters, i) % 26]);
  }
}

std::string ValueOf(const ColumnShape& column, uint64_t seed) {
  std::string value;
  for (uint64_t i = 0; value.size() < column.bytes; ++i) {
    const uint64_t draw = Mix(seed, i);
    if (column.kind == ValueKind::kRandom) value.push_back(static_cast<char>(draw));
    if (column.kind == ValueKind::kDigits) value.push_back("0123456789"[draw % 10]);
    if (column.kind != ValueKind::kText) continue;
    if (!value.empty()) value.push_back(' ');
    AppendWord(draw, &value);
  }
  value.resize(column.bytes);
  return value;
}

Status Malformed(std::string_view text, std::string_view what) {
  return Status::InvalidArgument(
      tools::Format("column '{}': {}; expected NAME=BYTES[:text|digits|random], 1 to {} bytes",
                    tools::EscapeBytes(text), what, kValueBytesMax));
}

}  // namespace

Result<ColumnShape> ParseColumnShape(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) return Malformed(text, "it has no '='");
  ColumnShape column{.qualifier = std::string(text.substr(0, equals))};
  if (column.qualifier.size() > kQualifierBytesMax) return Malformed(text, "the name is too long");
  const std::string_view rest = text.substr(equals + 1);
  const size_t colon = std::min(rest.find(':'), rest.size());
  const std::string_view kind = rest.substr(std::min(colon + 1, rest.size()));
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + colon, column.bytes);
  if (error != std::errc() || end != rest.data() + colon) {
    return Malformed(text, "the size is no number");
  }
  if (column.bytes == 0) return Malformed(text, "values of no bytes");
  if (column.bytes > kValueBytesMax) return Malformed(text, "values are too large");
  if (kind == "digits") column.kind = ValueKind::kDigits;
  if (kind == "random") column.kind = ValueKind::kRandom;
  const bool is_known = kind == "text" || kind == "digits" || kind == "random";
  if (colon < rest.size() && !is_known) return Malformed(text, "the kind of values is not known");
  return column;
}

RowShape RowShape::OfColumns(std::vector<ColumnShape> columns, std::vector<IndexOptions> indexes) {
  RowShape shape;
  shape.table_.name = "t";
  shape.table_.families = {{.name = "d"}};
  shape.table_.indexes = std::move(indexes);
  shape.columns_ = std::move(columns);
  return shape;
}

Result<RowShape> RowShape::OfTable(Database* database, const TableInfo& table,
                                   const std::atomic<bool>* cancelled) {
  RowShape shape;
  shape.table_ = table.options;
  shape.table_.name = "t";
  shape.table_.split_keys.clear();
  shape.table_.observers.clear();
  shape.table_.row_key.clear();
  // Rows repeat; and whether they are unique does not change what they take.
  for (IndexOptions& index : shape.table_.indexes) index.unique = false;
  std::erase_if(shape.table_.indexes, [&table](const IndexOptions& index) {
    const auto info = std::ranges::find_if(table.indexes, [&index](const IndexInfo& known) {
      return known.options.name == index.name;
    });
    return info != table.indexes.end() && !info->unusable.empty();
  });
  uint64_t bytes = 0;
  auto cursor = database->Scan({.pieces = true, .cancelled = cancelled}, table.options.name,
                               {.limit = kRowsMax});
  if (!cursor.has_value()) return cursor.error();
  bool continues = false;
  while (bytes < kBytesMax && cursor->Next()) {
    if (!continues) shape.rows_.emplace_back();
    continues = cursor->row().continues();
    for (const auto& cell : cursor->row().cells()) {
      shape.rows_.back().push_back(
          {std::string(cell.family), std::string(cell.qualifier), std::string(cell.value)});
      bytes += cell.value.size();
    }
  }
  RETURN_IF_ERROR(cursor->status());
  if (shape.rows_.empty()) {
    return Status::InvalidArgument(
        tools::Format("table '{}' has no row to be like", tools::EscapeBytes(table.options.name)));
  }
  return shape;
}

uint64_t RowShape::Put(uint64_t i, std::string_view key, WriteBatch* batch) const {
  uint64_t bytes = key.size();
  const auto put = [&](std::string_view family, std::string_view qualifier,
                       std::string_view value) {
    batch->Put("t", key, family, qualifier, value);
    bytes += qualifier.size() + value.size();
  };
  for (size_t column = 0; column < columns_.size(); ++column) {
    put("d", columns_[column].qualifier, ValueOf(columns_[column], Mix(i, column)));
  }
  if (rows_.empty()) return bytes;
  for (const Cell& cell : rows_[i % rows_.size()]) put(cell.family, cell.qualifier, cell.value);
  return bytes;
}

}  // namespace tandem::emulator
