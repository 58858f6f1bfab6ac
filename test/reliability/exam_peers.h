// The table of `make exam`: how each engine takes flipped bits and cuts.
#pragma once

#include "test/reliability/suite.h"

namespace tandem::reliability {

/// Prints a line for each engine and exam. Report: whether Tandem kept anything to itself.
Report RunPeers(const Plan& plan);

}  // namespace tandem::reliability
