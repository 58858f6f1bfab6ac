// Writes Roaring lists with CRoaring; the only file that includes it. CRoaring's reader trusts its
// input and is never used: roaring_reader.cc reads what is on disk.
#include <roaring/roaring.h>

#include <memory>
#include <new>

#include "base/check.h"
#include "index/postings.h"

namespace tandem::format {
namespace {

struct FreeBitmap {
  void operator()(roaring_bitmap_t* bitmap) const { roaring_bitmap_free(bitmap); }
};

}  // namespace

void AppendRoaringList(std::span<const uint32_t> ordinals, std::string* out) {
  const std::unique_ptr<roaring_bitmap_t, FreeBitmap> bitmap(
      roaring_bitmap_of_ptr(ordinals.size(), ordinals.data()));
  if (bitmap == nullptr) std::__throw_bad_alloc();
  roaring_bitmap_run_optimize(bitmap.get());
  const size_t before = out->size();
  const size_t size = roaring_bitmap_portable_size_in_bytes(bitmap.get());
  out->resize(before + size);
  CHECK(roaring_bitmap_portable_serialize(bitmap.get(), out->data() + before) == size);
}

}  // namespace tandem::format
