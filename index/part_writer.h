// Writes one part of an index section from its values in order. Leaves are written as they fill;
// the postings stream and the directory are kept in memory until the end.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/page_memory.h"
#include "format/block/section_writer.h"
#include "format/types.h"
#include "index/directory.h"
#include "index/leaf.h"
#include "index/summary.h"
#include "tandem/status.h"

namespace tandem::format {

/// Threads: one at a time. Lifetime: `out` outlives it.
class IndexPartWriter {
 public:
  struct Spec {
    IndexId index;
    IndexPart part = IndexPart::kCurrent;
    uint32_t row_count = 0;
    Compression compression = Compression::kZstd;  ///< Of the leaves.
  };
  IndexPartWriter(Spec spec, SectionWriter* out) : spec_(spec), out_(out) {}

  /// Adds a value. Requires: `ordinals` is not empty, ascending, distinct and below the row count.
  /// Errors: kCorruption when the key is not greater than the last one (an input is not in order).
  Status Add(std::string_view key, std::span<const uint32_t> ordinals);
  /// Writes everything else. A part without values writes no section at all.
  Status Finish();

  uint64_t values() const { return directory_.values(); }    ///< After Finish.
  uint64_t entries() const { return directory_.entries(); }  ///< After Finish.

 private:
  uint32_t flags() const { return spec_.part == IndexPart::kOlder ? kSectionFlagOlder : 0; }
  void EncodeList(std::span<const uint32_t> ordinals);
  Status FinishLeaf();
  Status WriteLeaf(const BlockContent& content);
  Status WriteGroup();

  Spec spec_;
  SectionWriter* out_;
  bool started_ = false;
  IndexLeafBuilder leaf_;
  LeafSummary finished_;  // The leaf that was finished last.
  // Of finished leaves; the directory has those that are placed.
  uint64_t entries_ = 0, values_ = 0;
  // Leaves that are compressed together, in parallel.
  BlockGroup group_;
  std::vector<LeafSummary> grouped_;
  IndexDirectoryBuilder directory_;
  base::PageVector<char> postings_;  // Of all lists that are not in leaves.
  std::string encoded_, list_;
};

}  // namespace tandem::format
