// A box a region, in it a bar a file.
#include "tools/tandem/demo_picture.h"

#include <algorithm>
#include <vector>

#include "tools/tandem/bytes_text.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/output_table.h"

namespace tandem::tools {
namespace {

constexpr size_t kInnerWidth = 74;
constexpr size_t kBarWidth = 40;

std::string Repeat(std::string_view piece, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += piece;
  return text;
}

/// A line between the sides of the box.
std::string BoxLine(const std::string& text) {
  const std::string cut = CutToWidth(text, kInnerWidth);
  return "│ " + cut + Repeat(" ", kInnerWidth - DisplayWidth(cut)) + " │\n";
}

std::string Bar(const char* name, uint64_t part, uint64_t whole) {
  const size_t filled =
      whole == 0 ? 0 : static_cast<size_t>((part * kBarWidth + whole / 2) / whole);
  return Format("  {:<9}{}{} {:>9} {:>8}", name, Repeat("█", filled),
                Repeat("░", kBarWidth - std::min(filled, kBarWidth)), FormatSize(part),
                FormatShare(part, whole));
}

std::string DrawFile(const FileInfo& file) {
  const uint64_t known = std::min(file.size_bytes, file.data_bytes + file.index_bytes);
  std::string text =
      BoxLine(Format("store-{}: {} rows, {} cells, {}", file.number, FormatCount(file.rows),
                     FormatCount(file.cells), FormatSize(file.size_bytes)));
  text += BoxLine(Bar("rows", file.data_bytes, file.size_bytes));
  text += BoxLine(Bar("indexes", file.index_bytes, file.size_bytes));
  text += BoxLine(Bar("the rest", file.size_bytes - known, file.size_bytes));
  return text;
}

std::string DrawRegion(const RegionInfo& region) {
  const std::string from =
      region.start_key.empty() ? "the first key" : EscapeBytes(region.start_key);
  const std::string to = region.end_key.empty() ? "the last" : EscapeBytes(region.end_key);
  std::string text = "┌" + Repeat("─", kInnerWidth + 2) + "┐\n";
  text += BoxLine(Format("region {}: {} to {}", region.id, from, to));
  for (const FileInfo& file : region.files) text += DrawFile(file);
  if (region.memstore_rows > 0) {
    text += BoxLine(Format("in memory: {} rows, {}", FormatCount(region.memstore_rows),
                           FormatSize(region.memstore_bytes)));
  }
  return text + "└" + Repeat("─", kInnerWidth + 2) + "┘\n";
}

}  // namespace

std::string DrawTable(const TableInfo& table) {
  std::string text;
  for (const RegionInfo& region : table.regions) text += DrawRegion(region);
  for (const IndexInfo& index : table.indexes) {
    text +=
        Format("  index {:<16} {:>9} entries  {:>9} values  {:>9}\n", index.options.name,
               FormatCount(index.entries), FormatCount(index.values), FormatSize(index.size_bytes));
  }
  return text;
}

}  // namespace tandem::tools
