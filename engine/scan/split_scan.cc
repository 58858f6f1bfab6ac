// Keys are taken from the sources, each with the bytes between it and the one before it in its
// source. In the order of all keys a range ends where it has its part of the sum.
#include "engine/scan/split_scan.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/status_macros.h"

namespace tandem::engine {
namespace {

// Keys of all sources for each part.
constexpr uint64_t kKeysOfPart = 16;

struct Weight {
  std::string key;  // The bytes lie before it; empty: at the end of a file.
  uint64_t bytes = 0;
};

class Weigher {
 public:
  Weigher(const TableView& view, const ReadSchema& schema) : view_(view), schema_(schema) {}

  Result<std::vector<Weight>> Run(uint32_t parts) {
    ASSIGN_OR_RETURN(const uint64_t total, Walk(UINT64_MAX));
    ASSIGN_OR_RETURN(const uint64_t again,
                     Walk(std::max<uint64_t>(total / (parts * kKeysOfPart), 1)));
    (void)again;
    return std::move(weights_);
  }

 private:
  // Takes a key every `step` bytes of a source; none for UINT64_MAX. Returns all bytes.
  Result<uint64_t> Walk(uint64_t step) {
    uint64_t total = 0;
    for (const auto& region : view_.regions) {
      for (const FileSlice& slice : region->files) {
        ASSIGN_OR_RETURN(const uint64_t bytes, AddFile(slice, step));
        total += bytes;
      }
      for (const auto& memstore : region->memstores) total += AddMemstore(*region, *memstore, step);
      if (step != UINT64_MAX && !region->end_key.empty()) weights_.push_back({region->end_key, 0});
    }
    return total;
  }

  Result<uint64_t> AddFile(const FileSlice& slice, uint64_t step) {
    uint64_t total = 0;
    if (slice.low >= slice.high) return total;
    for (const ColumnSet::Family& family : schema_.merged.families()) {
      ASSIGN_OR_RETURN(const format::DataSection* data, slice.file->store().Family(family.id));
      if (data == nullptr) continue;
      const uint32_t low = data->RankOf(slice.low), high = data->RankOf(slice.high);
      if (low == high) continue;
      ASSIGN_OR_RETURN(const uint32_t first, data->BlockOf(low));
      ASSIGN_OR_RETURN(const uint32_t last, data->BlockOf(high - 1, first));
      ASSIGN_OR_RETURN(const uint64_t bytes, data->BytesOfBlocks(first, last + 1));
      total += bytes;
      if (step != UINT64_MAX) RETURN_IF_ERROR(AddBlocks(*data, first, last + 1, bytes, step));
    }
    return total;
  }

  // Of the blocks [first, end). What comes after the last separator of a file has no key.
  Status AddBlocks(const format::DataSection& data, uint32_t first, uint32_t end, uint64_t bytes,
                   uint64_t step) {
    const uint64_t usual = std::max<uint64_t>(bytes / (end - first), 1);
    const uint64_t blocks = std::max<uint64_t>(step / usual, 1);
    for (uint64_t at = first; at < end; at += blocks) {
      const auto from = static_cast<uint32_t>(at);
      const auto to = static_cast<uint32_t>(std::min<uint64_t>(at + blocks, end));
      ASSIGN_OR_RETURN(const uint64_t weight, data.BytesOfBlocks(from, to));
      Weight& added = weights_.emplace_back(Weight{{}, weight});
      if (to < data.block_count()) RETURN_IF_ERROR(data.SeparatorOf(to, &added.key));
    }
    return {};
  }

  uint64_t AddMemstore(const RegionVersion& region, const Memstore& memstore, uint64_t step) {
    const uint64_t rows = memstore.row_count();
    if (rows == 0) return 0;
    const uint64_t usual = std::max<uint64_t>(memstore.size_bytes() / rows, 1);
    uint64_t total = 0, open = 0;
    Memstore::Iterator row(&memstore);
    for (row.Seek(region.start_key); row.valid() && region.MayHold(row.key()); row.Next()) {
      total += usual;
      open += usual;
      if (step == UINT64_MAX || open < step) continue;
      weights_.push_back({std::string(row.key()), open});
      open = 0;
    }
    return total;
  }

  const TableView& view_;
  const ReadSchema& schema_;
  std::vector<Weight> weights_;
};

}  // namespace

Result<std::vector<RowRange>> SplitRows(const TableView& view, const ReadSchema& schema,
                                        uint32_t parts) {
  ASSIGN_OR_RETURN(std::vector<Weight> weights, Weigher(view, schema).Run(parts));
  uint64_t total = 0;
  for (const Weight& weight : weights) total += weight.bytes;
  std::erase_if(weights, [](const Weight& weight) { return weight.key.empty(); });
  std::ranges::sort(weights, {}, &Weight::key);
  std::vector<RowRange> ranges(1);
  uint64_t before = 0;
  for (size_t i = 0; i < weights.size() && ranges.size() < parts; ++i) {
    before += weights[i].bytes;
    const bool is_last_of_key = i + 1 == weights.size() || weights[i + 1].key != weights[i].key;
    const auto wanted = static_cast<unsigned __int128>(total) * ranges.size() / parts;
    if (!is_last_of_key || before < wanted || before == 0) continue;
    ranges.back().end = weights[i].key;
    ranges.push_back({.start = weights[i].key, .end = {}});
  }
  return ranges;
}

}  // namespace tandem::engine
