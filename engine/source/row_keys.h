// Looking up rows by key, many at a time: each source is asked for the keys in order, and no data
// block is read.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/source/sources.h"
#include "format/cell/visibility.h"
#include "index/key.h"
#include "store_file/store_file.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Row keys with their hashes, ascending, each once.
using KeySpan = std::span<const format::HashedKey>;

/// Those of the keys that are in the range.
KeySpan KeysIn(KeySpan keys, const format::KeyRange& range);
/// Those between the least and the largest key of the file.
KeySpan KeysWithin(KeySpan keys, const FileSource& source);

/// Removes the keys that are certainly not in the file, by its filter. Errors: kCorruption,
/// kIoError.
Status KeepPossible(format::StoreFile* file, std::vector<format::HashedKey>* keys);

/// Row keys that an access looks up.
class RowKeys {
 public:
  /// In any order, perhaps repeated.
  RowKeys(std::vector<std::string> keys, std::span<const char> secret);
  RowKeys(const RowKeys&) = delete;
  RowKeys& operator=(const RowKeys&) = delete;

  const std::vector<std::string>& bytes() const { return bytes_; }
  KeySpan span() const { return hashed_; }

 private:
  std::vector<std::string> bytes_;
  std::vector<format::HashedKey> hashed_;  // Refer to bytes_.
};

/// Appends the rows of the source that have one of the keys, ascending. One whose hash collides
/// with that of a key may be among them. `filters`: other sources may hold the keys, so that the
/// file's filter is asked first. Errors: kCorruption, kIoError.
Status FindRows(const FileSource& source, KeySpan keys, bool filters,
                std::vector<uint32_t>* ordinals);
/// The same for the rows of a memstore that a reader at `sequence` sees.
void FindRows(const Memstore& memstore, KeySpan keys, format::SequenceNumber sequence,
              std::vector<const MemRow*>* rows);

}  // namespace tandem::engine
