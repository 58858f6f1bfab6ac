// The page is private and anonymous, as MADV_WIPEONFORK requires. A child's own children inherit
// the advice.
#include "base/fork_mark.h"

#include <sys/mman.h>
#include <unistd.h>

#include <new>

namespace tandem::base {

Result<std::shared_ptr<const ForkMark>> ForkMark::Make() {
  const std::shared_ptr<ForkMark> mark(new ForkMark);
  const auto size_bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* page =
      mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return Status::OutOfMemory();
  mark->made_here_ = new (page) std::atomic<unsigned char>(1);
  mark->size_bytes_ = size_bytes;
  if (madvise(page, size_bytes, MADV_WIPEONFORK) != 0) {
    return Status::Unsupported("the kernel has no MADV_WIPEONFORK, which Linux has since 4.14");
  }
  return std::shared_ptr<const ForkMark>(mark);
}

ForkMark::~ForkMark() {
  if (made_here_ != nullptr) munmap(made_here_, size_bytes_);
}

}  // namespace tandem::base
