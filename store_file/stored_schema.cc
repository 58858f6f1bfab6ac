// The start key of the region, then the table's record.
#include "store_file/stored_schema.h"

#include <utility>

#include "base/status_macros.h"
#include "format/byte_reader.h"
#include "tandem/limits.h"

namespace tandem::format {

namespace {

Result<std::shared_ptr<const TableRecord>> DecodeRecord(std::string_view bytes,
                                                        TableRecords* tables) {
  if (tables != nullptr) return tables->Decode(bytes);
  ASSIGN_OR_RETURN(TableRecord table, DecodeTable(bytes));
  return std::make_shared<const TableRecord>(std::move(table));
}

}  // namespace

Result<StoredSchema> DecodeStoredSchema(const Block& block, TableRecords* tables) {
  StoredSchema schema;
  ByteReader reader(block.raw());
  schema.region_start = reader.Bytes(reader.VarintUpTo(kRowKeyBytesMax));
  if (!reader.ok()) return block.Corrupt("start key of the region is malformed");
  auto table = DecodeRecord(reader.Bytes(reader.remaining()), tables);
  if (!table) {
    return Status(table.error().code(),
                  std::string(block.Corrupt(table.error().message()).message()));
  }
  schema.table = *std::move(table);
  return schema;
}

}  // namespace tandem::format
