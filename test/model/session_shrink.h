// Cuts the record of a failing session down to what it needs to fail: delta debugging (Zeller and
// Hildebrandt, "Simplifying and isolating failure-inducing input", 2002), first over actions, then
// over what is in them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "test/model/session.h"

namespace tandem::test {

/// Runs the actions in a new session; what went wrong, if anything.
std::optional<std::string> ReplaySession(const SessionPlan& plan,
                                         const std::vector<SessionAction>& actions);
/// A part of the actions that fails, too. Requires: they fail.
std::vector<SessionAction> ShrinkSession(const SessionPlan& plan,
                                         std::vector<SessionAction> actions);

}  // namespace tandem::test
