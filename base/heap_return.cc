// glibc's malloc_trim looks at every arena since version 2.8.
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
