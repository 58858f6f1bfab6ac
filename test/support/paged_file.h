// A file above another one with a cache of pages as the system's: reads bring pages in and read
// ahead, pages that were written stay until they are on the disk.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "test/support/forwarding_file.h"

namespace tandem::test {

/// The cached pages of one file.
struct PageCache {
  static constexpr uint64_t kPageBytes = base::File::kCachePageBytes;

  std::vector<bool> cached = {}, dirty = {};
  uint64_t read_ahead_bytes = 128 << 10;
  uint64_t folio_bytes = kPageBytes;  ///< Pages that go together or not at all.
  uint64_t cached_max = 0;            ///< The most pages at a time.

  /// `to`: which pages these bytes have, or have whole.
  void Set(std::vector<bool>* pages, uint64_t begin, uint64_t end, bool to) {
    const uint64_t page_end = (end + kPageBytes - 1) / kPageBytes;
    if (pages->size() < page_end) pages->resize(page_end);
    std::fill(pages->begin() + static_cast<ptrdiff_t>(begin / kPageBytes),
              pages->begin() + static_cast<ptrdiff_t>(page_end), to);
  }
  void Bring(uint64_t begin, uint64_t end) {
    Set(&cached, begin, end, true);
    cached_max = std::max(cached_max, count());
  }
  void Drop(uint64_t begin, uint64_t end) {
    for (uint64_t page = (begin + kPageBytes - 1) / kPageBytes;
         page < std::min<uint64_t>(end / kPageBytes, cached.size()); ++page) {
      if (!HasFolio(page, begin, end)) continue;
      const bool stays = page < dirty.size() && dirty[page];
      if (!stays) cached[page] = false;
      if (stays) dirty[page] = false;  // It begins to be written.
    }
  }
  // Whether all cached pages of the folio with that page lie in [begin, end).
  bool HasFolio(uint64_t page, uint64_t begin, uint64_t end) const {
    const uint64_t first = page * kPageBytes / folio_bytes * folio_bytes / kPageBytes;
    for (uint64_t i = first; i < first + folio_bytes / kPageBytes && i < cached.size(); ++i) {
      if (cached[i] && (i * kPageBytes < begin || (i + 1) * kPageBytes > end)) return false;
    }
    return true;
  }
  uint64_t count() const {
    return static_cast<uint64_t>(std::count(cached.begin(), cached.end(), true));
  }
};

class PagedFile final : public ForwardingFile {
 public:
  PagedFile(std::shared_ptr<base::File> beneath, std::shared_ptr<PageCache> pages)
      : ForwardingFile(std::move(beneath)), pages_(std::move(pages)) {}

  Result<size_t> Read(uint64_t offset, std::span<char> buffer) override {
    const Result<size_t> count = ForwardingFile::Read(offset, buffer);
    const Result<uint64_t> size = Size();
    if (!count.has_value() || !size.has_value() || *count == 0) return count;
    pages_->Bring(offset, std::min(offset + *count + pages_->read_ahead_bytes, *size));
    return count;
  }
  Status Write(uint64_t offset, std::string_view data) override {
    pages_->Bring(offset, offset + data.size());
    pages_->Set(&pages_->dirty, offset, offset + data.size(), true);
    return ForwardingFile::Write(offset, data);
  }
  Status DataSync() override {
    pages_->dirty.clear();
    return ForwardingFile::DataSync();
  }
  Status AwaitWriteBack(uint64_t offset, uint64_t size_bytes) override {
    pages_->Set(&pages_->dirty, offset, offset + size_bytes, false);
    return write_back_status;
  }
  std::vector<bool> CachedPages(uint64_t offset, uint64_t size_bytes) override {
    std::vector<bool> found((size_bytes + PageCache::kPageBytes - 1) / PageCache::kPageBytes);
    const uint64_t first = offset / PageCache::kPageBytes;
    for (uint64_t i = 0; i < found.size() && first + i < pages_->cached.size(); ++i) {
      found[i] = pages_->cached[first + i];
    }
    return found;
  }
  void DropCached(uint64_t offset, uint64_t size_bytes) override {
    pages_->Drop(offset, offset + size_bytes);
  }

  Status write_back_status = {};  ///< Of AwaitWriteBack.

 private:
  const std::shared_ptr<PageCache> pages_;
};

}  // namespace tandem::test
