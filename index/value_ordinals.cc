// The headers of a list are read once. The last chunk that was read is kept.
#include "index/value_ordinals.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "base/status_macros.h"

namespace tandem::format {
namespace {

constexpr size_t kNone = std::numeric_limits<size_t>::max();
// As many ordinals of a container are decoded in the time that one is looked for.
constexpr uint32_t kOrdinalsPerSearch = 16;

uint64_t HeadersMax(const ListPlace& place, ListBounds bounds) {
  const uint64_t headers = place.form == ListForm::kBlocked ? BlockedHeadersBytes(bounds.count)
                                                            : RoaringHeadersMax(bounds.row_count);
  return std::min(headers, place.size_bytes);
}

}  // namespace

ValueOrdinals::ValueOrdinals(std::vector<uint32_t> ordinals)
    : count_(static_cast<uint32_t>(ordinals.size())), ordinals_(std::move(ordinals)) {
  if (count_ > 0) chunks_.push_back({.count = count_});
}

Result<ValueOrdinals> ValueOrdinals::Open(const ListPlace& place, ListBounds bounds, Read read,
                                          Broken broken) {
  ValueOrdinals list;
  ASSIGN_OR_RETURN(const std::string_view front, read(0, HeadersMax(place, bounds)));
  const bool has_chunks = place.form == ListForm::kBlocked
                              ? ReadBlockedChunks(bounds, place.size_bytes, front, &list.chunks_)
                              : ReadRoaringChunks(bounds, place.size_bytes, front, &list.chunks_);
  bounds.wanted = {};
  if (!has_chunks) {
    // A Roaring list without offsets, or a broken one.
    std::vector<uint32_t> ordinals;
    ASSIGN_OR_RETURN(const std::string_view all, read(0, place.size_bytes));
    const bool is_read =
        place.form == ListForm::kRoaring && ReadRoaringList(bounds, all, &ordinals);
    return is_read ? Result<ValueOrdinals>(ValueOrdinals(std::move(ordinals))) : broken();
  }
  list.form_ = place.form;
  list.bounds_ = bounds;
  list.read_ = std::move(read);
  list.broken_ = std::move(broken);
  list.count_ = bounds.count;
  list.loaded_ = kNone;
  return list;
}

Status ValueOrdinals::Load(size_t number) {
  if (number == loaded_) return {};
  loaded_ = kNone;
  const ListChunk& chunk = chunks_[number];
  ASSIGN_OR_RETURN(const std::string_view bytes, read_(chunk.offset, chunk.size_bytes));
  ordinals_.clear();
  const bool is_read = form_ == ListForm::kBlocked
                           ? ReadBlockedChunk(chunk, bytes, &ordinals_)
                           : ReadRoaringChunk(chunk, bounds_, bytes, &ordinals_);
  if (!is_read) return broken_();
  // The decoders have checked that they ascend.
  const bool is_last = number + 1 == chunks_.size();
  const bool is_placed = ordinals_.size() == chunk.count && ordinals_.front() >= chunk.low &&
                         ordinals_.back() < (is_last ? bounds_.row_count : chunks_[number + 1].low);
  if (!is_placed) return broken_();
  loaded_ = number;
  return {};
}

// The last one that may have ordinals at or below it. Requires: there are chunks.
size_t ValueOrdinals::ChunkOf(uint32_t ordinal) const {
  const auto after = std::ranges::upper_bound(chunks_, ordinal, {}, &ListChunk::low);
  return after == chunks_.begin() ? 0 : static_cast<size_t>(after - chunks_.begin()) - 1;
}

Result<uint32_t> ValueOrdinals::RankOf(uint32_t ordinal) {
  if (chunks_.empty()) return 0u;
  const size_t chunk = ChunkOf(ordinal);
  RETURN_IF_ERROR(Load(chunk));
  const auto at = std::ranges::lower_bound(ordinals_, ordinal);
  return chunks_[chunk].before + static_cast<uint32_t>(at - ordinals_.begin());
}

Result<uint32_t> ValueOrdinals::At(uint32_t rank) {
  const auto after = std::ranges::upper_bound(chunks_, rank, {}, &ListChunk::before);
  const auto chunk = static_cast<size_t>(after - chunks_.begin()) - 1;
  RETURN_IF_ERROR(Load(chunk));
  return ordinals_[rank - chunks_[chunk].before];
}

// Decodes what is wanted of a container straight into `*out`. False: it is not one, or is loaded.
Result<bool> ValueOrdinals::AppendPart(size_t number, OrdinalRange rows,
                                       std::vector<uint32_t>* out) {
  if (form_ != ListForm::kRoaring || number == loaded_) return false;
  const ListChunk& chunk = chunks_[number];
  ASSIGN_OR_RETURN(const std::string_view bytes, read_(chunk.offset, chunk.size_bytes));
  ListBounds bounds = bounds_;
  bounds.wanted = rows;
  return ReadRoaringChunk(chunk, bounds, bytes, out) ? Result<bool>(true) : broken_();
}

Status ValueOrdinals::Append(OrdinalRange rows, std::vector<uint32_t>* out) {
  if (chunks_.empty() || rows.low >= rows.high) return {};
  for (size_t i = ChunkOf(rows.low); i < chunks_.size() && chunks_[i].low < rows.high; ++i) {
    ASSIGN_OR_RETURN(const bool is_done, AppendPart(i, rows, out));
    if (is_done) continue;
    RETURN_IF_ERROR(Load(i));
    const size_t before = out->size();
    out->insert(out->end(), ordinals_.begin(), ordinals_.end());
    KeepWanted(rows, before, out);
  }
  return {};
}

// Looks for each in the bytes of a container. False: it is not one, or has to be decoded.
Result<bool> ValueOrdinals::AppendByBits(size_t number, std::span<const uint32_t> sought,
                                         std::vector<uint32_t>* out) {
  const ListChunk& chunk = chunks_[number];
  if (form_ != ListForm::kRoaring || chunk.of_runs || number == loaded_) return false;
  if (sought.size() > chunk.count / kOrdinalsPerSearch) return false;
  if (chunk.size_bytes != RoaringChunkBytes(chunk)) return broken_();
  ASSIGN_OR_RETURN(const std::string_view bytes, read_(chunk.offset, chunk.size_bytes));
  for (const uint32_t ordinal : sought) {
    if (RoaringChunkHas(chunk, bytes, ordinal)) out->push_back(ordinal);
  }
  return true;
}

Status ValueOrdinals::AppendCommon(std::span<const uint32_t> sought, std::vector<uint32_t>* out) {
  if (chunks_.empty()) return {};
  while (!sought.empty()) {
    const size_t chunk = ChunkOf(sought.front());
    const auto end = chunk + 1 == chunks_.size()
                         ? sought.end()
                         : std::ranges::lower_bound(sought, chunks_[chunk + 1].low);
    // Those below the first chunk are in none.
    const std::span<const uint32_t> here(sought.begin(), std::max(end, sought.begin() + 1));
    sought = sought.subspan(here.size());
    ASSIGN_OR_RETURN(const bool is_done, AppendByBits(chunk, here, out));
    if (is_done) continue;
    RETURN_IF_ERROR(Load(chunk));
    std::ranges::set_intersection(here, ordinals_, std::back_inserter(*out));
  }
  return {};
}

}  // namespace tandem::format
