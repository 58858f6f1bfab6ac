// The statistics know the first and the last key of the whole file.
#include "engine/region/slice_keys.h"

#include <utility>

#include "base/status_macros.h"

namespace tandem::engine {

Result<std::string> KeyAt(format::StoreFile& file, uint32_t ordinal) {
  ASSIGN_OR_RETURN(const format::DataSection* carrier, file.Carrier());
  ASSIGN_OR_RETURN(const uint32_t block, carrier->BlockOf(ordinal));
  ASSIGN_OR_RETURN(const format::RowBlockRef rows, carrier->ReadRows(block));
  std::string key;
  RETURN_IF_ERROR(rows->AppendKey(ordinal - rows->first(), &key));
  return key;
}

Result<SliceKeys> KeysOf(const FileSlice& slice) {
  format::StoreFile& file = slice.file->store();
  SliceKeys keys{.min = file.statistics().min_key, .max = file.statistics().max_key};
  if (slice.low > 0) {
    ASSIGN_OR_RETURN(keys.min, KeyAt(file, slice.low));
  }
  if (slice.high < file.row_count()) {
    ASSIGN_OR_RETURN(keys.max, KeyAt(file, slice.high - 1));
  }
  return keys;
}

}  // namespace tandem::engine
