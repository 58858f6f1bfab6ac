// See expired.h.
#include "compaction/expired.h"

#include <algorithm>

namespace tandem::compaction {
namespace {

// Whether Puts of the family up to `timestamp` have expired.
bool HasExpired(const AgingFile::Family& family, int64_t timestamp) {
  return family.expired_through.has_value() && timestamp <= *family.expired_through;
}

bool HavePutsExpired(const AgingFile& file) {
  return std::ranges::all_of(file.families, [](const AgingFile::Family& family) {
    return !family.newest_put.has_value() || HasExpired(family, *family.newest_put);
  });
}

// Rule 1.
bool HideOnlyExpired(const AgingFile& file) {
  return std::ranges::all_of(file.families, [&file](const AgingFile::Family& family) {
    return HasExpired(family, file.newest);
  });
}

bool ShareKeys(const AgingFile& a, const AgingFile& b) {
  return a.min_key <= b.max_key && b.min_key <= a.max_key;
}

}  // namespace

std::vector<size_t> PickExpired(std::span<const AgingFile> files) {
  std::vector<size_t> picked, staying;
  for (size_t i = 0; i < files.size(); ++i) {
    const AgingFile& file = files[i];
    const auto hides_nothing_older = [&] {  // Rule 2.
      return std::ranges::none_of(staying,
                                  [&](size_t older) { return ShareKeys(files[older], file); });
    };
    const bool goes = HavePutsExpired(file) &&
                      (!file.has_markers || HideOnlyExpired(file) || hides_nothing_older());
    (goes ? picked : staying).push_back(i);
  }
  return picked;
}

}  // namespace tandem::compaction
