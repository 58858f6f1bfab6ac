// Each part finds the sources of its keys for itself.
#include "engine/parallel/key_read.h"

#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "engine/counting/matches.h"
#include "engine/parallel/key_parts.h"
#include "engine/read/concatenating_iterator.h"

namespace tandem::engine {
namespace {

class KeyPart final : public ReadPart {
 public:
  KeyPart(KeyRanges rows, bool reverse) : rows_(std::move(rows)), reverse_(reverse) {}

  Result<std::unique_ptr<RowSource>> Open(ReadContext* context) override {
    RETURN_IF_ERROR(Find(context));
    return std::unique_ptr<RowSource>(std::make_unique<LimitIterator>(
        ConcatenatingIterator(context, clusters_, /*access=*/nullptr, reverse_), 0));
  }

  Result<uint64_t> Count(ReadContext* context) override {
    RETURN_IF_ERROR(Find(context));
    uint64_t count = 0;
    for (const Cluster& cluster : clusters_) {
      if (!context->predicate.has_value() && EachRowCounts(cluster)) {
        count += cluster.files[0].high - cluster.files[0].low;
        continue;
      }
      ConcatenatingIterator rows(context, {&cluster, 1}, /*access=*/nullptr);
      while (true) {
        ASSIGN_OR_RETURN(const bool is_row, rows.Next());
        if (!is_row) break;
        ++count;
      }
    }
    return count;
  }

 private:
  Status Find(ReadContext* context) {
    ASSIGN_OR_RETURN(clusters_, FindClusters(context->view, rows_));
    return LoadFamilies(context->schema.merged, &clusters_);
  }

  const KeyRanges rows_;
  const bool reverse_;
  std::vector<Cluster> clusters_;
};

class KeyRead final : public PartedRead {
 public:
  KeyRead(std::span<const Cluster> clusters, bool reverse, const PartSize& size)
      : parts_(clusters, reverse, size), reverse_(reverse) {}

  Result<std::unique_ptr<ReadPart>> Cut() override {
    ASSIGN_OR_RETURN(KeyRanges rows, parts_.Next());
    if (rows.empty()) return std::unique_ptr<ReadPart>();
    return NewKeyPart(std::move(rows), reverse_);
  }

 private:
  KeyParts parts_;
  const bool reverse_;
};

}  // namespace

bool EachRowCounts(const Cluster& cluster) {
  return cluster.has_one_file() && AllMayBeSingleSource(cluster.files[0]);
}

std::unique_ptr<ReadPart> NewKeyPart(KeyRanges rows, bool reverse) {
  return std::make_unique<KeyPart>(std::move(rows), reverse);
}

std::unique_ptr<PartedRead> NewKeyRead(std::span<const Cluster> clusters, bool reverse,
                                       const ReadResources& resources) {
  return std::make_unique<KeyRead>(clusters, reverse, PartSize::Of(resources));
}

}  // namespace tandem::engine
