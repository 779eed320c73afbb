#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

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

/// Bytes of libsodium's guarded heap: locked, left out of core files, and wiped when they are given back.
/// Every allocation takes pages. Throws std::bad_alloc.
[[nodiscard]] void* AllocateSecret(std::size_t bytes);
void FreeSecret(void* begin) noexcept;

/// For SecretText.
template <typename T>
class SecretAllocator {
 public:
  using value_type = T;
  SecretAllocator() = default;
  template <typename U>
  // NOLINTNEXTLINE(google-explicit-constructor): allocators convert into each other
  SecretAllocator(const SecretAllocator<U>& /*other*/) {}

  [[nodiscard]] T* allocate(std::size_t count) { return static_cast<T*>(AllocateSecret(count * sizeof(T))); }
  void deallocate(T* begin, std::size_t /*count*/) noexcept { FreeSecret(begin); }

  friend bool operator==(const SecretAllocator& /*a*/, const SecretAllocator& /*b*/) { return true; }
};

/// A secret of more than fifteen characters, such as a private key: shorter texts are kept in the object
/// itself, which is not protected.
using SecretText = std::basic_string<char, std::char_traits<char>, SecretAllocator<char>>;

/// Overwrites words that were secret with zeros; not optimised away.
void Wipe(std::span<std::uint64_t> words) noexcept;

/// Makes sure that no core file of this process is ever written. Call first in main().
void DisableCoreDumps();

}  // namespace trefoil
