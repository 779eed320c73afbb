#include "mpc/parallel.h"

#include "base/threads/run_both.h"
#include "net/mesh/lane_transport.h"

namespace trefoil::mpc {

void RunBeside(Context& party, const std::function<void(Context&)>& first,
               const std::function<void(Context&)>& second) {
  net::LaneTransport first_lane(party.transport(), 0);
  net::LaneTransport second_lane(party.transport(), 1);
  Context first_branch = party.Branch(first_lane, 0);
  Context second_branch = party.Branch(second_lane, 1);
  party.PassBranches();
  RunBoth([&] { first(first_branch); }, [&] { second(second_branch); },
          [&] { party.transport().Interrupt(); });
  party.Absorb(first_branch);
  party.Absorb(second_branch);
}

}  // namespace trefoil::mpc
