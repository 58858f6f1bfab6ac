// See unwritten.h.
#include "tools/simulation/unwritten.h"

#include <algorithm>
#include <vector>

namespace tandem::test {
namespace {

constexpr size_t kBlocksMax = 256;
// A large file does not push all others out of the pool.
constexpr uint64_t kBlocksPerFileMax = 16;
// Keeps the draws apart from those that decide what survives.
constexpr uint64_t kSeedMark = 0x5eed'f111'0000'0001;

}  // namespace

void FreedBlocks::Free(std::string_view content) {
  const uint64_t block_count = (content.size() + kBlockBytes - 1) / kBlockBytes;
  for (uint64_t i = 0; i < std::min(block_count, kBlocksPerFileMax); ++i) {
    auto bytes = std::make_shared<std::string>(content.substr(i * kBlockBytes, kBlockBytes));
    bytes->resize(kBlockBytes);
    blocks_.push_back({i * kBlockBytes, std::move(bytes)});
    if (blocks_.size() > kBlocksMax) blocks_.pop_front();
  }
}

std::string_view FreedBlocks::Pick(uint64_t offset, uint64_t begin, uint64_t end,
                                   base::RandomSource* random) const {
  if (blocks_.empty()) return {};
  std::vector<const Block*> same;
  for (const Block& block : blocks_) {
    if (block.offset == offset) same.push_back(&block);
  }
  const bool takes_same = !same.empty() && random->Next64() % 4 != 0;
  const Block& block = takes_same ? *same[random->Next64() % same.size()]
                                  : blocks_[random->Next64() % blocks_.size()];
  return std::string_view(*block.bytes).substr(begin, end - begin);
}

Filler::Filler(const CrashPolicy& policy, const FreedBlocks* freed)
    : freed_(freed),
      random_(base::NewSeededRandom(policy.seed ^ kSeedMark)),
      kind_(policy.unwritten),
      fills_reserved_(policy.fills_reserved) {
  if (kind_ != CrashPolicy::Unwritten::kUsual) return;
  kind_ = CrashPolicy::Unwritten::kZeros;
  if (policy.kept != CrashPolicy::Kept::kRandom) return;
  constexpr CrashPolicy::Unwritten kKinds[] = {
      CrashPolicy::Unwritten::kStale, CrashPolicy::Unwritten::kStale,
      CrashPolicy::Unwritten::kGarbage, CrashPolicy::Unwritten::kZeros};
  kind_ = kKinds[random_->Next64() % 4];
}

void Filler::Fill(std::string* content, uint64_t begin, uint64_t end) {
  const std::span<char> target(content->data() + begin, end - begin);
  if (kind_ == CrashPolicy::Unwritten::kGarbage) return random_->Fill(target);
  if (kind_ != CrashPolicy::Unwritten::kStale) return;
  const uint64_t block = begin / kBlockBytes * kBlockBytes;
  const std::string_view old = freed_->Pick(block, begin - block, end - block, random_.get());
  std::copy(old.begin(), old.end(), target.begin());
}

}  // namespace tandem::test
