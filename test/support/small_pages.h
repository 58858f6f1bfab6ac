// Memory for programs that open thousands of small databases.
#pragma once

#include <sys/prctl.h>

namespace tandem::test {

/// The process gets no huge pages from here on. Clearing one for each database of a few KB takes a
/// seventh of the time of such a program.
inline void UseSmallPages() { (void)prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); }

}  // namespace tandem::test
