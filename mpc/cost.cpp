#include "mpc/cost.h"

#include <algorithm>

namespace trefoil::mpc {
namespace {

Cost Sum(const Cost& first, const Cost& second, int rounds) {
  Cost sum = first;
  sum.rounds = rounds;
  sum.turns += second.turns;
  for (std::size_t role = 0; role < net::kParties; ++role) {
    const std::size_t party = (role + static_cast<std::size_t>(first.turns)) % net::kParties;
    sum.bytes_sent[party] += second.bytes_sent[role];
    sum.bytes_offline[party] += second.bytes_offline[role];
  }
  return sum;
}

}  // namespace

Cost EachSends(std::uint64_t bytes) { return {.rounds = 1, .bytes_sent = {bytes, bytes, bytes}, .bytes_offline = {}}; }

Cost Then(const Cost& first, const Cost& second) { return Sum(first, second, first.rounds + second.rounds); }

Cost Beside(const Cost& first, const Cost& second) {
  return Sum(first, second, std::max(first.rounds, second.rounds));
}

}  // namespace trefoil::mpc
