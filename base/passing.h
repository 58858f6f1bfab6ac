// Which errors may pass. Decided here and in the one place that makes a Status of an errno
// (posix_file.cc), and nowhere else.
#pragma once

#include "tandem/status.h"

namespace tandem::base {

/// Whether what failed with `status` may succeed when it is done again later: the disk is full
/// (kNoSpace), memory is short (kOutOfMemory: an allocation, ENOMEM), descriptors are, or the call
/// was interrupted again and again (kUnavailable: EMFILE, ENFILE, EINTR, EAGAIN).
///
/// To do it again is right for opening, creating, reading and allocating. What was written to a
/// file is in doubt after any failed write or sync of it, these included: the whole file is thrown
/// away and written again under another name, and where that cannot be (a log segment with frames,
/// ROOT) the failure is final whatever its code.
bool MayPass(const Status& status);

/// Whether the system failed rather than the bytes that it was asked for: kIoError, or what may
/// pass. Nothing follows from it about what a file holds.
inline bool IsOfSystem(const Status& status) {
  return status.code() == StatusCode::kIoError || MayPass(status);
}

}  // namespace tandem::base
