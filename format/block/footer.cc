// Encoding and checked decoding of the footer.
#include "format/block/footer.h"

#include "base/status_macros.h"
#include "format/byte_reader.h"
#include "format/coding.h"
#include "format/corruption.h"
#include "format/hash.h"

namespace tandem::format {
namespace {

constexpr std::string_view kMagic =
    "\x89"
    "FOOTER\n";
constexpr size_t kCopyBytes = kFooterBytes / 2;
constexpr size_t kChecksumAt = kCopyBytes - sizeof(uint64_t);
static_assert(kMagic.size() == 8);

Result<Footer> DecodeCopy(std::string_view copy, const FileId& id, uint64_t offset,
                          std::string_view file_name) {
  if (!copy.starts_with(kMagic)) return CorruptionAt(file_name, offset, "this is no footer");
  const uint64_t expected = LoadAt<uint64_t>(copy, kChecksumAt);
  const uint64_t found = Hash64(copy.substr(0, kChecksumAt), ChecksumSeed(id, offset));
  if (found != expected) {
    return CorruptionAt(file_name, offset, HashMismatch("checksum of footer", expected, found));
  }
  ByteReader reader(copy.substr(kMagic.size()));
  Footer footer;
  footer.file_size = reader.U64();
  footer.table_offsets[0] = reader.U64();
  footer.table_offsets[1] = reader.U64();
  footer.table_bytes = reader.U32();
  footer.sections = reader.U32();
  footer.number = FileNumber(reader.U64());
  if (reader.U64() != 0) {
    return CorruptionAt(file_name, offset, "footer has bits set that must be zero");
  }
  return footer;
}

}  // namespace

void AppendFooter(const Footer& footer, const FileId& id, std::string* out) {
  for (const uint64_t from_end : {kFooterBytes, kCopyBytes}) {
    const size_t start = out->size();
    out->append(kMagic);
    AppendU64(out, footer.file_size);
    AppendU64(out, footer.table_offsets[0]);
    AppendU64(out, footer.table_offsets[1]);
    AppendU32(out, footer.table_bytes);
    AppendU32(out, footer.sections);
    AppendU64(out, footer.number.value);
    AppendU64(out, 0);
    const uint64_t seed = ChecksumSeed(id, footer.file_size - from_end);
    AppendU64(out, Hash64(std::string_view(*out).substr(start), seed));
  }
}

Result<Footer> DecodeFooter(std::string_view bytes, const FileId& id, uint64_t file_size,
                            std::string_view file_name) {
  const uint64_t offset = file_size - kFooterBytes;
  Result<Footer> footer = DecodeCopy(bytes.substr(0, kCopyBytes), id, offset, file_name);
  if (!footer) {
    Result<Footer> second =
        DecodeCopy(bytes.substr(kCopyBytes), id, offset + kCopyBytes, file_name);
    if (!second) return footer;
    footer = std::move(second);
  }
  if (footer->file_size != file_size) {
    return CorruptionAt(file_name, offset, Mismatch("file size", footer->file_size, file_size));
  }
  return footer;
}

}  // namespace tandem::format
