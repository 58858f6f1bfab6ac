// The whole-file hash of a store file, read front to back past every cache.
#include "engine/verify/file_hash.h"

#include <algorithm>
#include <string>

#include "base/status_macros.h"
#include "engine/verify/findings.h"
#include "format/corruption.h"
#include "format/file_window.h"
#include "format/hash.h"

namespace tandem::format {

Result<Hash128> HashFile(base::File* file, uint64_t size_bytes, const VisitPiece& visit) {
  ASSIGN_OR_RETURN(const uint64_t size, file->Size());
  if (size < size_bytes) {
    return CorruptionAt(file->name(), size, Mismatch("bytes of file", size_bytes, size));
  }
  FileWindow window(file, size_bytes);
  StreamingHash128 hash;
  for (uint64_t offset = 0; offset < size_bytes;) {
    const uint64_t piece = std::min(FileWindow::kReadBytes, size_bytes - offset);
    ASSIGN_OR_RETURN(const std::string_view bytes, window.Read(offset, piece));
    hash.Add(bytes);
    if (visit) RETURN_IF_ERROR(visit(offset, bytes));
    offset += piece;
  }
  return hash.Finish();
}

Status VerifyFileHash(base::File* file, uint64_t size_bytes, const Hash128& expected,
                      VerifyReport* report) {
  Findings findings(file->name(), report);
  const Result<uint64_t> size = file->Size();
  if (!size.has_value()) return findings.AddError(size.error());
  findings.set_topic({"catalog", FindingEffect::kAccess});
  if (*size != size_bytes) {
    findings.Add(Mismatch("size in bytes, by the catalog", size_bytes, *size));
    return {};
  }
  const Result<Hash128> found = HashFile(file, size_bytes);
  if (!found.has_value()) return findings.AddError(found.error());
  if (*found != expected) {
    // The findings of its blocks say what is lost.
    findings.set_topic({"catalog", FindingEffect::kNothing});
    findings.Add("hash of the whole file, by the catalog: expected " + HashText(expected) +
                 ", found " + HashText(*found));
  }
  return {};
}

}  // namespace tandem::format
