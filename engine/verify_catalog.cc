// A file that the catalog does not name any more answers kNotFound, one that is missing
// kCorruption. Files are read in pieces, so that memory stays small however large they are.
#include "engine/verify_catalog.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/passing.h"
#include "base/status_macros.h"
#include "format/catalog.h"
#include "format/hash.h"
#include "format/store_file.h"

namespace tandem::engine {
namespace {

constexpr size_t kPieceBytes = 1 << 20;

class FileCheck {
 public:
  FileCheck(const format::FileRecord& record, VerifyReport* report)
      : record_(record), report_(report) {}

  Status CheckBytes(base::File* file);
  void CheckStatistics(const format::FileStatistics& statistics);

 private:
  void Compare(const char* what, uint64_t expected, uint64_t found) {
    if (expected == found) return;
    Find(std::string(what) + ": expected " + std::to_string(expected) + ", found " +
         std::to_string(found));
  }
  void Find(const std::string& what) {
    report_->findings.push_back(StoreFileName(record_.number) + ": against the catalog: " + what);
  }

  const format::FileRecord& record_;
  VerifyReport* report_;
};

Status FileCheck::CheckBytes(base::File* file) {
  ASSIGN_OR_RETURN(const uint64_t size, file->Size());
  Compare("size", record_.size_bytes, size);
  format::StreamingHash128 hash;
  std::vector<char> piece(std::min<uint64_t>(kPieceBytes, size));
  for (uint64_t offset = 0; offset < size;) {
    ASSIGN_OR_RETURN(const size_t count, file->Read(offset, piece));
    if (count == 0) break;
    hash.Add({piece.data(), count});
    offset += count;
  }
  if (hash.Finish() != record_.hash) Find("the hash of all its bytes is another");
  return Status();
}

void FileCheck::CheckStatistics(const format::FileStatistics& statistics) {
  Compare("rows", record_.rows, statistics.rows);
  Compare("cells", record_.cells, statistics.cells);
  Compare("deletes", record_.deletes, statistics.deletes);
  Compare("smallest sequence", record_.min_sequence.value, statistics.min_sequence.value);
  Compare("largest sequence", record_.max_sequence.value, statistics.max_sequence.value);
  if (record_.min_key != statistics.min_key || record_.max_key != statistics.max_key) {
    Find("its first or last key is another");
  }
}

}  // namespace

Status VerifyFilesOf(const TableView& view, Storage* storage, VerifyReport* report) {
  const format::Catalog catalog = storage->catalog();
  std::set<format::FileNumber> seen;
  for (const auto& region : view.regions) {
    for (const FileSlice& slice : region->files) {
      format::StoreFile& store = slice.file->store();
      const auto record = catalog.files.find(store.number());
      if (record == catalog.files.end() || !seen.insert(store.number()).second) continue;
      Result<std::unique_ptr<base::File>> file = storage->OpenFile(store.number());
      if (file.has_value()) {
        FileCheck check(record->second, report);
        RETURN_IF_ERROR(check.CheckBytes(file->get()));
        check.CheckStatistics(store.statistics());
      } else if (base::MayPass(file.error())) {
        return file.error();
      } else if (file.error().code() != StatusCode::kNotFound) {
        report->findings.push_back(std::string(file.error().message()));
      }
    }
  }
  return Status();
}

}  // namespace tandem::engine
