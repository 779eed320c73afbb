#include "net/mesh/lane_transport.h"

namespace trefoil::net {

LaneTransport::LaneTransport(Transport& parent, int branch)
    : Transport(parent.self(), LaneOfBranch(parent.lane(), branch)), parent_(parent) {
  StartCountingAt(parent.counters().rounds);
}

}  // namespace trefoil::net
