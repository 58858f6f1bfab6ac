// The pages of a file that a pass over it leaves in the system's cache: those that were there
// before. A large merge would otherwise push out what readers need, for bytes that nobody reads
// again.
//
// The system reads ahead of a reader, so a page that the pass is about to read may be there only
// because of the pass. So the file is looked at in steps, each of which is looked at when the pass
// enters the one before it.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/file_system.h"

namespace tandem::format {

/// Lets go of the pages from `offset` on, a multiple of base::File::kCachePageBytes, that
/// `were_cached` does not have.
void DropPagesThatCame(base::File* file, uint64_t offset, const std::vector<bool>& were_cached);

/// Where the system does not say what its cache has, nothing goes. Threads: one at a time.
/// Lifetime: `file` outlives it.
class PassedPages {
 public:
  explicit PassedPages(base::File* file) : file_(file) {}

  /// Call it before a read. Places need not rise, but those of several cursors are near each other.
  void Look(uint64_t offset, uint64_t size_bytes);
  /// Whether all pages of these bytes were there before; true if that is not known. Requires: Look
  /// was called for them.
  bool WereCached(uint64_t offset, uint64_t size_bytes) const;
  /// What is before `end` is not needed any more, by this pass.
  void PassedTo(uint64_t end);
  /// Nor what it has read, or the system ahead of it.
  void Finish();

  /// More than the system reads ahead: up to 16 MiB on disks that are set so.
  static constexpr uint64_t kStepBytes = 32 << 20;

 private:
  base::File* file_;
  bool is_known_ = true;
  bool has_begun_ = false;
  uint64_t began_at_ = 0;  ///< A multiple of the page's size; so is this:
  uint64_t passed_to_ = 0;
  uint64_t read_to_ = 0;                         ///< The end of all reads.
  std::map<uint64_t, std::vector<bool>> steps_;  ///< By number: of each page, whether it was there.
};

}  // namespace tandem::format
