// The ordinals of one value of an index. A long list is read by its chunks (postings.h): a part of
// it, the rank of an ordinal and the ordinal of a rank cost its headers and the chunks that they
// are in.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "index/postings.h"
#include "tandem/status.h"

namespace tandem::format {

/// Smaller lists are read whole.
inline constexpr uint64_t kChunkedBytesMin = 4 * 1024;

/// The ordinals of one value: of a list that is read by chunks, or given. Threads: one at a time.
class ValueOrdinals {
 public:
  /// Reads `size_bytes` bytes of the list at `offset` in it. The view is valid until the next call.
  /// Errors: kCorruption, kIoError.
  using Read = std::function<Result<std::string_view>(uint64_t offset, uint64_t size_bytes)>;
  /// What to return for a list that breaks its layout.
  using Broken = std::function<Status()>;

  ValueOrdinals() = default;
  /// Ascending.
  explicit ValueOrdinals(std::vector<uint32_t> ordinals);
  /// Errors: those of `read`, `broken`.
  static Result<ValueOrdinals> Open(const ListPlace& place, ListBounds bounds, Read read,
                                    Broken broken);

  uint32_t count() const { return count_; }
  /// How many of them are below `ordinal`.
  Result<uint32_t> RankOf(uint32_t ordinal);
  /// The one with `rank` below it. Requires: rank < count().
  Result<uint32_t> At(uint32_t rank);
  /// Appends those in the range.
  Status Append(OrdinalRange rows, std::vector<uint32_t>* out);
  /// Appends those of `sought`, which ascend, that it has. Chunks without any are not read.
  Status AppendCommon(std::span<const uint32_t> sought, std::vector<uint32_t>* out);

 private:
  Status Load(size_t chunk);
  Result<bool> AppendPart(size_t chunk, OrdinalRange rows, std::vector<uint32_t>* out);
  Result<bool> AppendByBits(size_t chunk, std::span<const uint32_t> sought,
                            std::vector<uint32_t>* out);
  size_t ChunkOf(uint32_t ordinal) const;

  ListForm form_ = ListForm::kBlocked;
  ListBounds bounds_;
  Read read_;
  Broken broken_;
  uint32_t count_ = 0;
  std::vector<ListChunk> chunks_;  // Of a given list: one.
  size_t loaded_ = 0;              // The chunk that `ordinals_` are of.
  std::vector<uint32_t> ordinals_;
};

}  // namespace tandem::format
