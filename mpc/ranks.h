#pragma once
#include <cstddef>
#include <memory>
#include <span>

#include "mpc/ring.h"

namespace trefoil::mpc {

/// The machines of ONE party, which compute together, each a rank from 0 to count() - 1 (docs/adr/0041). They
/// are of one organisation and trust each other: its records pass between them in the clear, and components
/// of shares, unencrypted. Every rank makes the same calls in the same order, with the same sizes; each call
/// waits for the others, and counts neither bytes nor rounds of mpc::Cost, which are of links between
/// parties. Used by one thread at a time; a second thread takes a channel of its own. All throw NetworkError,
/// naming the rank where it is known, when one of them is lost or says nothing for the party file's
/// timeouts.peer, or sends fewer bytes than the receiver expects.
class Ranks {
 public:
  Ranks() = default;
  virtual ~Ranks() = default;
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int count() const = 0;

  /// Rank 0's `bytes` to all.
  virtual void Broadcast(std::span<std::byte> bytes) = 0;
  /// Part r of rank 0's `all`, of as many bytes as `own`, to rank r; `own` may be part 0 itself. Others'
  /// `all` is empty.
  virtual void Scatter(std::span<const std::byte> all, std::span<std::byte> own) = 0;
  /// The way back: every rank's `own`, one behind the other, to rank 0's `all`.
  virtual void Gather(std::span<const std::byte> own, std::span<std::byte> all) = 0;
  /// Adds up all ranks' `words` modulo 2^64, of which each gets its part. Pre: words are count() times as
  /// many as `own`.
  virtual void SumAndScatter(std::span<const Word> words, std::span<Word> own) = 0;
  /// Every rank's `own`, one behind the other, to all.
  virtual void GatherToAll(std::span<const Word> own, std::span<Word> all) = 0;
  /// Nobody returns before all have called it.
  virtual void Barrier() = 0;

  /// Ends every call of every rank, on all channels, now and later, with a NetworkError, as well as they can
  /// still be told: for a rank that fails while others, or its own other threads, wait. By any thread, at any
  /// time; never throws.
  virtual void Abort() noexcept = 0;

  /// The same ranks, for another thread. Every rank calls it.
  [[nodiscard]] virtual std::unique_ptr<Ranks> NewChannel() = 0;
};

}  // namespace trefoil::mpc
