// See expected.h. The memory comes zeroed from the kernel, which is a valid state of every part.
#include "tools/stress/expected.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "base/status_macros.h"
#include "tools/tandem/format_text.h"

namespace tandem::stress {
namespace {

constexpr uint64_t kMagic = 0x3653534552545354;  // "TSTRESS6"
constexpr size_t kHeaderBytes = 32768;
static_assert(sizeof(Header) <= kHeaderBytes);
static_assert(std::atomic<uint64_t>::is_always_lock_free);

size_t SizeOf(uint64_t threads, uint64_t slots) {
  return kHeaderBytes + sizeof(Lists) + threads * sizeof(ThreadState) + slots * sizeof(SlotState);
}

Status ErrnoError(const std::string& path) {
  const std::string message = path + ": " + std::strerror(errno);
  return errno == ENOENT ? Status::NotFound(message) : Status::IoError(message);
}

}  // namespace

Expected::Expected(void* memory, size_t size_bytes) : memory_(memory), size_bytes_(size_bytes) {
  char* at = static_cast<char*>(memory_) + kHeaderBytes;
  lists_ = reinterpret_cast<Lists*>(at);
  at += sizeof(Lists);
  threads_ = reinterpret_cast<ThreadState*>(at);
  slots_ = reinterpret_cast<SlotState*>(at + header().threads * sizeof(ThreadState));
}

Expected::~Expected() { munmap(memory_, size_bytes_); }

Result<void*> Expected::Map(const std::string& path, bool create, size_t* size_bytes) {
  const int file = ::open(path.c_str(), create ? O_RDWR | O_CREAT | O_EXCL : O_RDWR, 0600);
  if (file < 0) return ErrnoError(path);
  struct stat about {};
  // A page that is stored to without a place on the disk would end the process.
  if (create) errno = posix_fallocate(file, 0, static_cast<off_t>(*size_bytes));
  const bool sized = create ? errno == 0 : fstat(file, &about) == 0;
  if (!create) *size_bytes = static_cast<size_t>(about.st_size);
  void* const memory =
      !sized || *size_bytes < kHeaderBytes
          ? MAP_FAILED
          : mmap(nullptr, *size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  const Status error = memory == MAP_FAILED ? ErrnoError(path) : Status();
  close(file);
  if (sized && *size_bytes < kHeaderBytes) {
    return Status::InvalidArgument(path + ": no expected state of a stress run: it is too short");
  }
  if (!error.ok()) return error;
  return memory;
}

Result<std::unique_ptr<Expected>> Expected::Create(const std::string& path, const Shape& shape) {
  size_t size_bytes = SizeOf(shape.threads, shape.slots);
  ASSIGN_OR_RETURN(void* const memory, Map(path, true, &size_bytes));
  auto* const header = static_cast<Header*>(memory);
  header->seed = shape.seed;
  header->rows = shape.rows;
  header->threads = shape.threads;
  header->slots = shape.slots;
  header->magic = kMagic;
  return std::unique_ptr<Expected>(new Expected(memory, size_bytes));
}

Result<std::unique_ptr<Expected>> Expected::Open(const std::string& path) {
  size_t size_bytes = 0;
  ASSIGN_OR_RETURN(void* const memory, Map(path, false, &size_bytes));
  const auto& header = *static_cast<Header*>(memory);
  const bool is_good = header.magic == kMagic && header.threads >= 1 && header.threads <= 64 &&
                       header.slots <= (1 << 24) &&
                       size_bytes == SizeOf(header.threads, header.slots);
  if (is_good) return std::unique_ptr<Expected>(new Expected(memory, size_bytes));
  munmap(memory, size_bytes);
  return Status::InvalidArgument(path + ": no expected state of a stress run");
}

}  // namespace tandem::stress
