#pragma once
#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "mpc/prss.h"
#include "mpc/ring.h"

// Sees every use of AES in counter mode in a test program. The linker hands OpenSSL's cipher calls to this
// file first (--wrap=EVP_EncryptInit_ex and others, see tests/CMakeLists.txt), so what is recorded is what
// the program really does, whichever class does it.
//
// Always on: two draws under one key that overlap in a block, made by ciphers that one thread keyed (a party
// of a test and all its branches) while one of these ciphers was alive, fail the test that is running.
// Thread-safe.

namespace trefoil::testing_support {

using CipherKey = std::array<unsigned char, 16>;
using CounterBlock = std::array<unsigned char, 16>;

/// One stretch of key stream: AES-128-CTR under `key`, from counter block `start`.
struct StreamDraw {
  std::uint64_t stamp = 0;  ///< NextStamp() at its start
  CipherKey key{};
  CounterBlock start{};
  std::uint64_t bytes = 0;

  [[nodiscard]] std::uint64_t blocks() const { return (bytes + 15) / 16; }
  /// The fields of a block of Prss (mpc/prss.h).
  [[nodiscard]] mpc::Purpose purpose() const { return static_cast<mpc::Purpose>(start[0]); }
  [[nodiscard]] mpc::OperationId operation() const;
};

/// Draws in the order in which they were made.
class DrawLog {
 public:
  /// Returns a number by which the draw can grow.
  std::size_t Add(const StreamDraw& draw);
  void Grow(std::size_t number, std::uint64_t bytes);
  /// All so far, which are then forgotten. No draw may be under way.
  [[nodiscard]] std::vector<StreamDraw> Take();

 private:
  std::mutex mutex_;
  std::vector<StreamDraw> draws_;
};

/// While it lives, every cipher that this thread keys writes what is drawn from it into `log`, also later and
/// from other threads; the log outlives the ciphers.
class ScopedDrawLog {
 public:
  explicit ScopedDrawLog(DrawLog& log);
  ~ScopedDrawLog();
  ScopedDrawLog(const ScopedDrawLog&) = delete;
  ScopedDrawLog& operator=(const ScopedDrawLog&) = delete;

 private:
  DrawLog* before_;
};

/// The words of a draw, computed anew; not a use in the sense of the tracker.
[[nodiscard]] std::vector<mpc::Word> WordsOf(const StreamDraw& draw);

/// One line for each overlap seen since the last call. Called after every test, which fails if there is one;
/// a test that reuses a stream on purpose takes them itself.
[[nodiscard]] std::vector<std::string> TakeOverlaps();

}  // namespace trefoil::testing_support
