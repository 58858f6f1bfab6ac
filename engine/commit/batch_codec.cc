// Decoding of what write_batch.cc encodes; see the header for the bytes.
#include "engine/commit/batch_codec.h"

#include "base/check.h"

namespace tandem::engine {

bool BatchReader::Next(BatchOperation* operation) {
  if (reader_.remaining() == 0) return false;
  operation->kind = static_cast<BatchKind>(reader_.U8());
  const uint8_t flags = reader_.U8();
  operation->table = reader_.LengthPrefixed();
  operation->row = reader_.LengthPrefixed();
  operation->family = reader_.LengthPrefixed();
  operation->timestamp.reset();
  if ((flags & kBatchFlagTimestamp) != 0) operation->timestamp = reader_.I64();
  const uint64_t column_count = reader_.Varint();
  operation->columns.clear();
  for (uint64_t i = 0; i < column_count && reader_.ok(); ++i) {
    ColumnValue column;
    column.qualifier = reader_.LengthPrefixed();
    if (operation->kind == BatchKind::kPut) column.value = reader_.LengthPrefixed();
    operation->columns.push_back(column);
  }
  CHECK(reader_.ok());
  return true;
}

}  // namespace tandem::engine
