// The calls of the kernel that base/ makes, as the linker redirects them (--wrap): to the emulated
// ones of the thread where it has some, otherwise to the C library's.
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdarg>

#include "test/reliability/emulated_calls.h"

using tandem::reliability::EmulatedCalls;

// Declares the C library's function and the one that is called in its place.
#define WRAPPED(result, name, ...)                           \
  extern "C" {                                               \
  result RealOf_##name(__VA_ARGS__) asm("__real_" #name);    \
  result InPlaceOf_##name(__VA_ARGS__) asm("__wrap_" #name); \
  }                                                          \
  result InPlaceOf_##name(__VA_ARGS__)

namespace {

EmulatedCalls* Calls() { return EmulatedCalls::OfThisThread(); }
EmulatedCalls* CallsFor(int fd) { return EmulatedCalls::Owns(fd) ? Calls() : nullptr; }
EmulatedCalls* CallsFor(DIR* stream) {
  EmulatedCalls* const calls = Calls();
  return calls != nullptr && calls->Owns(stream) ? calls : nullptr;
}

}  // namespace

WRAPPED(int, mkdir, const char* path, mode_t mode) {
  return Calls() != nullptr ? Calls()->MakeDirectory(path) : RealOf_mkdir(path, mode);
}
WRAPPED(int, openat, int directory_fd, const char* name, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  const bool is_emulated = Calls() != nullptr;
  return is_emulated ? Calls()->OpenAt(directory_fd, name, flags)
                     : RealOf_openat(directory_fd, name, flags, mode);
}
WRAPPED(int, close, int fd) {
  EmulatedCalls* const calls = CallsFor(fd);
  return calls != nullptr ? calls->Close(fd) : RealOf_close(fd);
}
WRAPPED(ssize_t, pread, int fd, void* bytes, size_t size, off_t offset) {
  EmulatedCalls* const calls = CallsFor(fd);
  if (calls == nullptr) return RealOf_pread(fd, bytes, size, offset);
  return calls->Read(fd, static_cast<uint64_t>(offset), {static_cast<char*>(bytes), size});
}
WRAPPED(ssize_t, pwrite, int fd, const void* bytes, size_t size, off_t offset) {
  EmulatedCalls* const calls = CallsFor(fd);
  if (calls == nullptr) return RealOf_pwrite(fd, bytes, size, offset);
  return calls->Write(fd, static_cast<uint64_t>(offset), {static_cast<const char*>(bytes), size});
}
WRAPPED(int, fdatasync, int fd) {
  EmulatedCalls* const calls = CallsFor(fd);
  return calls != nullptr ? calls->Sync(fd) : RealOf_fdatasync(fd);
}
WRAPPED(int, fsync, int fd) {
  EmulatedCalls* const calls = CallsFor(fd);
  return calls != nullptr ? calls->Sync(fd) : RealOf_fsync(fd);
}
// Only a hint.
WRAPPED(int, sync_file_range, int fd, off_t offset, off_t size, unsigned int flags) {
  return CallsFor(fd) != nullptr ? 0 : RealOf_sync_file_range(fd, offset, size, flags);
}
WRAPPED(int, ftruncate, int fd, off_t size) {
  EmulatedCalls* const calls = CallsFor(fd);
  if (calls == nullptr) return RealOf_ftruncate(fd, size);
  return calls->Truncate(fd, static_cast<uint64_t>(size));
}
WRAPPED(int, fallocate, int fd, int mode, off_t offset, off_t size) {
  EmulatedCalls* const calls = CallsFor(fd);
  if (calls == nullptr) return RealOf_fallocate(fd, mode, offset, size);
  const auto end = static_cast<uint64_t>(offset + size);
  return mode == 0 ? calls->Extend(fd, end) : calls->Preallocate(fd, end);
}
WRAPPED(int, fstat, int fd, struct stat* attributes) {
  EmulatedCalls* const calls = CallsFor(fd);
  return calls != nullptr ? calls->Attributes(fd, attributes) : RealOf_fstat(fd, attributes);
}
WRAPPED(int, fstatvfs, int fd, struct statvfs* figures) {
  EmulatedCalls* const calls = CallsFor(fd);
  return calls != nullptr ? calls->Space(fd, figures) : RealOf_fstatvfs(fd, figures);
}
WRAPPED(int, fcntl, int fd, int command, ...) {
  std::va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  if (CallsFor(fd) == nullptr) return RealOf_fcntl(fd, command, argument);
  // The flags of a descriptor are of no concern to a simulated disk, and no reader is beside it.
  if (command == F_OFD_GETLK) static_cast<struct flock*>(argument)->l_type = F_UNLCK;
  return 0;
}
WRAPPED(int, unlinkat, int directory_fd, const char* name, int flags) {
  EmulatedCalls* const calls = CallsFor(directory_fd);
  return calls != nullptr ? calls->Remove(directory_fd, name)
                          : RealOf_unlinkat(directory_fd, name, flags);
}
WRAPPED(int, flock, int fd, int operation) {
  EmulatedCalls* const calls = CallsFor(fd);
  if (calls == nullptr) return RealOf_flock(fd, operation);
  // Closing the descriptor is what lets go of the lock.
  const bool is_shared = (operation & LOCK_SH) != 0;
  return is_shared || (operation & LOCK_UN) != 0 ? 0 : calls->Lock(fd);
}
WRAPPED(DIR*, fdopendir, int fd) {
  EmulatedCalls* const calls = CallsFor(fd);
  return calls != nullptr ? calls->List(fd) : RealOf_fdopendir(fd);
}
WRAPPED(dirent*, readdir, DIR* stream) {
  EmulatedCalls* const calls = CallsFor(stream);
  return calls != nullptr ? calls->NextEntry(stream) : RealOf_readdir(stream);
}
WRAPPED(int, closedir, DIR* stream) {
  EmulatedCalls* const calls = CallsFor(stream);
  return calls != nullptr ? calls->EndList(stream) : RealOf_closedir(stream);
}
// Nobody is waited for on an emulated disk.
WRAPPED(int, sched_yield) { return Calls() != nullptr ? 0 : RealOf_sched_yield(); }
