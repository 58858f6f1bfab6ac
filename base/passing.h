// Which errors are temporary. Only this file and the conversion of errno to Status (posix_file.cc)
// decide that.
#pragma once

#include "tandem/status.h"

namespace tandem::base {

/// Whether an operation that failed with `status` may succeed if it is retried later: the disk is
/// full (kNoSpace), memory is short (kOutOfMemory: an allocation, ENOMEM), or descriptors ran out
/// or the call was interrupted repeatedly (kUnavailable: EMFILE, ENFILE, EINTR, EAGAIN).
///
/// Retry only opening, creating, reading and allocating. After any failed write or sync, these
/// errors included, the content of the file is in doubt: discard the whole file and write it again
/// under another name. Where that is impossible, MayPassInPlace decides.
bool MayPass(const Status& status);

/// Whether a file that cannot be discarded (a log segment with frames, ROOT) may be written again
/// after a write to it that failed with `status`: only if the disk was full. What was written is in
/// doubt all the same: the log cuts it off, and ROOT has the slot written whole. Every other failed
/// write, and every failed sync, is final.
inline bool MayPassInPlace(const Status& status) { return status.code() == StatusCode::kNoSpace; }

/// Whether the system failed, not the bytes that were read: kIoError or a temporary error. It says
/// nothing about the content of a file.
inline bool IsOfSystem(const Status& status) {
  return status.code() == StatusCode::kIoError || MayPass(status);
}

}  // namespace tandem::base
