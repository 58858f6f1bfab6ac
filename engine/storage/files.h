// The files of a local database: their names, what a directory holds of them, and how the first of
// them come to be.
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

/// Numbers reserved at a time.
inline constexpr uint64_t kReservedNumbers = 64;

enum class LocalFileKind : uint8_t { kManifest, kSegment, kStore, kDead };

/// A file that the engine made, as its name tells.
struct LocalFile {
  LocalFileKind kind{};
  format::FileNumber number;
  std::string name;
};

/// nullopt for a name that the engine does not make.
std::optional<LocalFile> ParseFileName(const std::string& name);
/// The files in `directory` that are the engine's, ROOT excepted.
Result<std::vector<LocalFile>> ListLocalFiles(base::Directory* directory);

/// Errors: kCorruption, of a directory that has `files` of a database and no ROOT.
Status RootIsMissing(const std::vector<LocalFile>& files);

/// 128 random bits.
format::RandomId NewRandomId(base::RandomSource* random);

/// Makes `directory` a database without tables unless it is one. A crash at any moment leaves a
/// directory that this call completes; what is not a trace of such a crash is never removed.
/// Errors: kCorruption (ROOT is damaged, or missing beside other files of a database), kIoError,
/// kNoSpace.
Status CreateDatabaseIfAbsent(base::Directory* directory, base::RandomSource* random);

/// Whether a ROOT that cannot be read is what a crash during creation left: alone in its directory,
/// and no other file than ours. Errors: kIoError.
Result<bool> IsHalfMadeRoot(base::Directory* directory, base::File* root_file);

}  // namespace tandem::engine
