// Tables of names, and the schema, which consists of them.
#include "tools/dump/names.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "format/row/data_section.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/declarations.h"
#include "tools/tandem/format_text.h"

namespace tandem::tools {
namespace {

struct NamedSection {
  format::SectionKind kind;
  std::string_view name;
};
constexpr NamedSection kSections[] = {
    {format::SectionKind::kSchema, "schema"},
    {format::SectionKind::kDictionary, "dictionary"},
    {format::SectionKind::kData, "data"},
    {format::SectionKind::kBlockIndex, "block-index"},
    {format::SectionKind::kBlockIndexTop, "block-index-top"},
    {format::SectionKind::kKeyHashes, "key-hashes"},
    {format::SectionKind::kCleanRows, "clean-rows"},
    {format::SectionKind::kFilter, "filter"},
    {format::SectionKind::kIndexLeaves, "index-leaves"},
    {format::SectionKind::kIndexPostings, "index-postings"},
    {format::SectionKind::kIndexDirectory, "index-directory"},
    {format::SectionKind::kIndexPresent, "index-present"},
    {format::SectionKind::kIndexTouched, "index-touched"},
    {format::SectionKind::kStatistics, "statistics"},
    {format::SectionKind::kDigests, "digests"},
    {format::SectionKind::kPresence, "presence"},
    {format::SectionKind::kIndexRecords, "index-records"},
    {format::SectionKind::kIndexRecordDirectory, "index-record-directory"},
};

constexpr std::string_view kBlockKinds[] = {"?",
                                            "rows",
                                            "chunk",
                                            "wide-head",
                                            "value",
                                            "block-index",
                                            "block-index-top",
                                            "dictionary",
                                            "key-hashes",
                                            "bitmap",
                                            "filter",
                                            "index-leaf",
                                            "index-directory",
                                            "postings",
                                            "schema",
                                            "statistics",
                                            "digests",
                                            "section-table",
                                            "index-records",
                                            "index-record-directory"};

}  // namespace

std::string_view SectionName(format::SectionKind kind) {
  const auto found = std::ranges::find(kSections, kind, &NamedSection::kind);
  return found == std::end(kSections) ? "unknown" : found->name;
}

std::vector<std::string> SectionNames() {
  std::vector<std::string> names;
  for (const NamedSection& section : kSections) names.emplace_back(section.name);
  return names;
}

std::string SectionFlagNames(uint32_t flags) {
  std::string names;
  const auto add = [&](uint32_t flag, const char* name) {
    if ((flags & flag) != 0) names += (names.empty() ? "" : " ") + std::string(name);
  };
  add(format::kSectionFlagOlder, "older");
  add(format::kSectionFlagFull, "full");
  add(format::kSectionFlagEqual, "equal");
  add(format::kSectionFlagEmpty, "empty");
  return names;
}

std::string_view BlockKindName(format::BlockKind kind) {
  const auto number = static_cast<size_t>(kind);
  return number < std::size(kBlockKinds) ? kBlockKinds[number] : "unknown";
}

std::string_view CodecName(uint8_t codec) {
  return codec == 0 ? "none" : codec == 1 ? "zstd" : "unknown";
}

std::string_view CellKindName(format::CellKind kind) {
  switch (kind) {
    case format::CellKind::kPut:
      return "put";
    case format::CellKind::kDeleteCell:
      return "delete-cell";
    case format::CellKind::kDeleteColumn:
      return "delete-column";
    case format::CellKind::kDeleteFamily:
      return "delete-family";
  }
  return "unknown";
}

std::string_view FamilyName(const format::TableRecord& table, format::FamilyId id) {
  for (const format::FamilyRecord& family : table.families) {
    if (family.id == id) return family.options.name;
  }
  return "?";
}

Value OwnerName(const format::TableRecord& table, const format::SectionEntry& section) {
  const format::SectionKind kind = section.kind;
  using enum format::SectionKind;
  if (kind == kBlockIndex || kind == kBlockIndexTop || kind == kDictionary || kind == kPresence) {
    if (section.owner == format::kKeysOwner) return Value();
    return FamilyName(table, format::FamilyId(static_cast<uint8_t>(section.owner)));
  }
  if (!format::IsIndexSection(kind)) return Value();
  const format::IndexRecord* index = table.FindIndex(format::IndexId(section.owner));
  return index == nullptr ? Value() : Value(index->name);
}

std::string IdText(const format::RandomId& id) {
  return EncodeHex({reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()});
}

std::string HashText(uint64_t hash) { return Format("{:016x}", hash); }

void WriteHexRecord(uint64_t offset, std::string_view bytes, RecordWriter* writer) {
  std::string hex, text;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i > 0) hex += i % 8 == 0 ? "  " : " ";
    hex += EncodeHex(bytes.substr(i, 1));
    text.push_back(bytes[i] >= 0x20 && bytes[i] < 0x7f ? bytes[i] : '.');
  }
  writer->Add({Format("{:#010x}", offset), hex, text});
}

namespace {

void DumpPartialIndexes(const format::TableRecord& table, RecordWriter* writer) {
  bool has_begun = false;
  for (const format::IndexRecord& index : table.indexes) {
    if (!index.where.has_value()) continue;
    if (!std::exchange(has_begun, true)) {
      writer->Begin("partial_index", {"table", "index", "where"});
    }
    writer->Add({table.name, index.name, index.where->text});
  }
  if (has_begun) writer->End();
}

void DumpGlobalIndexes(const format::TableRecord& table, RecordWriter* writer) {
  if (table.entries_of.has_value()) {
    writer->Begin("entries_of", {"table_id", "of_table_id", "of_index_id"});
    writer->Add({table.id.value, table.entries_of->table.value, table.entries_of->index.value});
    writer->End();
  }
  if (table.global_indexes.empty()) return;
  writer->Begin("global_index", {"table", "index", "index_id", "entries_table_id", "since_sequence",
                                 "family_id", "column", "type", "order"});
  for (const format::GlobalIndexRecord& global : table.global_indexes) {
    for (const format::IndexColumnRecord& column : global.index.columns) {
      writer->Add({table.name, global.index.name, global.index.id.value, global.entries.value,
                   global.since.has_value() ? Value(global.since->value) : Value(),
                   column.family.value, TextOf(column.functions, column.qualifier),
                   ColumnTypeName(column.type), column.descending ? "desc" : "asc"});
    }
  }
  writer->End();
}

void DumpFormerLimits(const format::TableRecord& table, RecordWriter* writer) {
  if (table.last_limits_change().value == 0) return;
  writer->Begin("former_limits",
                {"table", "family_id", "changed_at", "versions", "expired_through_micros"});
  for (const format::FamilyRecord& family : table.families) {
    for (const format::FormerLimits& limits : family.former_limits) {
      writer->Add({table.name, family.id.value, limits.changed_at.value,
                   limits.max_versions.has_value() ? Value(*limits.max_versions) : Value(),
                   limits.expired_through.has_value() ? Value(*limits.expired_through) : Value()});
    }
  }
  writer->End();
}

}  // namespace

void DumpTable(const format::TableRecord& table, RecordWriter* writer) {
  writer->Begin("family", {"table", "table_id", "family", "family_id", "versions", "ttl_micros",
                           "compression", "block_size_bytes"});
  for (const format::FamilyRecord& family : table.families) {
    writer->Add({table.name, table.id.value,
                 family.options.name + (family.dropped ? " (dropped)" : ""), family.id.value,
                 family.options.max_versions, family.options.ttl_micros,
                 CompressionName(family.options.compression), family.options.block_size_bytes});
  }
  writer->End();
  DumpFormerLimits(table, writer);
  if (!table.row_key.empty()) {
    writer->Begin("row_key", {"table", "row_key"});
    writer->Add({table.name, table.row_key});
    writer->End();
  }
  if (!table.former_row_keys.empty()) {
    writer->Begin("former_row_key", {"table", "row_key"});
    for (const std::string& former : table.former_row_keys) writer->Add({table.name, former});
    writer->End();
  }
  DumpGlobalIndexes(table, writer);
  if (table.indexes.empty()) return;
  writer->Begin("index",
                {"table", "index", "index_id", "state", "family_id", "column", "type", "order"});
  for (const format::IndexRecord& index : table.indexes) {
    constexpr const char* kStates[] = {"?", "building", "ready", "dropping", "checking"};
    const std::string state =
        Format("{}{}", index.unique ? "unique, " : "", kStates[static_cast<int>(index.state)]);
    for (const format::IndexColumnRecord& column : index.columns) {
      writer->Add({table.name, index.name, index.id.value, state,
                   column.is_of_row_key() ? Value() : Value(column.family.value),
                   TextOf(column.functions,
                          std::string(column.is_of_family() ? FamilyName(table, column.family)
                                                            : column.name())),
                   ColumnTypeName(column.type), column.descending ? "desc" : "asc"});
    }
    for (const format::IncludedColumnRecord& column : index.included) {
      writer->Add({table.name, index.name, index.id.value, state, column.family.value,
                   column.qualifier, Value(), "included"});
    }
  }
  writer->End();
  DumpPartialIndexes(table, writer);
}

}  // namespace tandem::tools
