// The row's own members come flat; its list of cells is parsed a second time, into flat objects.
#include "tools/tandem/exported_json.h"

#include <algorithm>

#include "format/value_text.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/format_text.h"

namespace tandem::tools {
namespace {

constexpr std::string_view kBase64 = "_b64";

const Field* Find(std::span<const Field> members, std::string_view name) {
  const auto found = std::ranges::find(members, name, &Field::name);
  return found == members.end() ? nullptr : &*found;
}

}  // namespace

bool ExportedJsonReader::Matches(std::span<const Field> members) {
  bool row = false, cells = false;
  for (const auto& [name, value] : members) {
    if (name == "row" || name == "row_b64") {
      row = true;
    } else if (name == "cells") {
      cells = value.starts_with("[{");
    } else if (name != "continues" && !(name == "key" && value.starts_with('{'))) {
      return false;
    }
  }
  return row && cells;
}

std::string ExportedJsonReader::Read(std::span<const Field> members, Record* record) {
  decoded_.clear();
  std::string_view key;
  std::string problem = ReadBytes(members, "row", &key);
  if (!problem.empty()) return problem;
  text_.assign(Find(members, "cells")->value);
  problem = parser_.ReadList(text_.data(), &objects_);
  for (const auto& object : objects_) {
    if (!problem.empty()) break;
    problem = ReadCell(object, &record->cells.emplace_back());
  }
  if (!problem.empty())
    return Format("cell {}: {}", std::max<size_t>(record->cells.size(), 1), problem);
  record->row_key = key;
  return {};
}

std::string ExportedJsonReader::ReadCell(std::span<const Field> members, Cell* cell) {
  std::string problem = ReadBytes(members, "family", &cell->family);
  if (problem.empty()) problem = ReadBytes(members, "column", &cell->qualifier);
  if (problem.empty()) problem = ReadBytes(members, "value", &cell->value);
  if (!problem.empty()) return problem;
  const Field* const timestamp = Find(members, "timestamp");
  const auto micros = timestamp == nullptr ? std::nullopt : format::ParseInt64(timestamp->value);
  if (!micros.has_value()) return "its timestamp is not a count of microseconds";
  cell->timestamp = *micros;
  return members.size() == 4 ? "" : "has members that no cell has";
}

/// The member `name`, or `name`_b64 decoded.
std::string ExportedJsonReader::ReadBytes(std::span<const Field> members, std::string_view name,
                                          std::string_view* bytes) {
  for (const Field& member : members) {
    if (!member.name.starts_with(name)) continue;
    const std::string_view suffix = member.name.substr(name.size());
    if (suffix.empty()) {
      *bytes = member.value;
      return {};
    }
    if (suffix != kBase64) continue;
    Result<std::string> decoded = DecodeBase64(member.value);
    if (!decoded.has_value()) return Format("its {} is not base64", member.name);
    *bytes = decoded_.emplace_back(*std::move(decoded));
    return {};
  }
  return Format("has no {}", name);
}

}  // namespace tandem::tools
