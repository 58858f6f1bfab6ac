// All that the files of a database say about one row: the catalog's regions, the store files'
// filters, key hashes, cells and index entries, the operations of the log. No file is believed to
// know of another: a file that the catalog does not name is asked too.
#include <algorithm>
#include <map>

#include "base/status_macros.h"
#include "engine/storage/files.h"
#include "engine/storage/storage.h"
#include "format/hash.h"
#include "format/root.h"
#include "index/entries.h"
#include "tools/dump/catalog.h"
#include "tools/dump/chain.h"
#include "tools/dump/names.h"
#include "tools/dump/store_file.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/format_text.h"

namespace tandem::tools {
namespace {

class KeySearch {
 public:
  KeySearch(const DumpOptions& options, const Context& context, std::string key,
            DumpRecords* writer)
      : options_(options), context_(context), key_(std::move(key)), writer_(*writer) {}

  Status SearchDirectory();
  Status SearchFile(const std::string& path);
  uint64_t damaged_places() const { return damaged_places_; }

 private:
  Status ReadCatalog();
  void AddRegions();
  Status SearchStoreFile(Dump& dump);
  Status SearchDerived(format::StoreFile* file, uint32_t ordinal);
  Status SearchIndex(format::StoreFile* file, const format::IndexRecord& index, uint32_t ordinal,
                     const format::Cell& cell);
  Status SearchEntry(format::IndexSection* section, const format::IndexRecord& index,
                     uint32_t ordinal, const format::Cell& cell, std::string key);
  Status SearchLog(Dump& dump);
  void AddOperation(const wal::Operation& operation);
  const format::RegionRecord* RegionOf(format::TableId table) const;
  Status Note(const Status& status);

  const DumpOptions& options_;
  const Context& context_;
  const std::string key_;
  DumpRecords& writer_;
  format::Catalog catalog_;  // Empty where it cannot be read.
  std::string name_;         // Of the file that is searched.
  std::string table_;        // Of the store file that is searched.
  uint64_t damaged_places_ = 0;
};

void Begin(DumpRecords* writer) {
  writer->Begin("found", {"where", "section", "table", "ordinal", "family", "column", "timestamp",
                          "sequence", "operation", "value", "note"});
}

Status KeySearch::Note(const Status& status) {
  if (status.code() != StatusCode::kCorruption) return status;
  ++damaged_places_;
  WriteBytes(context_.err, Format("tandem: dump: {}\n", status.message()));
  return {};
}

Status KeySearch::ReadCatalog() {
  ASSIGN_OR_RETURN(const ProbedFile root, ProbeFile(options_.file + "/" + engine::kRootName));
  ASSIGN_OR_RETURN(const format::RootFile slots, format::ReadRoot(root.file.get()));
  const std::string name = engine::ManifestName(slots.record.manifest.number);
  ASSIGN_OR_RETURN(ProbedFile probed, ProbeFile(options_.file + "/" + name));
  ASSIGN_OR_RETURN(ManifestState state, ReadManifestState(&probed));
  catalog_ = std::move(state.contents.catalog);
  name_ = name;
  return {};
}

const format::RegionRecord* KeySearch::RegionOf(format::TableId table) const {
  for (const auto& [id, region] : catalog_.regions) {
    if (region.table == table && key_ >= region.start_key &&
        (region.end_key.empty() || key_ < region.end_key)) {
      return &region;
    }
  }
  return nullptr;
}

void KeySearch::AddRegions() {
  for (const auto& [id, table] : catalog_.tables) {
    const format::RegionRecord* region = RegionOf(id);
    if (region == nullptr) continue;
    writer_.Add({name_, "region", table.name, Value(), Value(), Value(), Value(),
                 region->flushed_through.value, Value(), Value(),
                 Format("region {}, {} files; the log before the sequence is flushed",
                        region->id.value, region->files.size())});
  }
}

Status KeySearch::SearchDirectory() {
  const Status catalog = ReadCatalog();
  // Without a catalog the files still say what they hold.
  if (!catalog.ok() && catalog.code() != StatusCode::kNotFound) RETURN_IF_ERROR(Note(catalog));
  AddRegions();
  const auto file_system = base::NewPosixFileSystem();
  ASSIGN_OR_RETURN(const auto directory, file_system->OpenDirectory(options_.file, false));
  ASSIGN_OR_RETURN(std::vector<engine::LocalFile> files, engine::ListLocalFiles(directory.get()));
  std::ranges::sort(files, {}, &engine::LocalFile::number);
  for (const engine::LocalFile& file : files) {
    if (context_.is_interrupted()) return Status::Cancelled("interrupted");
    const bool holds_rows =
        file.kind == engine::LocalFileKind::kStore || file.kind == engine::LocalFileKind::kSegment;
    if (holds_rows) RETURN_IF_ERROR(Note(SearchFile(options_.file + "/" + file.name)));
  }
  return {};
}

Status KeySearch::SearchFile(const std::string& path) {
  name_ = path.substr(path.rfind('/') + 1);
  ASSIGN_OR_RETURN(ProbedFile probed, ProbeFile(path));
  DumpOptions options;
  options.file = path;
  options.key = KeyText(key_);
  Dump dump{options, context_, probed, writer_};
  ASSIGN_OR_RETURN(dump.filter, RowFilter::Of(options));
  Status status;
  if (probed.header.kind == format::FileKind::kStore) status = SearchStoreFile(dump);
  if (probed.header.kind == format::FileKind::kLog) status = SearchLog(dump);
  damaged_places_ += dump.damaged_places;
  return status;
}

Status KeySearch::SearchStoreFile(Dump& dump) {
  ASSIGN_OR_RETURN(const auto file, OpenProbedStoreFile(&dump.probed));
  const format::FileStatistics& statistics = file->statistics();
  if (key_ < statistics.min_key || key_ > statistics.max_key) return {};
  table_ = file->table().name;
  std::optional<uint32_t> ordinal;
  Status entries;
  RETURN_IF_ERROR(VisitRows(
      dump, *file,
      [&](const DumpedRow& row, format::FamilyId family,
          std::span<const format::Cell> cells) -> Result<bool> {
        if (!ordinal.has_value() && row.ordinal.has_value()) {
          ordinal = row.ordinal;
          entries = SearchDerived(file.get(), *ordinal);
        }
        for (const format::Cell& cell : cells) {
          const bool is_put = cell.kind == format::CellKind::kPut;
          writer_.Add(
              {name_, "data", table_, row.ordinal.has_value() ? Value(*row.ordinal) : Value(),
               row.family,
               cell.kind == format::CellKind::kDeleteFamily ? Value() : Value(cell.qualifier),
               cell.timestamp, cell.sequence.value, CellKindName(cell.kind),
               is_put && !cell.is_overflow() ? Value(cell.value) : Value(),
               cell.is_overflow() ? Value("an overflow value") : Value()});
          if (!is_put || !ordinal.has_value()) continue;
          for (const format::IndexRecord& index : file->table().indexes) {
            const format::IndexColumnRecord& column = index.columns.front();
            if (column.family != family || column.qualifier != cell.qualifier) continue;
            RETURN_IF_ERROR(Note(SearchIndex(file.get(), index, *ordinal, cell)));
          }
        }
        return true;
      }));
  if (ordinal.has_value()) return entries;
  writer_.Add({name_, "data", table_, Value(), Value(), Value(), Value(), Value(), Value(), Value(),
               "not here; the keys of the file lie around it"});
  return {};
}

// Filter and key hashes: both have to know of a row that the file has.
Status KeySearch::SearchDerived(format::StoreFile* file, uint32_t ordinal) {
  const uint64_t hash = format::RowHash(key_, file->table().hash_secret);
  const auto add = [&](const char* section, const char* note) {
    writer_.Add({name_, section, table_, ordinal, Value(), Value(), Value(), Value(), Value(),
                 HashText(hash), note});
  };
  const Result<bool> may_contain = file->MayContain(hash);
  if (may_contain) add("filter", *may_contain ? "may be here" : "WRONG: says that it is not here");
  RETURN_IF_ERROR(Note(may_contain.status()));
  const auto found = file->FindByHash(key_, hash);
  if (found) {
    const bool is_right = found->has_value() && (*found)->ordinal.value == ordinal;
    add("key-hashes", is_right ? "lead to it" : "WRONG: do not lead to it");
  }
  return Note(found.status());
}

Status KeySearch::SearchIndex(format::StoreFile* file, const format::IndexRecord& index,
                              uint32_t ordinal, const format::Cell& cell) {
  ASSIGN_OR_RETURN(format::IndexSection* const section, file->Index(index.id));
  if (section == nullptr) return {};
  // A value that does not fit has no entry.
  format::PutKeys keys;
  for (const std::string_view key : keys.Of(index.columns.front(), cell)) {
    RETURN_IF_ERROR(SearchEntry(section, index, ordinal, cell, std::string(key)));
  }
  return {};
}

Status KeySearch::SearchEntry(format::IndexSection* section, const format::IndexRecord& index,
                              uint32_t ordinal, const format::Cell& cell, std::string key) {
  const format::KeyRange value = format::StartingWith(std::move(key));
  bool is_found = false;
  for (const auto& [part, name] : {std::pair(format::IndexPart::kCurrent, "current part"),
                                   std::pair(format::IndexPart::kOlder, "older part")}) {
    std::vector<uint32_t> ordinals;
    RETURN_IF_ERROR(section->AppendOrdinals(part, value, {ordinal, ordinal + 1}, &ordinals));
    if (ordinals.empty()) continue;
    is_found = true;
    writer_.Add({name_, "index " + index.name, table_, ordinal, Value(), cell.qualifier, Value(),
                 Value(), Value(), cell.value, name});
  }
  if (!is_found) {
    writer_.Add({name_, "index " + index.name, table_, ordinal, Value(), cell.qualifier, Value(),
                 Value(), Value(), cell.value, "WRONG: no entry"});
  }
  return {};
}

Status KeySearch::SearchLog(Dump& dump) {
  return WalkFrames(dump, [&](const format::DecodedFrame& decoded) -> Result<bool> {
    RETURN_IF_ERROR(Note(VisitOperations(
        name_, decoded, [this](const wal::Operation& operation) { AddOperation(operation); })));
    return true;
  });
}

void KeySearch::AddOperation(const wal::Operation& operation) {
  if (operation.row != key_) return;
  const auto table = catalog_.tables.find(operation.table);
  const bool is_known = table != catalog_.tables.end();
  const format::RegionRecord* region = RegionOf(operation.table);
  Value note;
  if (region != nullptr) {
    note = operation.sequence <= region->flushed_through ? "flushed: replay skips it"
                                                         : "in a memstore after replay";
  }
  const std::string id = Format("table {}", operation.table.value);
  for (const format::Cell& cell : operation.cells) {
    const std::string family = is_known ? std::string(FamilyName(table->second, cell.family))
                                        : Format("family {}", cell.family.value);
    writer_.Add({name_, "operations", is_known ? table->second.name : id, Value(), family,
                 cell.kind == format::CellKind::kDeleteFamily ? Value() : Value(cell.qualifier),
                 cell.timestamp, operation.sequence.value, CellKindName(cell.kind),
                 cell.kind == format::CellKind::kPut ? Value(cell.value) : Value(), note});
  }
}

}  // namespace

Status FindKey(const DumpOptions& options, const std::string& path, const Context& context,
               DumpRecords* writer) {
  ASSIGN_OR_RETURN(std::string key, ParseBytes(options.find_key));
  KeySearch search(options, context, std::move(key), writer);
  Begin(writer);
  const Status status = IsDirectory(path) ? search.SearchDirectory() : search.SearchFile(path);
  writer->End();
  RETURN_IF_ERROR(status);
  return DamageFound(path, search.damaged_places());
}

}  // namespace tandem::tools
