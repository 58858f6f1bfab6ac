// What a table or a snapshot holds, as one number, so that it can be compared after the end of a
// process.
#pragma once

#include <cstdint>
#include <string>

#include "base/status_macros.h"
#include "tools/stress/expected.h"
#include "tools/stress/stressed.h"

namespace tandem::stress {

/// Of something that does not exist, and of a snapshot that was not read yet.
inline constexpr uint64_t kNothing = 0, kUnread = 1;

/// A hash of all versions of all rows; at a snapshot, or now.
Result<uint64_t> ContentOf(const Stressed& stressed, const std::string& table,
                           const Snapshot* snapshot);
/// That of a table without rows.
uint64_t EmptyContent();

/// Calls `change`, after which the content is `next`. If the process ends meanwhile, it is that or
/// what it was.
template <typename Change>
Status ChangeContent(ContentState* state, uint64_t next, Change&& change) {
  state->next = next;
  RETURN_IF_ERROR(change());
  state->now = next;
  return {};
}
/// Whether `found` may be what is there after the end of a process; goes on from there.
Status RecoverContent(const std::string& where, uint64_t found, ContentState* state);

}  // namespace tandem::stress
