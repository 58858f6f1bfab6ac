// The table of `make damage-peers`: how each engine takes flipped bits and cuts.
#pragma once

#include "test/reliability/suite.h"

namespace tandem::reliability {

/// Prints a line for each engine and kind of damage. Report: whether Tandem kept any to itself.
Report RunPeers(const Plan& plan);

}  // namespace tandem::reliability
