// See operation_log.h.
#include "tools/stress/operation_log.h"

#include <cerrno>
#include <cstring>

namespace tandem::stress {
namespace {

constexpr uint64_t kBytesMax = 16 << 20;

}  // namespace

Result<std::unique_ptr<OperationLog>> OperationLog::Open(const std::string& path) {
  std::unique_ptr<OperationLog> log(new OperationLog(path));
  base::MutexLock lock(log->mutex_);
  if (!log->Begin()) return Status::IoError(path + ": " + std::strerror(errno));
  return log;
}

OperationLog::~OperationLog() {
  base::MutexLock lock(mutex_);
  if (file_ != nullptr) std::fclose(file_);
}

bool OperationLog::Begin() {
  file_ = std::fopen(path_.c_str(), "ab");
  if (file_ == nullptr) return false;
  std::setvbuf(file_, nullptr, _IOLBF, 1 << 12);
  const long at = std::ftell(file_);
  size_bytes_ = at < 0 ? 0 : static_cast<uint64_t>(at);
  return true;
}

void OperationLog::Add(std::string_view line) {
  base::MutexLock lock(mutex_);
  if (size_bytes_ > kBytesMax && file_ != nullptr) {
    std::fclose(file_);
    std::rename(path_.c_str(), (path_ + ".1").c_str());
    if (!Begin()) return;
  }
  if (file_ == nullptr) return;
  std::fprintf(file_, "%.*s\n", static_cast<int>(line.size()), line.data());
  size_bytes_ += line.size() + 1;
}

}  // namespace tandem::stress
