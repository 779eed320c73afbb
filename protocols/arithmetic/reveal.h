#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mpc/cost.h"
#include "mpc/fixed_point.h"
#include "mpc/share.h"

namespace trefoil::protocols {

/// Why a value may leave the sharing. Every call below states one; which file may state which is listed in
/// scripts/check_reveals.py, and docs/explanation/threat_model.md prints all but kTest.
enum class ReleaseReason : std::uint8_t {
  kTrainedModel,
  kAveragedModel,
  kTransferredModel,
  kNoisyCounts,
  kClipCounts,
  kVoteWinners,
  kAboveThreshold,
  kCorrectCount,
  kScoreHistogram,
  kPredictedClasses,
  kPredictedScores,
  kPredictionsForOwner,
  kSameRowKeys,
  kDepositFate,
  kEmbeddingProgram,
  kMeasurement,
  kTest,  ///< in tests only
};

/// What is opened for that reason, to whom, and what protects it: a phrase of one line.
[[nodiscard]] std::string SentenceOf(ReleaseReason reason);

/// Opens a sharing to all three parties. With RevealTo, RevealBits and HandOut, the only way from a share to
/// a value.
/// Cost:   1 round, 8 bytes an element from each party (3 words).
/// Throws: NetworkError, ProtocolError.
[[nodiscard]] mpc::RingMatrix Reveal(mpc::Context& party, const mpc::ArithShare& x, ReleaseReason reason);
[[nodiscard]] mpc::Cost RevealCost(mpc::Index count);

/// Opens a sharing to party `receiver` only; the others get nothing.
/// Cost: 1 round, 8 bytes an element from the party before the receiver (1 word).
[[nodiscard]] std::optional<mpc::RingMatrix> RevealTo(mpc::Context& party, int receiver,
                                                      const mpc::ArithShare& x, ReleaseReason reason);
[[nodiscard]] mpc::Cost RevealToCost(int receiver, mpc::Index count);

/// Opens a sharing to each party of `receivers`, in that order; the others get nothing, and nobody does where
/// there are none. Cost: RevealToEachCost; 1 word an element and receiver.
[[nodiscard]] std::optional<mpc::RingMatrix> RevealToEach(mpc::Context& party,
                                                          const std::vector<int>& receivers,
                                                          const mpc::ArithShare& x, ReleaseReason reason);
[[nodiscard]] mpc::Cost RevealToEachCost(const std::vector<int>& receivers, mpc::Index count);

/// Opens shared bits to all three parties.
/// Cost: 1 round, planes * count bits from each party, rounded up to a byte.
[[nodiscard]] mpc::BitMatrix RevealBits(mpc::Context& party, const mpc::BoolShare& x, ReleaseReason reason);
[[nodiscard]] mpc::Cost RevealBitsCost(mpc::Index planes, mpc::Index count);

/// This party's two components, own and next, for somebody who is no party: sealed to that person at once,
/// they leave this machine in no other form. Whoever has two parties' components has the value, and of three
/// sees whether they agree. Nothing is sent. Pre: a fresh sharing, as Reshare makes one; of another one the
/// components could tell of what it was computed from.
[[nodiscard]] std::array<mpc::RingMatrix, 2> HandOut(const mpc::ArithShare& x, ReleaseReason reason);

}  // namespace trefoil::protocols
