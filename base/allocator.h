#pragma once

namespace trefoil {

/// Lets the allocator keep what is freed for the next allocation, up to half a gibibyte. Every operation
/// allocates matrices of the same sizes; with the C library's defaults those of more than a few hundred
/// kilobytes go back to the system at once, and come again page by page, cleared. Call first in main().
void KeepFreedMemory();

}  // namespace trefoil
