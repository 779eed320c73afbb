#pragma once
#include <array>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "mpc/context.h"
#include "mpc/cost.h"
#include "mpc/share.h"
#include "protocols/arithmetic/input.h"

namespace trefoil::protocols {

/// Inputs of every owner, anew in each run of a program (mpc/dealing/preprocessing.h) and independent of what the
/// runs compute, so that they are made and sent ahead of it: an owner's share is dealt, the component that it
/// shares with the next party drawn from the PRG, the other sent to the previous party.
class InputAhead {
 public:
  /// This party's next values, of its shape. Called once a run, in order, in the program's thread or in the
  /// one that deals ahead.
  using Make = std::function<mpc::RingMatrix()>;

  /// All parties give the same shapes; a shape without elements is no input. The narrow columns are shared modulo
  /// 2^width: no more is known of them than that, and what is computed from them is right modulo 2^width alone.
  /// Pre: every shape with elements has these columns.
  InputAhead(Make make, const std::array<Shape, 3>& shapes, const mpc::NarrowColumns& narrow = {});

  /// The run's inputs, by owner. Cost: no round; owner j sends 8 bytes an element, offline, of narrow columns width /
  /// 8.
  /// Throws: what `make` throws, at its party; NetworkError, ProtocolError.
  [[nodiscard]] std::array<mpc::ArithShare, 3> Next(mpc::Context& run);

  /// The same, all owners' one below the other in the order of owners, cut into matrices of so many columns, from left to
  /// right. A component's words are let go as soon as they are in their place, and no zeros are made but there: what
  /// Next() gives and then is put together takes twice the memory. Cost and errors as Next(). Pre: the columns of each
  /// shape that has rows are as many as those of `widths` together.
  [[nodiscard]] std::vector<mpc::ArithShare> NextStacked(mpc::Context& run,
                                                         std::span<const mpc::Index> widths);

 private:
  class Made;
  /// What this party has of a run's inputs before it draws and receives.
  struct Taken {
    mpc::Context& run;
    mpc::OperationId operation;
    mpc::Dealer::Parts own;
  };

  /// Deals this party's next values, and takes them.
  [[nodiscard]] Taken Take(mpc::Context& run);
  /// This party's own component of an owner's input, or the next party's; once each. Without elements where it is zero.
  [[nodiscard]] mpc::RingMatrix Component(Taken& taken, int owner, bool next) const;
  /// That component of all owners' inputs, as NextStacked() has it.
  [[nodiscard]] std::vector<mpc::RingMatrix> Stacked(Taken& taken, bool next,
                                                     std::span<const mpc::Index> widths) const;

  std::shared_ptr<Made> made_;
  std::array<Shape, 3> shapes_;
  mpc::NarrowColumns narrow_;
};

[[nodiscard]] mpc::Cost InputAheadCost(const std::array<Shape, 3>& shapes,
                                       const mpc::NarrowColumns& narrow = {});

}  // namespace trefoil::protocols
