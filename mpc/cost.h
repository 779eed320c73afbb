#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>

#include "net/transport.h"

namespace trefoil::mpc {

/// One message of an operation: who sends how much payload to whom.
struct Flow {
  int from = 0;
  int to = 0;
  std::uint64_t bytes = 0;
};

/// What an operation costs: rounds by logical depth, payload bytes sent online, and bytes that do not depend
/// on the data (offline). Declared beside each operation and tested against the measured cost, exactly.
///
/// Operations with roles (A, B and dealer D) rotate them over the parties, one turn a use. A declared cost is
/// for a start with A = P0, B = P1, D = P2; `turns` says how many uses an operation makes, so that what
/// follows it is rotated.
///
/// Rounds of operations in sequence do not simply add, since a party that receives nothing does not wait:
/// `depth` holds the longest chain of messages from each party's start to each party's end, and sequences are
/// products in the (max, +) algebra.
class Cost {
 public:
  /// Nothing.
  Cost();

  /// Messages that are all sent before any of them is waited for.
  [[nodiscard]] static Cost Round(std::initializer_list<Flow> flows);
  /// Messages that could have been sent ahead: they add no depth.
  [[nodiscard]] static Cost Offline(std::initializer_list<Flow> flows);
  /// Each party sends `bytes` to the party before it.
  [[nodiscard]] static Cost EachToPrevious(std::uint64_t bytes);
  /// Each party sends `bytes` to the party after it.
  [[nodiscard]] static Cost EachToNext(std::uint64_t bytes);

  /// The same with one turn of the roles taken at its end.
  [[nodiscard]] Cost WithTurn() const;

  [[nodiscard]] int rounds() const;
  [[nodiscard]] const std::array<std::uint64_t, net::kParties>& bytes_sent() const { return bytes_sent_; }
  [[nodiscard]] const std::array<std::uint64_t, net::kParties>& bytes_offline() const {
    return bytes_offline_;
  }
  /// Of the largest message that is sent offline; of branches beside each other, the sum of both's.
  [[nodiscard]] std::uint64_t largest_offline() const { return largest_offline_; }
  /// Sent by all parties, online and offline.
  [[nodiscard]] std::uint64_t bytes_of_all() const;

  /// `first`, then `second`.
  friend Cost Then(const Cost& first, const Cost& second);
  /// `first`, then `second`, whose messages are between the parties as numbered, whatever turns were taken:
  /// an owner's input, a reveal to one. Pre: `second` takes no turn.
  friend Cost ThenUnturned(const Cost& first, const Cost& second);
  /// Both in one round. Pre: neither takes a turn or more than one round.
  friend Cost InOneRound(const Cost& a, const Cost& b);
  /// Both as branches that run beside each other (mpc/parallel.h): `second` begins one turn later, and what
  /// follows two.
  friend Cost Parallel(const Cost& first, const Cost& second);

 private:
  /// What is sent and waited for when both start together, each in its own place.
  [[nodiscard]] static Cost Together(const Cost& a, const Cost& b);

  static constexpr int kNever = -1;  // no chain of messages

  std::array<std::uint64_t, net::kParties> bytes_sent_{};
  std::array<std::uint64_t, net::kParties> bytes_offline_{};
  std::uint64_t largest_offline_ = 0;
  std::array<std::array<int, net::kParties>, net::kParties> depth_;  // [to][from]
  int turns_ = 0;
};

}  // namespace trefoil::mpc
