// Names of local files.
#include "engine/storage/files.h"

#include <array>
#include <charconv>

#include "base/status_macros.h"

namespace tandem::engine {
namespace {

struct Prefix {
  LocalFileKind kind;
  std::string_view text;
};
constexpr std::array<Prefix, 4> kPrefixes = {{{LocalFileKind::kManifest, "manifest-"},
                                              {LocalFileKind::kSegment, "log-"},
                                              {LocalFileKind::kStore, "store-"},
                                              {LocalFileKind::kDead, "dead-"}}};

std::string Name(LocalFileKind kind, format::FileNumber number) {
  return std::string(kPrefixes[static_cast<size_t>(kind)].text) + std::to_string(number.value);
}

}  // namespace

std::string ManifestName(format::FileNumber number) {
  return Name(LocalFileKind::kManifest, number);
}
std::string SegmentName(format::FileNumber number) { return Name(LocalFileKind::kSegment, number); }
std::string StoreFileName(format::FileNumber number) { return Name(LocalFileKind::kStore, number); }

std::optional<LocalFile> ParseFileName(const std::string& name) {
  for (const Prefix& prefix : kPrefixes) {
    if (!name.starts_with(prefix.text)) continue;
    LocalFile file{prefix.kind, {}, name};
    const char* const end = name.data() + name.size();
    const auto parsed = std::from_chars(name.data() + prefix.text.size(), end, file.number.value);
    if (parsed.ec != std::errc() || file.number.value == 0) continue;
    // Only the spelling that the engine writes: no leading zero, nothing after the number.
    if (Name(prefix.kind, file.number) == name) return file;
  }
  return std::nullopt;
}

Result<std::vector<LocalFile>> ListLocalFiles(base::Directory* directory) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, directory->List());
  std::vector<LocalFile> files;
  for (const std::string& name : names) {
    if (std::optional<LocalFile> file = ParseFileName(name)) files.push_back(std::move(*file));
  }
  return files;
}

Status RootIsMissing(const std::vector<LocalFile>& files) {
  return Status::Corruption("ROOT does not exist beside " + files.front().name +
                            ": a database that lost it, or a copy that was not finished");
}

format::RandomId NewRandomId(base::RandomSource* random) {
  format::RandomId id;
  random->Fill({reinterpret_cast<char*>(id.bytes.data()), id.bytes.size()});
  return id;
}

}  // namespace tandem::engine
