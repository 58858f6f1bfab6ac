// All files of a database against ROOT and manifest, apart from the engine: a second opinion that
// shares only the formats with it.
//
// 1. ROOT: both slots, when the database was closed.
// 2. The manifest that ROOT names gives the catalog.
// 3. Every store file of the catalog: size and hash of the whole file.
// 4. After a clean close: no other name in the directory.
// Beside a live writer the catalog may change meanwhile: a file that does not fit is looked up
// again in the catalog as it is then.
#include <set>

#include "base/status_macros.h"
#include "engine/storage/files.h"
#include "engine/storage/manifest.h"
#include "engine/storage/storage.h"
#include "engine/verify/file_hash.h"
#include "engine/verify/findings.h"
#include "format/root.h"
#include "tools/tandem/file_check.h"
#include "tools/tandem/format_text.h"

namespace tandem::tools {
namespace {

struct Binding {
  format::RootFile root;
  format::Catalog catalog;
};

class DirectoryCheck {
 public:
  DirectoryCheck(base::Directory* directory, VerifyReport* report)
      : directory_(*directory), report_(*report) {}

  /// Errors: also kCorruption, where ROOT or the manifest cannot be read.
  Status Run();

 private:
  Result<Binding> ReadBinding();
  Status CheckRootSlots();
  Status CheckStoreFile(const format::FileRecord& record);
  Status CheckNames(const Binding& binding);

  base::Directory& directory_;
  VerifyReport& report_;
};

Result<Binding> DirectoryCheck::ReadBinding() {
  Binding binding;
  ASSIGN_OR_RETURN(const auto root, directory_.Open("ROOT", base::OpenMode::kReadOnly));
  ASSIGN_OR_RETURN(binding.root, format::ReadRoot(root.get()));
  const std::string name = engine::ManifestName(binding.root.record.manifest.number);
  ASSIGN_OR_RETURN(const auto manifest, directory_.Open(name, base::OpenMode::kReadOnly));
  ASSIGN_OR_RETURN(format::ManifestContents contents,
                   format::ReadManifest(manifest.get(), binding.root));
  binding.catalog = std::move(contents.catalog);
  return binding;
}

Status DirectoryCheck::Run() {
  RETURN_IF_ERROR(CheckRootSlots());
  ASSIGN_OR_RETURN(const Binding binding, ReadBinding());
  for (const auto& [number, record] : binding.catalog.files) {
    RETURN_IF_ERROR(CheckStoreFile(record));
  }
  return binding.root.record.closed ? CheckNames(binding) : Status();
}

Status DirectoryCheck::CheckRootSlots() {
  ASSIGN_OR_RETURN(auto file, directory_.Open("ROOT", base::OpenMode::kReadOnly));
  ProbedFile probed;
  probed.header.kind = format::FileKind::kRoot;
  ASSIGN_OR_RETURN(probed.size_bytes, file->Size());
  probed.file = std::move(file);
  return CheckFile(&probed, false, &report_);
}

Status DirectoryCheck::CheckStoreFile(const format::FileRecord& record) {
  const std::string name = engine::StoreFileName(record.number);
  VerifyReport found;
  const auto file = directory_.Open(name, base::OpenMode::kReadOnly);
  if (file.has_value()) {
    RETURN_IF_ERROR(format::VerifyFileHash(file->get(), record.size_bytes, record.hash, &found));
  } else {
    found.findings.push_back(
        format::NewFinding(Status::Corruption(Format("{}: {}", name, file.error().message()))));
  }
  if (found.findings.empty()) return {};
  ASSIGN_OR_RETURN(const Binding now, ReadBinding());
  if (!now.catalog.files.contains(record.number)) return {};
  report_.findings.insert(report_.findings.end(), found.findings.begin(), found.findings.end());
  return {};
}

Status DirectoryCheck::CheckNames(const Binding& binding) {
  std::set<std::string> expected = {"ROOT",
                                    engine::ManifestName(binding.root.record.manifest.number)};
  for (const auto& [number, record] : binding.catalog.files) {
    expected.insert(engine::StoreFileName(number));
  }
  for (const format::SegmentRecord& segment : binding.catalog.segments) {
    expected.insert(engine::SegmentName(segment.number));
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> names, directory_.List());
  for (const std::string& name : names) {
    if (expected.contains(name)) continue;
    report_.findings.push_back(format::NewFinding(
        {"name", FindingEffect::kNothing},
        Format("{}: neither ROOT nor the manifest of this closed database names it", name)));
  }
  return {};
}

}  // namespace

Status CheckDirectory(const std::string& path, VerifyReport* report) {
  const auto file_system = base::NewPosixFileSystem();
  ASSIGN_OR_RETURN(const auto directory, file_system->OpenDirectory(path, false));
  const Status status = DirectoryCheck(directory.get(), report).Run();
  if (status.code() != StatusCode::kCorruption) return status;
  report->findings.push_back(format::NewFinding(status));
  return {};
}

}  // namespace tandem::tools
