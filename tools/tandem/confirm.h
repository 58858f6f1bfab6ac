// Asking before something is destroyed.
#pragma once

#include <string>

#include "tandem/status.h"
#include "tools/tandem/context.h"

namespace tandem::tools {

/// OK: the user agrees to lose what is described. Elsewhere than at a terminal nobody is asked.
/// Errors: kInvalidArgument, kCancelled.
Status Confirm(const std::string& loss, const Context& context);

}  // namespace tandem::tools
