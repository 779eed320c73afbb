#include "protocols/cost_model.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "mpc/dcf/seed_hash.h"
#include "protocols/comparison/leading_bit.h"

namespace trefoil::protocols {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMeasurements = 4;
constexpr int kRoundsAtOnce = 5;
constexpr int kTransfers = 3;  // the first also opens the window of congestion control
constexpr std::size_t kProbeBytes = std::size_t{1} << 20;
constexpr double kSecondsPerHashedBlock = 0.7e-9;  // alone, on the machine of all constants below
constexpr double kSecondsPerPointBlock = 2e-9;
constexpr double kSecondsPerKeyBlock = 3e-9;
constexpr double kSecondsPerPath = 50e-9;  // from its parting from others to its end
/// Of a point's blocks, where a value has many thresholds: the rest is other points' as well (mpc/dcf/dcf.h).
constexpr double kOwnShare = 0.5;
constexpr double kSecondsPerTreeComparison = 150e-9;
constexpr double kSecondsPerTerm = 54e-9;  // dealt, and evaluated by two parties at once

/// What a bit decomposition and its suffix or compute, in comparisons.
constexpr std::int64_t kDecompositionComparisons = 8;

/// Everybody sends `bytes` to both peers and waits for both.
double SecondsOfExchange(mpc::Context& party, std::size_t bytes) {
  const auto start = Clock::now();
  for (const int peer : {party.next(), party.previous()}) party.transport().Send(peer, net::Bytes(bytes));
  for (const int peer : {party.next(), party.previous()}) (void)party.transport().Receive(peer, bytes);
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Of a round in which everybody sends an empty message to one peer and waits for the other's, as most rounds
/// do. The mean of some: in a single one a party may find its message there already.
double SecondsOfRound(mpc::Context& party) {
  const auto start = Clock::now();
  for (int k = 0; k < kRoundsAtOnce; ++k) {
    party.transport().Send(party.previous(), {});
    (void)party.transport().Receive(party.next(), 0);
  }
  return std::chrono::duration<double>(Clock::now() - start).count() / kRoundsAtOnce;
}

/// How many times longer hashing takes here, as Link has it. The fastest time of a millisecond: a thread may
/// have to wait, and wide vectors are slow at first.
double OwnSlowness() {
  constexpr std::size_t kBlocks = 1024;
  constexpr auto kWhile = std::chrono::milliseconds(1);
  const mpc::SeedHash hash(mpc::HashKey{});
  const std::vector<mpc::Block> in(kBlocks);
  std::vector<mpc::Block> out(kBlocks);
  double seconds = std::numeric_limits<double>::infinity();
  const auto begin = Clock::now();
  for (auto start = begin; start < begin + kWhile; start = Clock::now()) {
    hash.Hash(in, out);
    seconds = std::min(seconds, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return seconds / (kBlocks * kSecondsPerHashedBlock);
}

constexpr std::size_t kFigures = 3;
using LinkFigures = std::array<double, kFigures>;

/// The largest of the three parties' numbers, each, at all of them.
LinkFigures Largest(mpc::Context& party, const LinkFigures& own) {
  net::Bytes bytes(sizeof(LinkFigures));
  std::memcpy(bytes.data(), own.data(), sizeof(LinkFigures));
  for (const int peer : {party.next(), party.previous()}) party.transport().Send(peer, bytes);
  LinkFigures largest = own;
  for (const int peer : {party.next(), party.previous()}) {
    LinkFigures theirs{};
    std::memcpy(theirs.data(), party.transport().Receive(peer, sizeof(LinkFigures)).data(),
                sizeof(LinkFigures));
    for (std::size_t k = 0; k < kFigures; ++k)
      if (std::isfinite(theirs[k])) largest[k] = std::max(largest[k], theirs[k]);
  }
  return largest;
}

/// Each party sends `bytes` to both others.
mpc::Cost ExchangeCost(std::uint64_t bytes) {
  return InOneRound(mpc::Cost::EachToNext(bytes), mpc::Cost::EachToPrevious(bytes));
}

}  // namespace

Link MeasureLink(mpc::Context& party) {
  // The second fastest: a slow one had to wait for a processor, and in the fastest some messages were there
  // already, as they are not in a protocol.
  std::array<double, kMeasurements> rounds{};
  for (double& seconds : rounds) seconds = SecondsOfRound(party);
  std::sort(rounds.begin(), rounds.end());
  const double round = rounds[1];
  double bulk = SecondsOfExchange(party, kProbeBytes);
  for (int k = 1; k < kTransfers; ++k) bulk = std::min(bulk, SecondsOfExchange(party, kProbeBytes));
  const auto [message, transfer, slowness] =
      Largest(party, {round, std::max(bulk - round, 1e-6), OwnSlowness()});
  return {.message_seconds = message,
          .bytes_per_second = 2 * static_cast<double>(kProbeBytes) / transfer,
          .slowness = slowness};
}

mpc::Cost MeasureLinkCost() {
  mpc::Cost cost;
  for (int k = 0; k < kMeasurements * kRoundsAtOnce; ++k) cost = Then(cost, mpc::Cost::EachToPrevious(0));
  for (int k = 0; k < kTransfers; ++k) cost = Then(cost, ExchangeCost(kProbeBytes));
  return Then(cost, ExchangeCost(sizeof(LinkFigures)));
}

double ExpectedSeconds(const mpc::Cost& cost, double compute_seconds, const Link& link) {
  double most = 0;
  for (std::size_t party = 0; party < net::kParties; ++party)
    most = std::max(most, static_cast<double>(cost.bytes_sent()[party] + cost.bytes_offline()[party]));
  return cost.rounds() * link.message_seconds + most / link.bytes_per_second +
         compute_seconds * link.slowness;
}

double ComparisonSeconds(Form form, std::int64_t count, std::int64_t thresholds, int width) {
  const double keys = static_cast<double>(count);
  const double points = keys * static_cast<double>(thresholds);
  if (form == Form::kBulk) return points * kSecondsPerTreeComparison * width / 64;
  const bool several = thresholds > 1;
  const double read = (several ? kOwnShare : 1) * points * (width - 1);
  return 2 * read * kSecondsPerPointBlock + (several ? points * kSecondsPerPath : 0) +
         6 * keys * kSecondsPerKeyBlock * (width - 1);
}

double LeadingBitSeconds(Form form, std::int64_t count, std::int64_t places, int width) {
  if (form == Form::kBulk) return ComparisonSeconds(form, count, kDecompositionComparisons, width);
  const double keys = static_cast<double>(count);
  const double points = keys * static_cast<double>(places);
  const double read = points * kReadBelowPower + keys * (width - 1);
  return 2 * read * kSecondsPerPointBlock + points * kSecondsPerPath +
         6 * keys * kSecondsPerKeyBlock * (width - 1);
}

double SeriesSeconds(std::int64_t count, std::int64_t terms) {
  return static_cast<double>(count) * static_cast<double>(terms) * kSecondsPerTerm;
}

}  // namespace trefoil::protocols
