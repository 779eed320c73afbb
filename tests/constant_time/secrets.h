#pragma once
#include <valgrind/memcheck.h>

#include <cstddef>
#include <vector>

#include "mpc/bits.h"
#include "mpc/dcf/seed_hash.h"
#include "mpc/ring.h"

// Secrets that valgrind's memcheck follows: it takes them for memory that was never written, so that it
// counts an error where a conditional jump, or an address that is read or written, depends on one. It sees
// the program as it was built, whatever the compiler made of the source.

namespace trefoil::testing_support {

inline bool IsWatched() { return RUNNING_ON_VALGRIND > 0; }

inline void MarkSecret(const void* begin, std::size_t bytes) {
  (void)VALGRIND_MAKE_MEM_UNDEFINED(begin, bytes);
}
inline void MarkPublic(const void* begin, std::size_t bytes) {
  (void)VALGRIND_MAKE_MEM_DEFINED(begin, bytes);
}

inline std::size_t BytesOf(const mpc::RingMatrix& words) {
  return static_cast<std::size_t>(words.size()) * sizeof(mpc::Word);
}
inline void MarkSecret(const mpc::RingMatrix& words) { MarkSecret(words.data(), BytesOf(words)); }
inline void MarkPublic(const mpc::RingMatrix& words) { MarkPublic(words.data(), BytesOf(words)); }
inline void MarkPublic(const mpc::BitMatrix& bits) { MarkPublic(bits.words()); }
inline void MarkSecret(const std::vector<mpc::Block>& blocks) {
  MarkSecret(blocks.data(), blocks.size() * sizeof(mpc::Block));
}

/// How many jumps and addresses depended on a secret while the body ran.
template <typename Body>
unsigned DependenciesIn(Body body) {
  const auto before = static_cast<unsigned>(VALGRIND_COUNT_ERRORS);
  body();
  return static_cast<unsigned>(VALGRIND_COUNT_ERRORS) - before;
}

}  // namespace trefoil::testing_support
