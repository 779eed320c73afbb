#include "base/secrets/secure_memory.h"

#include <sodium.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/secrets/random.h"

namespace trefoil {

void* AllocateSecret(std::size_t bytes) {
  InitialiseSodium();
  void* begin = sodium_malloc(bytes);
  if (begin == nullptr) throw std::bad_alloc();
  return begin;
}

void FreeSecret(void* begin) noexcept { sodium_free(begin); }

SecretKey::SecretKey() : data_(static_cast<std::uint8_t*>(AllocateSecret(kBytes))) {
  sodium_memzero(data_, kBytes);
}

SecretKey::SecretKey(std::span<const std::uint8_t, kBytes> bytes) : SecretKey() {
  std::copy(bytes.begin(), bytes.end(), data_);
}

SecretKey::SecretKey(SecretKey&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}

SecretKey& SecretKey::operator=(SecretKey&& other) noexcept {
  std::swap(data_, other.data_);
  return *this;
}

SecretKey::~SecretKey() { FreeSecret(data_); }

std::span<std::uint8_t, SecretKey::kBytes> SecretKey::bytes() {
  return std::span<std::uint8_t, kBytes>(data_, kBytes);
}

std::span<const std::uint8_t, SecretKey::kBytes> SecretKey::bytes() const {
  return std::span<const std::uint8_t, kBytes>(data_, kBytes);
}

void Wipe(std::span<std::uint64_t> words) noexcept { sodium_memzero(words.data(), words.size_bytes()); }

void DisableCoreDumps() {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  prctl(PR_SET_DUMPABLE, 0);
}

}  // namespace trefoil
