#include "protocols/cost_model.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

namespace trefoil::protocols {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPings = 10;
constexpr std::size_t kProbeBytes = std::size_t{1} << 20;
constexpr double kSecondsPerPointBlock = 1.5e-9;
constexpr double kSecondsPerKeyBlock = 3e-9;
/// Of a point's blocks, where a value has many thresholds: the rest is other points' as well (mpc/dcf.h).
constexpr double kOwnShare = 0.5;
constexpr double kSecondsPerTreeComparison = 150e-9;

/// Everybody sends `bytes` to both peers and waits for both.
double SecondsOfExchange(mpc::Context& party, std::size_t bytes) {
  const auto start = Clock::now();
  for (const int peer : {party.next(), party.previous()}) party.transport().Send(peer, net::Bytes(bytes));
  for (const int peer : {party.next(), party.previous()}) (void)party.transport().Receive(peer, bytes);
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The largest of the three parties' numbers, at all of them.
double Largest(mpc::Context& party, double own) {
  net::Bytes bytes(sizeof(double));
  std::memcpy(bytes.data(), &own, sizeof(double));
  for (const int peer : {party.next(), party.previous()}) party.transport().Send(peer, bytes);
  double largest = own;
  for (const int peer : {party.next(), party.previous()}) {
    double theirs = 0;
    std::memcpy(&theirs, party.transport().Receive(peer, sizeof(double)).data(), sizeof(double));
    if (std::isfinite(theirs)) largest = std::max(largest, theirs);
  }
  return largest;
}

/// Each party sends `bytes` to both others.
mpc::Cost ExchangeCost(std::uint64_t bytes) {
  return InOneRound(mpc::Cost::EachToNext(bytes), mpc::Cost::EachToPrevious(bytes));
}

}  // namespace

Link MeasureLink(mpc::Context& party) {
  double ping = SecondsOfExchange(party, 0);
  for (int k = 1; k < kPings; ++k) ping = std::min(ping, SecondsOfExchange(party, 0));
  const double bulk = SecondsOfExchange(party, kProbeBytes);
  const double message = Largest(party, ping);
  const double transfer = Largest(party, std::max(bulk - ping, 1e-6));
  return {.message_seconds = message, .bytes_per_second = 2 * static_cast<double>(kProbeBytes) / transfer};
}

mpc::Cost MeasureLinkCost() {
  mpc::Cost cost;
  for (int k = 0; k < kPings; ++k) cost = Then(cost, ExchangeCost(0));
  cost = Then(cost, ExchangeCost(kProbeBytes));
  return Then(Then(cost, ExchangeCost(sizeof(double))), ExchangeCost(sizeof(double)));
}

double ExpectedSeconds(const mpc::Cost& cost, double compute_seconds, const Link& link) {
  double online = 0;
  double all = 0;
  for (std::size_t party = 0; party < net::kParties; ++party) {
    online = std::max(online, static_cast<double>(cost.bytes_sent()[party]));
    all = std::max(all, static_cast<double>(cost.bytes_sent()[party] + cost.bytes_offline()[party]));
  }
  const double program =
      cost.rounds() * link.message_seconds + online / link.bytes_per_second + compute_seconds;
  return std::max(program, all / link.bytes_per_second);
}

double ComparisonSeconds(Form form, std::int64_t count, std::int64_t thresholds, int width) {
  const double keys = static_cast<double>(count);
  const double points = keys * static_cast<double>(thresholds);
  if (form == Form::kBulk) return points * kSecondsPerTreeComparison * width / 64;
  const double own = thresholds > 1 ? kOwnShare : 1;
  return (2 * own * points * kSecondsPerPointBlock + 6 * keys * kSecondsPerKeyBlock) * (width - 1);
}

}  // namespace trefoil::protocols
