#pragma once
#include <array>
#include <functional>
#include <memory>

#include "mpc/cost.h"
#include "mpc/share.h"
#include "protocols/arithmetic/input.h"

namespace trefoil::protocols {

/// Inputs of every owner, anew in each run of a program (mpc/preprocessing.h) and independent of what the
/// runs compute, so that they are made and sent ahead of it: an owner's share is dealt, the component that it
/// shares with the next party drawn from the PRG, the other sent to the previous party.
class InputAhead {
 public:
  /// This party's next values, of its shape. Called once a run, in order, in the program's thread or in the
  /// one that deals ahead.
  using Make = std::function<mpc::RingMatrix()>;

  /// All parties give the same shapes; a shape without elements is no input.
  InputAhead(Make make, const std::array<Shape, 3>& shapes);

  /// The run's inputs, by owner. Cost: no round; owner j sends 8 bytes an element, offline. Throws: what
  /// `make` throws, at its party; NetworkError, ProtocolError.
  [[nodiscard]] std::array<mpc::ArithShare, 3> Next(mpc::Context& run);

 private:
  class Made;
  std::shared_ptr<Made> made_;
  std::array<Shape, 3> shapes_;
};

[[nodiscard]] mpc::Cost InputAheadCost(const std::array<Shape, 3>& shapes);

}  // namespace trefoil::protocols
