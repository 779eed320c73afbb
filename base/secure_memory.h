#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace trefoil {

/// A 32-byte secret (key or seed). Wiped when it dies; not copyable, not printable, not comparable.
/// Lives in a page that is locked in memory and left out of core files (libsodium's guarded heap).
class SecretKey {
 public:
  static constexpr std::size_t kBytes = 32;

  /// All zeros.
  SecretKey();
  explicit SecretKey(std::span<const std::uint8_t, kBytes> bytes);
  SecretKey(SecretKey&& other) noexcept;
  SecretKey& operator=(SecretKey&& other) noexcept;
  SecretKey(const SecretKey&) = delete;
  SecretKey& operator=(const SecretKey&) = delete;
  ~SecretKey();

  [[nodiscard]] std::span<std::uint8_t, kBytes> bytes();
  [[nodiscard]] std::span<const std::uint8_t, kBytes> bytes() const;

 private:
  std::uint8_t* data_;
};

/// Overwrites words that were secret with zeros; not optimised away.
void Wipe(std::span<std::uint64_t> words) noexcept;

/// Makes sure that no core file of this process is ever written. Call first in main().
void DisableCoreDumps();

}  // namespace trefoil
