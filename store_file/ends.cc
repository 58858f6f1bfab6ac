// See the header.
#include "store_file/ends.h"

#include <algorithm>

#include "base/status_macros.h"
#include "format/corruption.h"

namespace tandem::format {
namespace {

Result<Footer> CheckStoreFooter(std::string_view bytes, const FileHeader& header,
                                uint64_t size_bytes, std::string_view file_name) {
  if (bytes.size() != kFooterBytes) {
    return CorruptionAt(file_name, size_bytes - kFooterBytes,
                        Mismatch("bytes of footer", kFooterBytes, bytes.size()));
  }
  ASSIGN_OR_RETURN(const Footer footer, DecodeFooter(bytes, header.id, size_bytes, file_name));
  if (footer.number != header.number) {
    return CorruptionAt(file_name, size_bytes - kFooterBytes,
                        Mismatch("file number", header.number.value, footer.number.value));
  }
  return footer;
}

}  // namespace

Result<FileHeader> CheckStoreHeader(std::string_view bytes, const ExpectedFile& expected,
                                    uint64_t size_bytes, std::string_view file_name) {
  if (expected.size_bytes != 0 && size_bytes != expected.size_bytes) {
    return CorruptionAt(file_name, 0, Mismatch("file size", expected.size_bytes, size_bytes));
  }
  if (size_bytes < kFileHeaderBytes + kFooterBytes) {
    return CorruptionAt(
        file_name, 0, Mismatch("file size, at least", kFileHeaderBytes + kFooterBytes, size_bytes));
  }
  ASSIGN_OR_RETURN(const FileHeader header, DecodeFileHeader(bytes, FileKind::kStore, file_name));
  if (expected.number.value != 0 && header.number != expected.number) {
    return CorruptionAt(file_name, 0,
                        Mismatch("file number", expected.number.value, header.number.value));
  }
  if (expected.id.has_value() && header.id != *expected.id) {
    return CorruptionAt(file_name, 0, "file id is not the one that the manifest names");
  }
  if (expected.database.has_value() && header.database != *expected.database) {
    return CorruptionAt(file_name, 40, "database id is that of another database");
  }
  return header;
}

Result<StoreEnds> CheckStoreEnds(const FileEnds& ends, const ExpectedFile& expected,
                                 std::string_view file_name) {
  StoreEnds checked;
  ASSIGN_OR_RETURN(checked.header, CheckStoreHeader(ends.first.substr(0, kFileHeaderBytes),
                                                    expected, ends.size_bytes, file_name));
  const size_t footer_bytes = std::min(ends.last.size(), kFooterBytes);
  ASSIGN_OR_RETURN(checked.footer,
                   CheckStoreFooter(ends.last.substr(ends.last.size() - footer_bytes),
                                    checked.header, ends.size_bytes, file_name));
  return checked;
}

}  // namespace tandem::format
