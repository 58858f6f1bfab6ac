// The parts common to all file systems.
#include "base/file_system.h"

#include "base/passing.h"
#include "base/status_macros.h"

namespace tandem::base {

Status CheckFileName(const std::string& name) {
  const bool is_plain = !name.empty() && name != "." && name != ".." &&
                        name.find('/') == std::string::npos && name.find('\0') == std::string::npos;
  if (is_plain) return {};
  return Status::InvalidArgument("'" + name + "' is not the name of a file in a directory");
}

Status Directory::Link(Directory&, const std::string& name, const std::string&) {
  return Status::Unsupported("cannot link '" + name + "': there are no hard links here");
}

// For file systems whose directories have no parents.
Result<bool> Directory::IsWithin(Directory&) { return false; }

Result<std::unique_ptr<SharedLock>> Directory::LockShared(const std::string& name) {
  return Status::Unsupported("cannot lock '" + name + "': there are no shared locks here");
}

Result<bool> Directory::IsLockedShared(const std::string&, uint64_t) { return false; }

std::vector<int64_t> Directory::SharedLockHolders(const std::string&) { return {}; }

Result<std::unique_ptr<Directory>> FileSystem::CreateDirectory(const std::string& path) {
  const Result<std::unique_ptr<Directory>> present = OpenDirectory(path, /*create=*/false);
  if (present) return Status::AlreadyExists("cannot create directory '" + path + "': it exists");
  if (present.error().code() != StatusCode::kNotFound) return present.error();
  return OpenDirectory(path, /*create=*/true);
}

Status FileSystem::RemoveDirectory(const std::string& path) {
  return Status::Unsupported("cannot remove directory '" + path + "': this file system keeps them");
}

bool MayPass(const Status& status) {
  switch (status.code()) {
    case StatusCode::kNoSpace:
    case StatusCode::kOutOfMemory:
    case StatusCode::kUnavailable:
      return true;
    default:
      return false;
  }
}

void RunRequest(IoRequest& request) {
  request.status = Status();
  request.transferred = 0;
  File* const file = request.open_file();
  switch (request.kind) {
    case IoRequest::Kind::kRead: {
      Result<size_t> count = file->Read(request.offset, request.buffer);
      request.status = count.status();
      if (count.has_value()) request.transferred = *count;
      break;
    }
    case IoRequest::Kind::kWrite:
      request.status = file->Write(request.offset, {request.buffer.data(), request.buffer.size()});
      if (request.status.ok()) request.transferred = request.buffer.size();
      break;
    case IoRequest::Kind::kDataSync:
      request.status = file->DataSync();
      break;
  }
}

}  // namespace tandem::base
