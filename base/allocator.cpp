#include "base/allocator.h"

#include <malloc.h>

namespace trefoil {
namespace {

constexpr int kMaxMappedBytes = 32 << 20;  // glibc takes no more
constexpr int kKeptBytes = 512 << 20;

}  // namespace

void KeepFreedMemory() {
  mallopt(M_MMAP_THRESHOLD, kMaxMappedBytes);
  mallopt(M_TRIM_THRESHOLD, kKeptBytes);
  mallopt(M_ARENA_MAX, 1);  // what the I/O thread receives the program frees
}

}  // namespace trefoil
