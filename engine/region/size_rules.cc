// See size_rules.h.
#include "engine/region/size_rules.h"

#include <algorithm>

namespace tandem::engine {

LargestFirst::LargestFirst(std::span<const uint64_t> bytes) {
  heap_.reserve(bytes.size());
  for (size_t place = 0; place < bytes.size(); ++place) heap_.push_back({bytes[place], place});
  std::ranges::make_heap(heap_, IsAfter);
}

bool LargestFirst::IsAfter(const Entry& a, const Entry& b) {
  return a.bytes != b.bytes ? a.bytes < b.bytes : a.place > b.place;
}

size_t LargestFirst::Next() {
  std::ranges::pop_heap(heap_, IsAfter);
  const size_t place = heap_.back().place;
  heap_.pop_back();
  return place;
}

bool JoinsRun(bool is_after_run, std::span<const uint64_t> file_bytes, uint64_t join_bytes) {
  return is_after_run && !file_bytes.empty() &&
         std::ranges::all_of(file_bytes, [&](uint64_t bytes) { return bytes >= join_bytes; });
}

}  // namespace tandem::engine
