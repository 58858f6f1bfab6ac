// A box a region, in it a line a run and a bar a file.
#include "tools/tandem/table_picture.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "tools/tandem/bytes_text.h"
#include "tools/tandem/declarations.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/output_table.h"
#include "tools/tandem/row_output.h"

namespace tandem::tools {
namespace {

constexpr size_t kInnerWidth = 74;
constexpr size_t kBarWidth = 40;
constexpr size_t kRegionsDrawn = 8;
constexpr size_t kFilesDrawn = 4;  // Of a region; where it has more, its runs are enough.

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

std::string Bar(const char* name, uint64_t part, uint64_t whole, const std::string& shown) {
  const size_t filled =
      whole == 0 ? 0 : static_cast<size_t>((part * kBarWidth + whole / 2) / whole);
  return Format("  {:<9}{}{} {:>9} {:>8}", name, Repeat("█", filled),
                Repeat("░", kBarWidth - std::min(filled, kBarWidth)), shown,
                FormatShare(part, whole));
}

std::string BarOfBytes(const char* name, uint64_t part, uint64_t whole) {
  return Bar(name, part, whole, FormatSize(part));
}

// What files have together.
struct Sum {
  uint64_t files = 0, rows = 0, size_bytes = 0, data_bytes = 0, index_bytes = 0;

  void Add(const FileInfo& file) {
    ++files;
    rows += file.rows;
    size_bytes += file.size_bytes;
    data_bytes += file.data_bytes;
    index_bytes += file.index_bytes;
  }
  uint64_t rest_bytes() const {
    return size_bytes - std::min(size_bytes, data_bytes + index_bytes);
  }
};

Sum SumOf(std::span<const FileInfo> files) {
  Sum sum;
  for (const FileInfo& file : files) sum.Add(file);
  return sum;
}

Sum SumOf(const TableInfo& table) {
  Sum sum;
  for (const RegionInfo& region : table.regions) {
    for (const FileInfo& file : region.files) sum.Add(file);
  }
  return sum;
}

std::string Plural(uint64_t count, const char* noun) {
  return Format("{} {}{}", FormatCount(count), noun, count == 1 ? "" : "s");
}

std::string DrawShares(const Sum& sum) {
  return BoxLine(BarOfBytes("rows", sum.data_bytes, sum.size_bytes)) +
         BoxLine(BarOfBytes("indexes", sum.index_bytes, sum.size_bytes)) +
         BoxLine(BarOfBytes("the rest", sum.rest_bytes(), sum.size_bytes));
}

std::string DrawFile(const FileInfo& file) {
  return BoxLine(Format("store-{}: {} rows, {} cells, {}", file.number, FormatCount(file.rows),
                        FormatCount(file.cells), FormatSize(file.size_bytes))) +
         DrawShares(SumOf({&file, 1}));
}

std::vector<std::span<const FileInfo>> RunsOf(const RegionInfo& region) {
  std::vector<std::span<const FileInfo>> runs;
  const std::span<const FileInfo> files = region.files;
  for (size_t begin = 0, end = 0; begin < files.size(); begin = end) {
    while (end < files.size() && files[end].run == files[begin].run) ++end;
    runs.push_back(files.subspan(begin, end - begin));
  }
  return runs;
}

std::string DrawRuns(const RegionInfo& region, uint64_t region_bytes) {
  const auto runs = RunsOf(region);
  const bool draws_files = region.files.size() <= kFilesDrawn;
  std::string text;
  for (size_t i = 0; i < runs.size(); ++i) {
    const Sum sum = SumOf(runs[i]);
    if (!draws_files || runs.size() > 1) {
      text +=
          BoxLine(Format("run {} of {}: {}, {}, {}, {} of the region", i + 1, runs.size(),
                         Plural(sum.files, "file"), Plural(sum.rows, "row"),
                         FormatSize(sum.size_bytes), FormatShare(sum.size_bytes, region_bytes)));
    }
    if (!draws_files) continue;
    for (const FileInfo& file : runs[i]) text += DrawFile(file);
  }
  return draws_files ? text : text + DrawShares(SumOf(region.files));
}

// What a merge of the region's files would free, as far as is known without reading rows.
std::string DrawDead(const RegionInfo& region) {
  std::string text;
  if (region.dead_index_entries > 0) {
    const uint64_t dead = region.dead_index_entries, all = region.index_entries;
    text +=
        BoxLine(Format("index entries: {}, {} of them dead", FormatCount(all), FormatCount(dead)));
    text += BoxLine(Bar("dead", dead, all, FormatCount(dead)));
  }
  if (region.deletes > 0) text += BoxLine(Plural(region.deletes, "delete marker"));
  if (region.shared_files > 0) {
    text += BoxLine(Format("{} shared with other regions", Plural(region.shared_files, "file")));
  }
  return text;
}

std::string DrawRegion(const RegionInfo& region, uint64_t table_bytes) {
  const std::string from =
      region.start_key.empty() ? "the first key" : EscapeBytes(region.start_key);
  const std::string to = region.end_key.empty() ? "the last" : EscapeBytes(region.end_key);
  const uint64_t bytes = SumOf(region.files).size_bytes;
  const std::string share =
      bytes == table_bytes ? "" : Format(", {} of the table", FormatShare(bytes, table_bytes));
  std::string text = "┌" + Repeat("─", kInnerWidth + 2) + "┐\n";
  text += BoxLine(Format("region {}: {} to {}", region.id, from, to) + share);
  text += DrawRuns(region, bytes);
  text += DrawDead(region);
  if (region.memstore_rows > 0) {
    text += BoxLine(Format("in memory: {} rows, {}", FormatCount(region.memstore_rows),
                           FormatSize(region.memstore_bytes)));
  }
  return text + "└" + Repeat("─", kInnerWidth + 2) + "┘\n";
}

// The places of the largest regions, ascending.
std::vector<size_t> LargestRegions(const TableInfo& table) {
  std::vector<size_t> places(table.regions.size());
  std::iota(places.begin(), places.end(), size_t{0});
  std::ranges::stable_sort(places, std::ranges::greater(), [&](size_t place) {
    const RegionInfo& region = table.regions[place];
    return SumOf(region.files).size_bytes + region.memstore_bytes;
  });
  places.resize(std::min(places.size(), kRegionsDrawn));
  std::ranges::sort(places);
  return places;
}

std::string FamiliesText(const TableInfo& table) {
  std::string text;
  for (const FamilyOptions& family : table.options.families) {
    text += Format("{}{} ({}, {}{})", text.empty() ? "" : ", ", EscapeBytes(family.name),
                   Plural(family.max_versions, "version"), CompressionName(family.compression),
                   family.ttl_micros == 0 ? "" : ", with a time to live");
  }
  return text;
}

std::string_view UniqueText(UniqueState state) {
  switch (state) {
    case UniqueState::kNone:
      return "";
    case UniqueState::kBuilding:
      return "  unique, not checked yet";
    case UniqueState::kChecking:
      return "  unique, being checked";
    case UniqueState::kReady:
      break;
  }
  return "  unique";
}

}  // namespace

std::string DrawTable(const TableInfo& table) {
  const uint64_t table_bytes = SumOf(table).size_bytes;
  std::string text;
  uint64_t drawn_bytes = 0;
  const std::vector<size_t> drawn = LargestRegions(table);
  for (const size_t place : drawn) {
    text += DrawRegion(table.regions[place], table_bytes);
    drawn_bytes += SumOf(table.regions[place].files).size_bytes;
  }
  if (drawn.size() < table.regions.size()) {
    text += Format(
        "  and {} smaller, {} ({})\n", Plural(table.regions.size() - drawn.size(), "region"),
        FormatSize(table_bytes - drawn_bytes), FormatShare(table_bytes - drawn_bytes, table_bytes));
  }
  for (const IndexInfo& index : table.indexes) {
    text += Format("  index {:<16} {:>9} entries  {:>9} values  {:>9}{}\n", index.options.name,
                   FormatCount(index.entries), FormatCount(index.values),
                   FormatSize(index.size_bytes), UniqueText(index.unique));
    text += Format("    over {}\n", EscapeBytes(index.options.ToString()));
  }
  return text;
}

std::string DrawTables(const DatabaseInfo& info) {
  uint64_t bytes = 0;
  for (const TableInfo& table : info.tables) bytes += SumOf(table).size_bytes;
  std::string text;
  for (const TableInfo& table : info.tables) {
    const Sum sum = SumOf(table);
    text += Format("\ntable {}: {}, {} in {}, {}, {} of all files\n",
                   EscapeBytes(table.options.name), Plural(table.regions.size(), "region"),
                   Plural(sum.rows, "row"), Plural(sum.files, "file"), FormatSize(sum.size_bytes),
                   FormatShare(sum.size_bytes, bytes));
    text += "  families: " + FamiliesText(table) + "\n" + DrawTable(table);
  }
  return text;
}

}  // namespace tandem::tools
