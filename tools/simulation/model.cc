// The reference model: slow, plain, and independent of the engine's code; see model.h.
#include "tools/simulation/model.h"

#include <algorithm>

namespace tandem::test {
namespace {

bool IsExpired(int64_t timestamp, const FamilyOptions& family, int64_t now_micros) {
  // Wide arithmetic: timestamps are the user's and may be extreme.
  return family.ttl_micros > 0 &&
         static_cast<__int128>(timestamp) + family.ttl_micros <= static_cast<__int128>(now_micros);
}

bool Wants(const ModelRead& read, const std::string& first_family, const std::string& family,
           const std::string& qualifier) {
  if (read.columns.empty() && read.families.empty()) return true;
  const auto named = [&](const std::string& name) {
    return (name.empty() ? first_family : name) == family;
  };
  return std::any_of(read.families.begin(), read.families.end(), named) ||
         std::any_of(read.columns.begin(), read.columns.end(), [&](const ColumnName& column) {
           return named(column.family) && column.qualifier == qualifier;
         });
}

bool IsBetween(const std::string& key, const std::string& start, const std::string& end) {
  return key >= start && (end.empty() || key < end);
}

bool IsInScan(const ScanOptions& scan, const std::string& key) {
  return IsInRanges(scan.ranges, key) && IsBetween(key, scan.start, scan.end) &&
         key.compare(0, scan.prefix.size(), scan.prefix) == 0;
}

}  // namespace

bool IsInRanges(const std::vector<RowRange>& ranges, const std::string& key) {
  return ranges.empty() || std::any_of(ranges.begin(), ranges.end(), [&](const RowRange& range) {
           return IsBetween(key, range.start, range.end);
         });
}

std::pair<std::string, std::string> PlaceInRanges(const std::vector<RowRange>& ranges,
                                                  const std::string& key) {
  for (const RowRange& range : ranges) {
    if (IsBetween(key, range.start, range.end)) return {key.substr(range.leading_bytes), key};
  }
  return {key, key};
}

std::string Describe(const std::vector<RowRange>& ranges) {
  std::string text;
  for (const RowRange& range : ranges) {
    text += ", " + Shown(range.start) + " to " + Shown(range.end);
    if (range.leading_bytes > 0) text += " without " + std::to_string(range.leading_bytes);
  }
  return text;
}

std::string Describe(const ScanOptions& scan) {
  return "scan from " + Shown(scan.start) + " to " + Shown(scan.end) + " prefix " +
         Shown(scan.prefix) + (scan.reverse ? " reversed" : "") + " limit " +
         std::to_string(scan.limit) + " offset " + std::to_string(scan.offset) +
         Describe(scan.ranges);
}

std::string Shown(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  constexpr size_t kShown = 100;
  std::string text = "'";
  for (const char byte : bytes.substr(0, kShown)) {
    if (byte >= 0x20 && byte < 0x7f && byte != '\\' && byte != '\'') {
      text += byte;
    } else {
      text += {'\\', 'x', kDigits[static_cast<uint8_t>(byte) >> 4], kDigits[byte & 15]};
    }
  }
  if (bytes.size() > kShown) text += "... of " + std::to_string(bytes.size()) + " bytes";
  return text + "'";
}

void ModelOperation::AddTo(WriteBatch* batch) const {
  switch (kind) {
    case Kind::kPut: {
      if (columns.size() == 1) {
        batch->Put(table, row, family, columns[0].first, columns[0].second, timestamp);
        return;
      }
      std::vector<ColumnValue> values;
      for (const auto& [qualifier, value] : columns) values.push_back({qualifier, value});
      batch->PutColumns(table, row, family, values, timestamp);
      return;
    }
    case Kind::kIncrement: {
      std::vector<ColumnDelta> deltas;
      for (const auto& [qualifier, delta] : columns) {
        deltas.push_back({.qualifier = qualifier, .delta = std::stoll(delta)});
      }
      return batch->IncrementColumns(table, row, family, deltas);
    }
    case Kind::kAppend: {
      std::vector<ColumnValue> values;
      for (const auto& [qualifier, value] : columns) values.push_back({qualifier, value});
      return batch->AppendColumns(table, row, family, values);
    }
    case Kind::kDeleteCell:
      return batch->DeleteCell(table, row, family, columns[0].first, timestamp);
    case Kind::kDeleteColumn:
      return batch->DeleteColumn(table, row, family, columns[0].first, timestamp);
    case Kind::kDeleteFamily:
      return batch->DeleteFamily(table, row, family, timestamp);
    case Kind::kDeleteRow:
      return batch->DeleteRow(table, row, timestamp);
  }
}

Status ModelOperation::AddTo(Transaction* transaction) const {
  switch (kind) {
    case Kind::kPut: {
      std::vector<ColumnValue> values;
      for (const auto& [qualifier, value] : columns) values.push_back({qualifier, value});
      return transaction->PutColumns(table, row, family, values, timestamp);
    }
    case Kind::kDeleteColumn:
      return transaction->DeleteColumn(table, row, family, columns[0].first, timestamp);
    case Kind::kDeleteFamily:
      return transaction->DeleteFamily(table, row, family, timestamp);
    case Kind::kDeleteRow:
      return transaction->DeleteRow(table, row, timestamp);
    case Kind::kIncrement:
    case Kind::kAppend:
    case Kind::kDeleteCell:
      break;
  }
  return Status::InvalidArgument("a transaction has no such operation");
}

std::string ModelOperation::Describe() const {
  constexpr const char* kNames[] = {"Put",       "DeleteCell", "DeleteColumn", "DeleteFamily",
                                    "DeleteRow", "Increment",  "Append"};
  std::string text = kNames[static_cast<int>(kind)];
  text += " " + table + " " + Shown(row);
  for (const auto& [qualifier, value] : columns) {
    text += " " + family + ":" + Shown(qualifier);
    if (!value.empty()) text += "=" + Shown(value);
  }
  return text + (timestamp.has_value() ? " @" + std::to_string(*timestamp) : "");
}

ModelRow::ModelRow(const RowView& view) : key(view.key()) {
  for (const Cell& cell : view.cells()) {
    cells.push_back({std::string(cell.family), std::string(cell.qualifier), cell.timestamp,
                     std::string(cell.value)});
  }
}

std::string ModelRow::Describe() const {
  std::string text = Shown(key) + " {";
  for (const ModelCell& cell : cells) {
    text += " " + cell.family + ":" + Shown(cell.qualifier) + "@" + std::to_string(cell.timestamp) +
            "=" + Shown(cell.value);
  }
  return text + " }";
}

void Model::CreateTable(const TableOptions& options) { tables_[options.name].options = options; }

void Model::EmptyFamily(const std::string& name, const std::string& family) {
  Table& table = tables_.at(name);
  const size_t place = FamilyOf(table.options, family);
  for (auto row = table.rows.begin(); row != table.rows.end();) {
    auto columns = std::make_shared<Columns>(*row->second);
    std::erase_if(*columns, [place](const auto& column) { return column.first.first == place; });
    const bool is_empty = columns->empty();
    row->second = std::move(columns);
    row = is_empty ? table.rows.erase(row) : std::next(row);
  }
  std::erase_if(table.options.columns, [&](const ColumnOptions& column) {
    return FamilyOf(table.options, column.family) == place;
  });
}

void Model::AlterFamily(const std::string& name, const FamilyOptions& options, int64_t now_micros) {
  Table& table = tables_.at(name);
  const size_t place = FamilyOf(table.options, options.name);
  FamilyOptions& family = table.options.families[place];
  for (auto row = table.rows.begin(); row != table.rows.end();) {
    auto columns = std::make_shared<Columns>(*row->second);
    for (auto column = columns->begin(); column != columns->end();) {
      Versions& versions = column->second;
      if (column->first.first == place) {
        std::erase_if(versions, [&](const auto& version) {
          return IsExpired(version.first, family, now_micros);
        });
        if (versions.size() > options.max_versions) versions.resize(options.max_versions);
      }
      column = versions.empty() ? columns->erase(column) : std::next(column);
    }
    const bool is_empty = columns->empty();
    row->second = std::move(columns);
    row = is_empty ? table.rows.erase(row) : std::next(row);
  }
  family = options;
}

void Model::Rename(const std::string& from, const std::string& to) {
  auto table = tables_.extract(from);
  table.key() = to;
  table.mapped().options.name = to;
  tables_.insert(std::move(table));
}

size_t Model::FamilyOf(const TableOptions& options, std::string_view family) {
  for (size_t i = 0; i < options.families.size(); ++i) {
    if (family.empty() || options.families[i].name == family) return i;
  }
  return 0;
}

void Model::Apply(const ModelOperation& operation, int64_t timestamp, int64_t now_micros) {
  Table& table = tables_.find(operation.table)->second;
  const int64_t own = operation.timestamp.value_or(timestamp);
  auto& row = table.rows[operation.row];
  auto columns = row == nullptr ? std::make_shared<Columns>() : std::make_shared<Columns>(*row);
  if (operation.kind == ModelOperation::Kind::kPut) {
    const size_t place = FamilyOf(table.options, operation.family);
    Put(operation, table.options.families[place], place, own, columns.get());
  } else if (operation.kind == ModelOperation::Kind::kIncrement ||
             operation.kind == ModelOperation::Kind::kAppend) {
    const size_t place = FamilyOf(table.options, operation.family);
    Update(operation, table.options.families[place], place, {timestamp, now_micros}, columns.get());
  } else {
    Delete(operation, table.options, own, now_micros, columns.get());
  }
  if (columns->empty()) {
    table.rows.erase(operation.row);
  } else {
    row = std::move(columns);
  }
}

void Model::Put(const ModelOperation& operation, const FamilyOptions& family, size_t place,
                int64_t timestamp, Columns* columns) {
  for (const auto& [qualifier, value] : operation.columns) {
    Versions& versions = (*columns)[{place, qualifier}];
    const auto at = std::find_if(versions.begin(), versions.end(),
                                 [&](const auto& version) { return version.first <= timestamp; });
    if (at != versions.end() && at->first == timestamp) {
      at->second = value;
    } else {
      versions.insert(at, {timestamp, value});
    }
    if (versions.size() > family.max_versions) versions.pop_back();
  }
}

// The new version is not older than the one that it is made of.
void Model::Update(const ModelOperation& operation, const FamilyOptions& family, size_t place,
                   const Moment& moment, Columns* columns) {
  for (const auto& [qualifier, change] : operation.columns) {
    const Versions& versions = (*columns)[{place, qualifier}];
    const bool exists = LiveCount(versions, family, moment.now_micros) > 0;
    ModelOperation put = operation;
    std::string value = exists ? versions.front().second : std::string();
    if (operation.kind == ModelOperation::Kind::kAppend) {
      value += change;
    } else {
      value = std::to_string((exists ? std::stoll(value) : 0) + std::stoll(change));
    }
    const int64_t newest = exists ? versions.front().first : moment.timestamp;
    put.columns = {{qualifier, value}};
    Put(put, family, place, std::max(moment.timestamp, newest), columns);
  }
}

void Model::Delete(const ModelOperation& operation, const TableOptions& options, int64_t timestamp,
                   int64_t now_micros, Columns* columns) {
  using Kind = ModelOperation::Kind;
  const size_t place = FamilyOf(options, operation.family);
  for (auto column = columns->begin(); column != columns->end();) {
    Versions& versions = column->second;
    const bool in_family = operation.kind == Kind::kDeleteRow || column->first.first == place;
    const bool names_column =
        operation.kind == Kind::kDeleteCell || operation.kind == Kind::kDeleteColumn;
    const bool hit =
        in_family && (!names_column || column->first.second == operation.columns[0].first);
    if (hit && operation.kind == Kind::kDeleteCell) {
      // Without a timestamp: the newest version that exists.
      const bool newest_lives = LiveCount(versions, options.families[place], now_micros) > 0;
      if (operation.timestamp.has_value()) {
        std::erase_if(versions, [&](const auto& version) { return version.first == timestamp; });
      } else if (newest_lives) {
        versions.erase(versions.begin());
      }
    } else if (hit) {
      std::erase_if(versions, [&](const auto& version) { return version.first <= timestamp; });
    }
    column = versions.empty() ? columns->erase(column) : std::next(column);
  }
}

size_t Model::LiveCount(const Versions& versions, const FamilyOptions& family, int64_t now_micros) {
  size_t count = 0;
  while (count < versions.size() && !IsExpired(versions[count].first, family, now_micros)) ++count;
  return count;
}

Model::Versions Model::Shown(const Versions& versions, const FamilyOptions& family,
                             const ModelRead& read) {
  Versions shown(versions.begin(), versions.begin() + static_cast<ptrdiff_t>(LiveCount(
                                                          versions, family, read.now_micros)));
  std::erase_if(shown, [&](const auto& version) {
    return (read.as_of.has_value() && version.first > *read.as_of) ||
           (read.since.has_value() && version.first < *read.since);
  });
  return shown;
}

std::optional<ModelRow> Model::Visible(const Table& table, const std::string& key,
                                       const Columns& columns, const ModelRead& read) {
  ModelRow row;
  row.key = key;
  const std::string& first_family = table.options.families[0].name;
  for (const auto& [column, versions] : columns) {
    const FamilyOptions& family = table.options.families[column.first];
    if (!Wants(read, first_family, family.name, column.second)) continue;
    const Versions shown = Shown(versions, family, read);
    for (size_t i = 0; i < shown.size() && i < read.versions; ++i) {
      row.cells.push_back({family.name, column.second, shown[i].first, shown[i].second});
    }
  }
  if (row.cells.empty()) return std::nullopt;
  return row;
}

std::optional<ModelRow> Model::Get(const std::string& table, const std::string& row,
                                   const ModelRead& read) const {
  const Table& in = tables_.find(table)->second;
  const auto found = in.rows.find(row);
  if (found == in.rows.end()) return std::nullopt;
  return Visible(in, row, *found->second, read);
}

std::vector<ModelRow> Model::Scan(const std::string& table, const ScanOptions& scan,
                                  const ModelRead& read) const {
  const Table& in = tables_.find(table)->second;
  std::vector<ModelRow> rows;
  for (const auto& [key, columns] : in.rows) {
    if (!IsInScan(scan, key)) continue;
    if (auto row = Visible(in, key, *columns, read)) rows.push_back(*std::move(row));
  }
  std::sort(rows.begin(), rows.end(), [&scan](const ModelRow& a, const ModelRow& b) {
    return PlaceInRanges(scan.ranges, a.key) < PlaceInRanges(scan.ranges, b.key);
  });
  if (scan.reverse) std::reverse(rows.begin(), rows.end());
  rows.erase(rows.begin(), rows.begin() + std::min<size_t>(scan.offset, rows.size()));
  if (scan.limit != 0 && rows.size() > scan.limit) rows.resize(scan.limit);
  return rows;
}

}  // namespace tandem::test
