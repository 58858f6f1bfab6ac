// Memory for programs that open thousands of small databases.
#pragma once

#include <sys/prctl.h>

namespace tandem::test {

/// From here on the process gets no huge pages, each of which is cleared for a few KB: a seventh of
/// the time of such a program.
inline void UseSmallPages() { (void)prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); }

}  // namespace tandem::test
