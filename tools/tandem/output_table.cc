// The table writer. It keeps the first records to measure them, then streams.
#include "tools/tandem/output_table.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "tools/tandem/bytes_text.h"

namespace tandem::tools {
namespace {

constexpr std::string_view kGap = "  ";
constexpr size_t kColumnWidthMin = 8;

/// Columns of the terminal that `out` is; 0 if it is none.
size_t TerminalWidth(std::FILE* out) {
  const int descriptor = fileno(out);
  if (descriptor < 0 || isatty(descriptor) == 0) return 0;
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

struct TableCell {
  std::string text;
  bool right = false;
};

TableCell CellOf(const Value& value) {
  if (value.absent()) return {};
  return {EscapeBytes(value.Bytes()), value.is_number()};
}

class TableWriter : public RecordWriter {
 public:
  explicit TableWriter(std::FILE* out) : out_(out), terminal_width_(TerminalWidth(out)) {}

  void Begin(std::string_view, std::vector<std::string> columns) override {
    if (!first_) WriteBytes(out_, "\n");
    first_ = false;
    columns_ = std::move(columns);
    rows_.clear();
    measured_ = false;
  }
  using RecordWriter::Add;
  void Add(std::span<const Value> values) override {
    std::vector<TableCell> row;
    for (const Value& value : values) row.push_back(CellOf(value));
    if (measured_) {
      WriteRow(row);
      return;
    }
    rows_.push_back(std::move(row));
    if (rows_.size() == kTableRowsMeasured) WriteMeasured();
  }
  void End() override {
    if (!measured_) WriteMeasured();
  }
  void AddProperties(std::string_view kind, std::span<const Property> properties) override;

 private:
  void WriteMeasured();
  void FitWidths();
  void WriteRow(const std::vector<TableCell>& row);

  std::FILE* out_;
  size_t terminal_width_;
  bool first_ = true;
  std::vector<std::string> columns_;
  std::vector<std::vector<TableCell>> rows_;
  bool measured_ = false;
  std::vector<size_t> widths_;
};

void TableWriter::WriteMeasured() {
  widths_.clear();
  std::vector<TableCell> names;
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t width = DisplayWidth(columns_[i]);
    for (const auto& row : rows_) width = std::max(width, DisplayWidth(row[i].text));
    widths_.push_back(width);
    const bool numbers = !rows_.empty() && std::ranges::all_of(rows_, [i](const auto& row) {
      return row[i].right || row[i].text.empty();
    });
    names.push_back({columns_[i], numbers});
  }
  FitWidths();
  WriteRow(names);
  for (const auto& row : rows_) WriteRow(row);
  rows_.clear();
  measured_ = true;
}

/// Narrows the widest columns until the line fits the terminal.
void TableWriter::FitWidths() {
  if (terminal_width_ == 0) return;
  const auto total = [this] {
    size_t sum = 0;
    for (const size_t width : widths_) sum += width + kGap.size();
    return sum - (widths_.empty() ? 0 : kGap.size());
  };
  while (!widths_.empty() && total() > terminal_width_) {
    size_t& widest = *std::ranges::max_element(widths_);
    if (widest <= kColumnWidthMin) return;
    widest -= std::min(total() - terminal_width_, (widest - kColumnWidthMin) / 2 + 1);
  }
}

void TableWriter::WriteRow(const std::vector<TableCell>& row) {
  std::string line;
  for (size_t i = 0; i < row.size(); ++i) {
    if (i > 0) line += kGap;
    const std::string text =
        terminal_width_ == 0 ? row[i].text : CutToWidth(row[i].text, widths_[i]);
    const size_t width = DisplayWidth(text);
    const size_t padding = width < widths_[i] ? widths_[i] - width : 0;
    if (row[i].right) line.append(padding, ' ');
    line += text;
    if (!row[i].right && i + 1 < row.size()) line.append(padding, ' ');
  }
  line.push_back('\n');
  WriteBytes(out_, line);
}

void TableWriter::AddProperties(std::string_view, std::span<const Property> properties) {
  if (!first_) WriteBytes(out_, "\n");
  first_ = false;
  size_t width = 0;
  for (const auto& [name, value] : properties) width = std::max(width, DisplayWidth(name));
  for (const auto& [name, value] : properties) {
    std::string line(name);
    line.append(width - DisplayWidth(name), ' ');
    line += kGap;
    line += CellOf(value).text;
    line.push_back('\n');
    WriteBytes(out_, line);
  }
}

}  // namespace

std::unique_ptr<RecordWriter> NewTableWriter(std::FILE* out) {
  return std::make_unique<TableWriter>(out);
}

size_t DisplayWidth(std::string_view text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char byte) { return (byte & 0xc0) != 0x80; }));
}

std::string CutToWidth(std::string_view text, size_t width) {
  if (DisplayWidth(text) <= width) return std::string(text);
  size_t end = 0, characters = 0;
  while (end < text.size()) {
    const bool starts = (text[end] & 0xc0) != 0x80;
    if (starts && characters++ + 1 == width) break;
    ++end;
  }
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace tandem::tools
