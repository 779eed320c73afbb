#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/secrets/secure_memory.h"
#include "mpc/dcf/seed_hash.h"
#include "mpc/ring.h"
#include "net/transport.h"

namespace trefoil::mpc {

/// Identifies one operation of a program: counted in program order, the same at all parties.
using OperationId = std::uint64_t;

/// What a stream of pseudo-random words is used for. An operation uses each purpose at most once a component.
enum class Purpose : std::uint8_t {
  kInput = 1,
  kZero = 2,
  kMask = 3,
  kDeal = 4,
  kReshare = 5,
  kRoots = 6,
  kCheck = 7,
};

/// What all three parties of a session know, and no other session has. Public.
using SessionTag = std::array<std::uint8_t, 32>;

/// Pseudo-random secret sharing: component j of a sharing is held by P_j and P_{j-1}, who share the key k_j;
/// so party i holds k_i and k_{i+1}. The stream of (key, purpose, operation) is AES-128 in counter mode with
/// the initial block purpose (1 byte) | operation (8 bytes) | counter (7 bytes), hence no block of a key is
/// used twice while operations differ.
class Prss {
 public:
  /// Keys k_self and k_{self+1}; the first 16 bytes of each are the AES key. `tag`: the session's.
  Prss(int self, SecretKey own, SecretKey next, const SessionTag& tag);
  ~Prss();
  Prss(Prss&&) noexcept;
  Prss& operator=(Prss&&) = delete;

  /// The same streams, for use in another thread: whoever uses both keeps their operations apart.
  [[nodiscard]] Prss Twin() const;

  /// Fills `out` with the words of component `component`'s stream; both its holders get the same.
  /// Pre: component is self or self + 1 (mod 3).
  void Fill(int component, Purpose purpose, OperationId operation, std::span<Word> out);
  /// The same in parts: begins the stream, whose next words each Continue of that component then gives, until
  /// another of its streams is begun. Pre: as Fill.
  void Start(int component, Purpose purpose, OperationId operation);
  void Continue(int component, std::span<Word> out);
  /// The same stream in words of half the bytes.
  void FillHalves(int component, Purpose purpose, OperationId operation, std::span<HalfWord> out);

  /// Fills `out` with this party's part of a fresh sharing of zero, 3-of-3: the difference of the streams of
  /// its two components for Purpose::kZero, in one pass over memory. The parties' parts add up to 0.
  void FillZero(OperationId operation, std::span<Word> out);
  /// The same of bits: the parties' parts are 0 under exclusive or.
  void FillZeroBits(OperationId operation, std::span<Word> out);

  /// The public key of an operation's hash (mpc/dcf/seed_hash.h), the same at all three parties: BLAKE2b of
  /// the operation under the session's tag, so that no two operations of any sessions share one.
  [[nodiscard]] HashKey HashKeyOf(OperationId operation) const;

 private:
  class Cipher;
  [[nodiscard]] Cipher& CipherOf(int component);
  Prss(int self, std::shared_ptr<const SecretKey> own, std::shared_ptr<const SecretKey> next,
       const SessionTag& tag);
  /// Both streams for Purpose::kZero, put together word by word.
  void FillFromBoth(OperationId operation, std::span<Word> out,
                    void (*combine)(const Word* a, const Word* b, Index count, Word* out));

  int self_;
  SessionTag tag_;
  std::array<std::shared_ptr<const SecretKey>, 2> keys_;
  std::array<std::unique_ptr<Cipher>, 2> ciphers_;
};

/// Agrees on fresh pairwise keys with both peers (X25519 and BLAKE2b, libsodium) over authenticated links.
/// `session` says what the keys are for, the same at all three: parties that differ in it get keys that have
/// nothing to do with each other. The session's tag is a hash of the three public keys, which all three have.
/// Cost: 1 round, 64 bytes sent by each party.
/// Throws NetworkError if a peer fails, ProtocolError on an unacceptable public key.
[[nodiscard]] Prss AgreeOnKeys(net::Transport& transport, std::string_view session);

}  // namespace trefoil::mpc
