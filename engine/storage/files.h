// The files of a local database: their names, listing them, and creating the first ones.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.h"
#include "base/random.h"
#include "format/root.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::engine {

inline constexpr const char* kRootName = "ROOT";

/// The file names of a local store: "ROOT", "manifest-N", "log-N", "store-N", N in decimal.
std::string ManifestName(format::FileNumber number);
std::string SegmentName(format::FileNumber number);
std::string StoreFileName(format::FileNumber number);

/// Numbers reserved at a time.
inline constexpr uint64_t kReservedNumbers = 64;

enum class LocalFileKind : uint8_t { kManifest, kSegment, kStore, kDead };

/// A file that the engine made, parsed from its name.
struct LocalFile {
  LocalFileKind kind{};
  format::FileNumber number;
  std::string name;
};

/// nullopt for a name that the engine does not make.
std::optional<LocalFile> ParseFileName(const std::string& name);
/// The files in `directory` that are the engine's, ROOT excepted.
Result<std::vector<LocalFile>> ListLocalFiles(base::Directory* directory);

/// The error (kCorruption) for a directory that has `files` of a database but no ROOT.
Status RootIsMissing(const std::vector<LocalFile>& files);

/// 128 random bits.
format::RandomId NewRandomId(base::RandomSource* random);

/// Makes `directory` a database without tables unless it is one already. A crash at any point
/// leaves a directory that this call completes; only what such a crash left is ever removed.
/// Errors: kCorruption (ROOT is damaged, or missing while other files of a database exist),
/// kIoError, kNoSpace.
Status CreateDatabaseIfAbsent(base::Directory* directory, base::RandomSource* random);

/// Whether an unreadable ROOT was left by a crash during creation: it is the engine's only file in
/// the directory, and it begins with zeros or with the magic number. Errors: kIoError.
Result<bool> IsHalfMadeRoot(base::Directory* directory, base::File* root_file);

}  // namespace tandem::engine
