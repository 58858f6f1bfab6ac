// Digests of index entries, and the section that holds the summaries of all indexes of a file: a
// stream section (format/block/stream_section.h) of kind kDigests, owner 0:
//   OFFSET SIZE FIELD    MEANING
//        0    4 count    indexes in it
//        4    4 zero
//        8   72 each     index id u32, zero u32; then for the current and the older part: entries
//                        u64, distinct values u64, digest sum low u64, high u64
// The count of a digest is the number of entries.
#include "index/summary.h"

#include <algorithm>
#include <cstring>

#include "base/status_macros.h"
#include "format/block/section_table.h"
#include "format/block/stream_section.h"
#include "format/byte_reader.h"
#include "format/coding.h"
#include "format/hash.h"

namespace tandem::format {
namespace {

constexpr size_t kSummaryBytes = 72;

Hash128 EntryHash(std::string_view key, std::string_view row_key) {
  // Most entries fit on the stack.
  char small[256];
  const size_t size = sizeof(uint32_t) + key.size() + row_key.size();
  std::string large;
  if (size > sizeof(small)) large.resize(size);
  char* bytes = large.empty() ? small : large.data();
  const uint32_t key_bytes = static_cast<uint32_t>(key.size());
  std::memcpy(bytes, &key_bytes, sizeof(key_bytes));
  key.copy(bytes + sizeof(key_bytes), key.size());
  row_key.copy(bytes + sizeof(key_bytes) + key.size(), row_key.size());
  return HashOf128({bytes, size});
}

void AppendPart(const IndexDigest& digest, uint64_t values, std::string* out) {
  AppendU64(out, digest.count);
  AppendU64(out, values);
  AppendU64(out, digest.sum.low);
  AppendU64(out, digest.sum.high);
}

void ReadPart(ByteReader* reader, IndexDigest* digest, uint64_t* entries, uint64_t* values) {
  *entries = digest->count = reader->U64();
  *values = reader->U64();
  digest->sum.low = reader->U64();
  digest->sum.high = reader->U64();
}

bool ReadSummary(ByteReader* reader, IndexSummary* summary) {
  summary->index = IndexId(reader->U32());
  const bool zero = reader->U32() == 0;
  ReadPart(reader, &summary->current_digest, &summary->current_entries, &summary->current_values);
  ReadPart(reader, &summary->older_digest, &summary->older_entries, &summary->older_values);
  return reader->ok() && zero && summary->current_values <= summary->current_entries &&
         summary->older_values <= summary->older_entries;
}

bool DecodeSummaries(std::string_view bytes, std::vector<IndexSummary>* summaries) {
  ByteReader reader(bytes);
  const size_t count = reader.U32();
  const bool zero = reader.U32() == 0;
  if (!zero || reader.remaining() != count * kSummaryBytes) return false;
  summaries->resize(count);
  return std::all_of(summaries->begin(), summaries->end(),
                     [&](IndexSummary& summary) { return ReadSummary(&reader, &summary); });
}

}  // namespace

void IndexDigest::Add(std::string_view key, std::string_view row_key) {
  ++count;
  AddTo(&sum, EntryHash(key, row_key));
}

void IndexDigest::Subtract(std::string_view key, std::string_view row_key) {
  --count;
  SubtractFrom(&sum, EntryHash(key, row_key));
}

void IndexDigest::AddAll(const IndexDigest& other) {
  count += other.count;
  AddTo(&sum, other.sum);
}

Status WriteSummaries(std::span<const IndexSummary> summaries, SectionWriter* out) {
  std::string bytes;
  AppendU32(&bytes, static_cast<uint32_t>(summaries.size()));
  AppendU32(&bytes, 0);
  for (const IndexSummary& summary : summaries) {
    AppendU32(&bytes, summary.index.value);
    AppendU32(&bytes, 0);
    AppendPart(summary.current_digest, summary.current_values, &bytes);
    AppendPart(summary.older_digest, summary.older_values, &bytes);
  }
  return WriteStream({SectionKind::kDigests, BlockKind::kDigests}, 0, 0, bytes, out);
}

Result<std::vector<IndexSummary>> ReadSummaries(const BlockFile& file,
                                                const std::vector<SectionEntry>& sections) {
  const SectionEntry* section = FindSection(sections, SectionKind::kDigests);
  if (section == nullptr) return Status::Corruption(file.file().name() + ": no section of digests");
  const Result<std::string> bytes = ReadWholeStream(file, *section, BlockKind::kDigests);
  if (!bytes.has_value()) return bytes.error();
  std::vector<IndexSummary> summaries;
  if (!DecodeSummaries(*bytes, &summaries)) {
    return file.Corrupt(section->offset, "digests break their layout");
  }
  return summaries;
}

}  // namespace tandem::format
