#include "base/allocator.h"

#include <malloc.h>

namespace trefoil {

void KeepFreedMemory() {
  mallopt(M_MMAP_MAX, 0);  // or what is freed of more than 32 MiB goes back, whatever the thresholds are
  mallopt(M_TRIM_THRESHOLD, -1);  // never
  mallopt(M_ARENA_MAX, 1);        // what the I/O thread receives the program frees
}

}  // namespace trefoil
