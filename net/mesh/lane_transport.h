#pragma once
#include "net/transport.h"

namespace trefoil::net {

/// A lane of another transport, for one branch of a program. It counts for itself, from its parent's depth
/// on; the parent absorbs its counters when the branch has ended. The parent outlives it and is not used
/// meanwhile but by its lanes.
class LaneTransport final : public Transport {
 public:
  /// Pre: branch 0 or 1; two lanes of one parent at a time.
  LaneTransport(Transport& parent, int branch);

  void Abort(AbortReason reason) noexcept override { parent_.Abort(reason); }
  void Interrupt() noexcept override { parent_.Interrupt(); }

 protected:
  void Write(int peer, Message message) override { WriteThrough(parent_, peer, std::move(message)); }
  Message Read(int peer, Lane lane) override { return ReadThrough(parent_, peer, lane); }

 private:
  Transport& parent_;
};

}  // namespace trefoil::net
