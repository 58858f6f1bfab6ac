// The text forms of the public Status.
#include "tandem/status.h"

#include <cstdio>
#include <cstdlib>

namespace tandem {

std::string_view StatusCodeName(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return "Ok";
    case StatusCode::kInvalidArgument:
      return "InvalidArgument";
    case StatusCode::kNotFound:
      return "NotFound";
    case StatusCode::kAlreadyExists:
      return "AlreadyExists";
    case StatusCode::kCorruption:
      return "Corruption";
    case StatusCode::kIoError:
      return "IoError";
    case StatusCode::kNoSpace:
      return "NoSpace";
    case StatusCode::kOutOfMemory:
      return "OutOfMemory";
    case StatusCode::kBusy:
      return "Busy";
    case StatusCode::kConflict:
      return "Conflict";
    case StatusCode::kOverBudget:
      return "OverBudget";
    case StatusCode::kCancelled:
      return "Cancelled";
    case StatusCode::kUnsupported:
      return "Unsupported";
    case StatusCode::kReadOnly:
      return "ReadOnly";
    case StatusCode::kClosed:
      return "Closed";
    case StatusCode::kUnavailable:
      return "Unavailable";
  }
  return "Unknown";
}

Status Status::OutOfMemory() {
  // Short enough to be stored inside the string; the aliasing shared_ptr owns nothing.
  static const State kState{StatusCode::kOutOfMemory, "out of memory"};
  Status status;
  status.state_ = std::shared_ptr<const State>(std::shared_ptr<const State>(), &kState);
  return status;
}

std::string Status::ToString() const {
  if (ok()) return "OK";
  std::string text(StatusCodeName(code()));
  text += ": ";
  text += message();
  return text;
}

namespace internal {

void EndWithoutValue(const Status& error) {
  std::fprintf(stderr, "the value of a Result was asked for, but it holds an error: %s\n",
               error.ToString().c_str());
  std::abort();
}

void EndWithoutError() {
  std::fprintf(stderr, "the error of a Result was asked for, but it holds a value\n");
  std::abort();
}

}  // namespace internal
}  // namespace tandem
