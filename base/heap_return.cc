// Since version 2.8, glibc's malloc_trim trims every arena.
#include "base/heap_return.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace tandem::base {

void ReturnFreeHeap() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace tandem::base
