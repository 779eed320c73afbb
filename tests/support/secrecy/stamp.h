#pragma once
#include <atomic>
#include <cstdint>

namespace trefoil::testing_support {

/// Larger with each call, in any thread: to put recorded events in order.
inline std::uint64_t NextStamp() {
  static std::atomic<std::uint64_t> stamp{0};
  return ++stamp;
}

/// Number of the operation that this thread last drew randomness for (tests/support/secrecy/prg_tracker.h), 0
/// before. It orders what the branches of a party saw the same way in every run, whoever was faster.
inline std::uint64_t& CurrentOperation() {
  thread_local std::uint64_t operation = 0;
  return operation;
}

}  // namespace trefoil::testing_support
