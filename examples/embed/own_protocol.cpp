// A protocol of one's own: a sealed-bid auction of three bidders. Who bids most wins and pays what the second
// bids; nothing else becomes known, the winning bid included.
#include <array>
#include <cstdio>
#include <exception>

#include "trefoil/protocols.h"
#include "trefoil/session.h"

namespace {

struct Outcome {
  int winner = 0;
  double price = 0;
  unsigned rounds = 0;
};

/// Each party passes its own bid, from 0 to a million.
Outcome Auction(trefoil::Session& session, double own_bid) {
  trefoil::Share bids;
  for (int party = 0; party < 3; ++party) {
    const trefoil::Matrix own = trefoil::Matrix::Constant(1, 1, own_bid);
    const auto bid = trefoil::Input(session, party, own, {.rows = 1, .cols = 1});
    bids = party == 0 ? bid : trefoil::SideBySide(bids, bid);
  }
  const auto winner = trefoil::RowArgMax(session, bids);
  // The second price is the largest bid once the winner's counts as zero.
  const auto others = bids - trefoil::Multiply(session, winner, bids);
  const auto price = trefoil::RowMaximum(session, others);

  const auto place = trefoil::Reveal(session, winner, "who wins, which the auction's rules publish");
  const auto paid = trefoil::Reveal(session, price, "the price, which the auction's rules publish");
  Outcome outcome{.price = paid(0, 0), .rounds = session.traffic().rounds};
  place.row(0).maxCoeff(&outcome.winner);
  return outcome;
}

void Run() {
  constexpr std::array kBids{1250.0, 2199.5, 1980.25};
  const auto outcomes = trefoil::ResultsInProcess([&](trefoil::Session& session) {
    return Auction(session, kBids.at(static_cast<std::size_t>(session.party())));
  });
  std::printf("party %d wins and pays %.2f, in %u rounds\n", outcomes[0].winner, outcomes[0].price,
              outcomes[0].rounds);
}

}  // namespace

int main() {
  try {
    Run();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "own_protocol: %s\n", error.what());
    return 1;
  }
}
