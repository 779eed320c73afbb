#pragma once

namespace trefoil {

/// Lets the C library's allocator keep what is freed for the next allocation, whatever its size, until the
/// process ends: resident memory stays at its peak. Every operation allocates matrices of the same sizes;
/// with the defaults those of more than a few hundred kilobytes go back to the system at once, and come again
/// page by page, cleared, each by a fault. Of the process, so for a program's main() alone, never of a
/// library; call first there. Where another allocator stands in for the C library's, as a sanitizer's,
/// nothing changes.
/// Source: mallopt(3); docs/adr/0034-memory-that-stays.md.
void KeepFreedMemory();

}  // namespace trefoil
