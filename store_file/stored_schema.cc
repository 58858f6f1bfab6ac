// The start key of the region, then the table's record.
#include "store_file/stored_schema.h"

#include <utility>

#include "format/byte_reader.h"
#include "tandem/limits.h"

namespace tandem::format {

Result<StoredSchema> DecodeStoredSchema(const Block& block) {
  StoredSchema schema;
  ByteReader reader(block.raw());
  schema.region_start = reader.Bytes(reader.VarintUpTo(kRowKeyBytesMax));
  if (!reader.ok()) return block.Corrupt("start key of the region is malformed");
  Result<TableRecord> table = DecodeTable(reader.Bytes(reader.remaining()));
  if (!table) {
    return Status(table.error().code(),
                  std::string(block.Corrupt(table.error().message()).message()));
  }
  schema.table = *std::move(table);
  return schema;
}

}  // namespace tandem::format
