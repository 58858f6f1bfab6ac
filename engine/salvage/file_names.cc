// Names are decided once, before anything else is read.
#include "engine/salvage/file_names.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/passing.h"
#include "base/status_macros.h"
#include "engine/storage/files.h"
#include "engine/storage/storage.h"
#include "format/file_header.h"

namespace tandem::engine {
namespace {

using Names = std::map<std::string, std::string>;  // Those that it has in the directory.

class NamedDirectory final : public base::Directory {
 public:
  NamedDirectory(std::unique_ptr<base::Directory> directory, Names names)
      : directory_(std::move(directory)), names_(std::move(names)) {}

  Result<std::unique_ptr<base::File>> Open(const std::string& name, base::OpenMode mode) override {
    if (mode != base::OpenMode::kReadOnly) return Refused();
    const auto found = names_.find(name);
    if (found == names_.end()) return Status::NotFound("'" + name + "' does not exist");
    return directory_->Open(found->second, mode);
  }
  Result<std::vector<std::string>> List() override {
    std::vector<std::string> names;
    for (const auto& [name, real_name] : names_) names.push_back(name);
    return names;
  }
  Result<std::unique_ptr<base::File>> Create(const std::string&) override { return Refused(); }
  Status Remove(const std::string&) override { return Refused(); }
  Status Sync() override { return Refused(); }
  Status Lock() override { return Refused(); }
  bool HoldsLock() const override { return false; }
  Result<uint64_t> FreeSpace() override { return directory_->FreeSpace(); }

 private:
  static Status Refused() { return Status::Unsupported("a damaged database is only read"); }

  const std::unique_ptr<base::Directory> directory_;
  const Names names_;
};

// The name that the file's header gives it; nullopt: none.
Result<std::optional<std::string>> NameByHeader(base::Directory* directory,
                                                const std::string& name) {
  const auto file = directory->Open(name, base::OpenMode::kReadOnly);
  if (!file && base::MayPass(file.error())) return file.error();
  if (!file) return std::optional<std::string>();  // No file, or nothing that can be one of ours.
  char bytes[format::kFileHeaderBytes];
  const Result<size_t> count = (*file)->Read(0, bytes);
  if (!count) return std::optional<std::string>();  // The error recurs where the file is needed.
  const auto decode = [&](format::FileKind kind) {
    return format::DecodeFileHeader({bytes, *count}, kind, name);
  };
  if (const auto header = decode(format::FileKind::kStore)) {
    return std::optional(StoreFileName(header->number));
  }
  if (const auto header = decode(format::FileKind::kLog)) {
    return std::optional(SegmentName(header->number));
  }
  if (const auto header = decode(format::FileKind::kManifest)) {
    return std::optional(ManifestName(header->number));
  }
  return std::optional<std::string>();
}

// Whether the file cannot even have a header.
bool IsShort(base::Directory* directory, const std::string& name) {
  const auto file = directory->Open(name, base::OpenMode::kReadOnly);
  if (!file) return true;
  const Result<uint64_t> size = (*file)->Size();
  return size && *size < format::kFileHeaderBytes;
}

}  // namespace

Result<std::unique_ptr<base::Directory>> NamedByHeaders(std::unique_ptr<base::Directory> directory,
                                                        SalvageReport* report) {
  ASSIGN_OR_RETURN(std::vector<std::string> listed, directory->List());
  std::sort(listed.begin(), listed.end());
  Names names;
  std::set<std::string> nameless;                           // Without a good header.
  std::vector<std::pair<std::string, std::string>> others;  // Name by header, actual name.
  for (const std::string& name : listed) {
    ASSIGN_OR_RETURN(const std::optional<std::string> said, NameByHeader(directory.get(), name));
    if (!said.has_value() || *said == name) {
      names[name] = name;
      if (!said.has_value()) nameless.insert(name);
    } else {
      others.emplace_back(*said, name);
    }
  }
  for (const auto& [said, name] : others) {
    // Store files never change, so any one with a good header will do. Manifests and segments grow,
    // so an old copy is not as good as the file that has the name.
    const bool gives_way =
        nameless.contains(said) && (said.starts_with("store-") || IsShort(directory.get(), said));
    if (gives_way) {
      nameless.erase(said);
      names.erase(said);
    }
    if (names.emplace(said, name).second) {
      report->repaired.push_back({name, "is " + said + " by its header, and read as such"});
    } else {
      names.emplace(name, name);
    }
  }
  return std::unique_ptr<base::Directory>(
      std::make_unique<NamedDirectory>(std::move(directory), std::move(names)));
}

}  // namespace tandem::engine
