// Finds out from files and memstores which paths a query takes; see paths.h.
#include "test/model/paths.h"

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/storage/files.h"
#include "engine/storage/storage.h"
#include "index/entries.h"
#include "index/key.h"
#include "store_file/scanner.h"
#include "store_file/store_file.h"
#include "test/model/checker.h"

namespace tandem::test {
namespace {

/// A file as the test reads it, with nothing of the engine in between.
struct OpenFile {
  std::shared_ptr<format::StoreFile> store;
  std::vector<std::string> keys;                          ///< By ordinal.
  std::map<std::string, std::vector<format::Cell>> rows;  ///< Views into `values`.
  std::vector<std::unique_ptr<std::deque<std::string>>> values;
};

// The cells of the present row, without their values; their qualifiers are kept in `*owned`.
void ReadRow(const format::RowStream& rows, const std::string& context,
             std::deque<std::string>* owned, std::vector<format::Cell>* cells) {
  const auto stream = rows.Stream();
  RequireOk(stream.status(), context);
  while (true) {
    const auto more = (*stream)->Next();
    RequireOk(more.status(), context);
    if (!*more) return;
    for (format::Cell cell : (*stream)->cells()) {
      cell.qualifier = owned->emplace_back(cell.qualifier);
      cell.value = {};
      cells->push_back(cell);
    }
  }
}

void CountShape(const format::RowStream& rows, const std::vector<format::Cell>& cells,
                Counters* counters) {
  counters->wide_rows += rows.is_wide() ? 1 : 0;
  for (const format::Cell& cell : cells) counters->overflow_values += cell.is_overflow() ? 1 : 0;
  counters->rows_of_families += cells.front().family != cells.back().family ? 1 : 0;
}

OpenFile ReadFile(base::Directory* directory, uint64_t number, Counters* counters) {
  const std::string name = engine::StoreFileName(format::FileNumber(number));
  auto file = directory->Open(name, base::OpenMode::kReadOnly);
  RequireOk(file.status(), name);
  auto store = format::StoreFile::Open(std::move(*file), {}, nullptr);
  RequireOk(store.status(), name);
  OpenFile open;
  open.store = *store;
  format::RowStream rows(open.store.get(), 0, open.store->row_count());
  while (true) {
    RequireOk(rows.Next(), name);
    if (!rows.valid()) break;
    open.keys.push_back(rows.key());
    std::vector<format::Cell>& cells = open.rows[rows.key()];
    auto owned = std::make_unique<std::deque<std::string>>();
    ReadRow(rows, name, owned.get(), &cells);
    open.values.push_back(std::move(owned));
    CountShape(rows, cells, counters);
  }
  return open;
}

bool IsHiddenBy(const format::Cell& put, const format::Cell& marker) {
  if (marker.family != put.family) return false;
  switch (marker.kind) {
    case format::CellKind::kPut:
      return false;
    case format::CellKind::kDeleteCell:
      return marker.qualifier == put.qualifier && marker.timestamp == put.timestamp;
    case format::CellKind::kDeleteColumn:
      return marker.qualifier == put.qualifier && marker.timestamp >= put.timestamp;
    case format::CellKind::kDeleteFamily:
      return marker.timestamp >= put.timestamp;
  }
  return false;
}

uint64_t HiddenPuts(const std::vector<format::Cell>& older,
                    const std::vector<format::Cell>& newer) {
  uint64_t hidden = 0;
  for (const format::Cell& put : older) {
    if (put.kind != format::CellKind::kPut) continue;
    for (const format::Cell& marker : newer) {
      if (!IsHiddenBy(put, marker)) continue;
      ++hidden;
      break;
    }
  }
  return hidden;
}

// Whether postings of the row in an index over a family are dead (rule 32).
bool HasDeadFamily(const OpenFile& file, const std::vector<format::Cell>& cells,
                   const std::vector<format::Cell>& newer) {
  const auto times_of = [&](format::FamilyId family) {
    const auto& all = file.store->statistics().family_times;
    return std::ranges::find(all, family, &format::ColumnTimes::family);
  };
  return std::ranges::any_of(file.store->table().indexes, [&](const format::IndexRecord& index) {
    const format::IndexColumnRecord& column = index.columns.front();
    if (!column.is_of_family()) return false;
    const bool has_puts = std::ranges::any_of(cells, [&](const format::Cell& cell) {
      return cell.kind == format::CellKind::kPut && cell.family == column.family;
    });
    return has_puts && std::ranges::any_of(newer, [&](const format::Cell& cell) {
             return cell.kind == format::CellKind::kDeleteFamily && cell.family == column.family &&
                    cell.timestamp >= times_of(column.family)->max_timestamp;
           });
  });
}

uint64_t StalePostings(const OpenFile& file, const TablePlan& plan, const Model& model,
                       int64_t now_micros) {
  uint64_t stale = 0;
  for (const format::IndexRecord& index : file.store->table().indexes) {
    const auto section = file.store->Index(index.id);
    RequireOk(section.status(), index.name);
    if (*section == nullptr) continue;
    const bool has_several = format::IsMultiValued(index.columns[0]);
    if (index.is_of_several() || has_several) continue;
    const format::IndexColumnRecord& column = index.columns[0];
    const std::string& family = file.store->table().FindFamily(column.family)->options.name;
    const auto cursor = (*section)->NewCursor(format::IndexPart::kCurrent);
    for (RequireOk(cursor->Seek({}), index.name); cursor->valid();
         RequireOk(cursor->Next(), index.name)) {
      std::string_view key = cursor->key();
      const auto value = format::DecodeIndexKey(column, &key);
      RequireOk(value.status(), index.name);
      std::vector<uint32_t> ordinals;
      RequireOk(cursor->AppendOrdinals(&ordinals), index.name);
      for (const uint32_t ordinal : ordinals) {
        const auto current = model.Value(plan.options.name, file.keys[ordinal],
                                         {family, column.qualifier}, now_micros, column.functions);
        // The column may hold what does not fit since a change of its indexes: without an entry.
        std::string entry;
        const bool same = current.has_value() && value->has_value() &&
                          format::AppendIndexKey(column, *current, &entry).ok() &&
                          entry == cursor->key();
        stale += same ? 0 : 1;
      }
    }
  }
  return stale;
}

}  // namespace

void CountPaths(Store* store, const TablePlan& plan, const Model& model, int64_t now_micros,
                Counters* counters) {
  auto directory = store->file_system().OpenDirectory(store->path(), false);
  RequireOk(directory.status(), store->path());
  std::vector<OpenFile> files;
  for (const TableInfo& table : store->engine().Info().tables) {
    if (table.options.name != plan.options.name) continue;
    for (const RegionInfo& region : table.regions) {
      for (const FileInfo& file : region.files) {
        files.push_back(ReadFile(directory->get(), file.number, counters));
      }
    }
  }
  std::map<std::string, uint64_t> files_of_row;
  for (size_t i = 0; i < files.size(); ++i) {
    counters->stale_hits += StalePostings(files[i], plan, model, now_micros);
    for (const auto& [key, cells] : files[i].rows) {
      ++files_of_row[key];
      for (size_t j = i + 1; j < files.size(); ++j) {
        const auto newer = files[j].rows.find(key);
        if (newer == files[j].rows.end()) continue;
        counters->deletes_over_files += HiddenPuts(cells, newer->second);
        const bool has_dead = HasDeadFamily(files[i], cells, newer->second);
        counters->families_over_files += has_dead ? 1 : 0;
      }
    }
  }
  for (const auto& [key, count] : files_of_row)
    counters->rows_in_several_files += count > 1 ? 1 : 0;
}

}  // namespace tandem::test
