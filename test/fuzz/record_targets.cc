// Records by themselves: catalog edits, operations, lists of postings, index keys and typed values.
#include <algorithm>
#include <optional>
#include <utility>

#include "engine/storage/catalog.h"
#include "format/byte_reader.h"
#include "format/coding.h"
#include "format/schema.h"
#include "format/value_text.h"
#include "index/key.h"
#include "index/postings.h"
#include "index/value_ordinals.h"
#include "test/fuzz/target.h"
#include "test/support/sample_records.h"
#include "wal/operation.h"

namespace tandem::fuzz {
namespace {

// Decoding what was encoded gives the same bytes again.
void RunTable(std::string_view input) {
  const auto table = format::DecodeTable(input);
  if (!table) return;
  std::string first, second;
  format::EncodeTable(*table, &first);
  const auto again = format::DecodeTable(first);
  Expect(again.has_value(), "an encoded table decodes");
  format::EncodeTable(*again, &second);
  Expect(first == second, "a decoded table encodes as before");
}

// An edit of the catalog, or a table, which is a part of edits.
void RunEdit(std::string_view input) {
  RunTable(input);
  const auto edit = format::DecodeEdit(input);
  if (!edit) return;
  std::string encoded;
  format::EncodeEdit(*edit, &encoded);
  Expect(format::DecodeEdit(encoded).has_value(), "an encoded edit decodes");
  format::Catalog catalog;
  catalog.database = test::SampleId(1);
  const bool applied = format::ApplyEdit(*edit, &catalog).ok();
  Expect(!applied || format::CheckCatalog(catalog).ok(), "an edit leaves a sound catalog");
}

std::vector<std::string> EditSeeds() {
  format::CatalogEdit edit = test::SampleTableEdit();
  std::string plain, full, named, table;
  format::EncodeEdit(edit, &plain);
  edit.add_files.push_back(test::SampleFile(7));
  edit.put_regions[0].files.push_back({format::FileNumber(7), 1, 0, 100});
  edit.add_segments.push_back({format::FileNumber(9), test::SampleId(9)});
  format::EncodeEdit(edit, &full);
  format::SnapshotRecord snapshot;
  snapshot.name = "s";
  snapshot.tables = edit.put_tables;
  snapshot.regions = edit.put_regions;
  edit.add_snapshots.push_back(std::move(snapshot));
  edit.remove_snapshots.emplace_back("s");
  format::EncodeEdit(edit, &named);
  format::EncodeTable(test::SampleTable(), &table);
  return {plain, full, named, table};
}

// The payload of a group of operations.
void RunOperations(std::string_view input) {
  wal::GroupReader reader(input, format::SequenceNumber(5), -3);
  wal::Operation operation;
  uint32_t count = 0;
  while (reader.Next(&operation)) ++count;
  Expect(!reader.status().ok() || count == reader.sequences(), "every operation is counted");
}

std::vector<std::string> OperationSeeds() {
  wal::BatchEncoder batch;
  batch.BeginOperation(format::TableId(1), "row");
  format::Cell cell;
  cell.qualifier = "column";
  cell.value = "value";
  batch.AddCell(cell, std::nullopt);
  batch.AddCell(cell, -7);
  batch.BeginOperation(format::TableId(2), "other");
  cell = {};
  cell.kind = format::CellKind::kDeleteFamily;
  batch.AddCell(cell, 9);
  std::string payload;
  wal::AppendBatch(batch, &payload);
  wal::AppendBatch(batch, &payload);
  return {payload};
}

// A list that is read by its chunks is the list. `wanted`: those from the bound on.
void ExpectChunksOf(uint8_t form, format::ListBounds bounds, std::string_view bytes,
                    const std::vector<uint32_t>& wanted) {
  const format::ListPlace place{format::ListForm(form + 1), 0, bytes.size()};
  auto list = format::ValueOrdinals::Open(
      place, bounds,
      [bytes](uint64_t offset, uint64_t size) -> Result<std::string_view> {
        Expect(offset + size <= bytes.size(), "chunks lie in their list");
        return bytes.substr(offset, size);
      },
      [] { return Status::Corruption("broken"); });
  Expect(list.has_value(), "a list that is read whole has chunks");
  const uint32_t before = list->count() - static_cast<uint32_t>(wanted.size());
  for (size_t i = 0; i < wanted.size(); i += 1 + wanted.size() / 16) {
    const auto rank = before + static_cast<uint32_t>(i);
    const auto at = list->At(rank);
    const auto found = list->RankOf(wanted[i]);
    Expect(at.has_value() && *at == wanted[i], "an ordinal is found by its rank");
    Expect(found.has_value() && *found == rank, "a rank is found by its ordinal");
  }
  std::vector<uint32_t> sought, common;
  for (size_t i = 0; i < wanted.size(); i += 1 + wanted.size() / 16) sought.push_back(wanted[i]);
  Expect(list->AppendCommon(sought, &common).ok() && common == sought,
         "ordinals are found in their list");
}

// A list of postings: its form, its count, the rows of the file, and its bytes.
void RunPostingsList(std::string_view input) {
  constexpr uint32_t kRowsMax = 300'000;  // Several containers of a Roaring list.
  format::ByteReader reader(input);
  const uint8_t form = reader.U8();
  format::ListBounds bounds;
  bounds.count = reader.U32() % kRowsMax;
  bounds.row_count = reader.U32() % kRowsMax;
  bounds.wanted.low = reader.U16();
  if (!reader.ok()) return;
  const std::string_view bytes = input.substr(reader.offset());
  std::vector<uint32_t> all, wanted;
  const auto read = [&](format::ListBounds within, std::vector<uint32_t>* out) {
    format::ByteReader small(bytes);
    format::ListPlace place;
    switch (form % 4) {
      case 0:
        return format::ReadSmallList(within, &small, out);
      case 1:
        return format::ReadBlockedList(within, bytes, out);
      case 2:
        return format::ReadRoaringList(within, bytes, out);
      default:
        return format::ReadListPlace(within, &small, &place) && false;
    }
  };
  const bool found_wanted = read(bounds, &wanted);
  bounds.wanted = {};
  if (!read(bounds, &all)) return;
  Expect(all.size() == bounds.count, "a list has as many ordinals as it should");
  for (size_t i = 0; i < all.size(); ++i) {
    Expect(all[i] < bounds.row_count && (i == 0 || all[i - 1] < all[i]), "ordinals rise");
  }
  std::erase_if(all,
                [&](uint32_t ordinal) { return ordinal < format::LoadAt<uint16_t>(input, 9); });
  Expect(found_wanted && wanted == all, "the wanted ordinals are those of the list");
  if (form % 4 == 1 || form % 4 == 2) ExpectChunksOf(form % 4, bounds, bytes, all);
}

std::vector<std::string> PostingsListSeeds() {
  std::vector<std::string> seeds;
  for (const uint32_t step : {1u, 3u, 700u}) {
    for (uint8_t form = 0; form < 3; ++form) {
      std::vector<uint32_t> ordinals;
      for (uint32_t i = 0; i < 140; ++i) ordinals.push_back(i * step);
      std::string seed(1, static_cast<char>(form));
      format::AppendU32(&seed, static_cast<uint32_t>(ordinals.size()));
      format::AppendU32(&seed, ordinals.back() + 1);
      format::AppendU16(&seed, 5);
      if (form == 0) format::AppendSmallList(ordinals, &seed);
      if (form == 1) format::AppendBlockedList(ordinals, &seed);
      if (form == 2) format::AppendRoaringList(ordinals, &seed);
      seeds.push_back(std::move(seed));
    }
  }
  return seeds;
}

constexpr ColumnType kTypes[] = {
    ColumnType::kBytes,    ColumnType::kText,     ColumnType::kInt64,     ColumnType::kUint64,
    ColumnType::kDouble,   ColumnType::kBool,     ColumnType::kTimestamp, ColumnType::kInt64Be,
    ColumnType::kUint64Be, ColumnType::kDoubleBe, ColumnType::kBoolBe,    ColumnType::kTimestampBe};
constexpr size_t kPlainTypes = 7;  // Whose stored values are their text.

void ReadValueText(std::string_view text) {
  (void)format::ParseInt64(text);
  (void)format::ParseUint64(text);
  (void)format::ParseBool(text);
  (void)format::ParseTimestamp(text);
  (void)format::IsUtf8(text);
  if (const auto number = format::ParseDouble(text); number) {
    Expect(format::ParseDouble(format::DoubleText(*number)) == number, "a double is read back");
  }
}

// A byte of type and direction; then an encoded key, and the same bytes as a value.
void RunIndexKey(std::string_view input) {
  if (input.empty()) return;
  const auto choice = static_cast<uint8_t>(input[0]);
  input.remove_prefix(1);
  ReadValueText(input);
  format::IndexColumnRecord column;
  const size_t type = choice / 2 % std::size(kTypes);
  column.type = kTypes[type];
  column.descending = choice % 2 == 1;
  std::string_view rest = input;
  const auto value = format::DecodeIndexKey(column, &rest);
  std::string encoded;
  if (value && type < kPlainTypes) {
    const std::string_view read = input.substr(0, input.size() - rest.size());
    const bool fits = format::AppendIndexKey(column, *value, &encoded).ok();
    Expect(!fits || encoded == read, "a decoded key encodes as before");
  }
  encoded.clear();
  if (!format::AppendIndexKey(column, input, &encoded).ok()) return;
  std::string_view key = encoded;
  Expect(format::DecodeIndexKey(column, &key).has_value() && key.empty(), "an encoded key decodes");
  Expect(format::PresentRange(column).Contains(encoded), "an encoded key is that of a value");
}

std::vector<std::string> IndexKeySeeds() {
  std::vector<std::string> seeds;
  for (uint8_t choice = 0; choice < 2 * kPlainTypes; ++choice) {
    format::IndexColumnRecord column;
    column.type = kTypes[choice / 2];
    column.descending = choice % 2 == 1;
    for (const char* value : {"a", "-17", "1.5e3", "true", "2026-02-28T23:59:59.25+01:00"}) {
      std::string seed(1, static_cast<char>(choice));
      if (format::AppendIndexKey(column, value, &seed).ok()) seeds.push_back(std::move(seed));
    }
  }
  return seeds;
}

}  // namespace

std::span<const Target> RecordTargets() {
  static const Target kTargets[] = {{"catalog_edit", RunEdit, EditSeeds, Shape::kPlain, 2048},
                                    {"operations", RunOperations, OperationSeeds},
                                    {"postings_list", RunPostingsList, PostingsListSeeds},
                                    {"index_key", RunIndexKey, IndexKeySeeds}};
  return kTargets;
}

}  // namespace tandem::fuzz
