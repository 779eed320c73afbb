#pragma once
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "mpc/context.h"
#include "mpc/cost.h"
#include "mpc/narrow/packed_share.h"
#include "mpc/share.h"
#include "protocols/arithmetic/input.h"

namespace trefoil::protocols {

/// New inputs of every owner for each run of a program (mpc/dealing/preprocessing.h). They do not depend on
/// what the runs compute, so they are made and sent before the run that takes them: each owner deals its
/// shares. The component that it has in common with the next party is drawn from their PRG, the other one is
/// sent to the previous party.
class InputAhead {
 public:
  /// Rows of this party's values for the next run, which begins with row 0: all of its shape, in the order of
  /// the runs, in the program's thread or in the one that deals ahead.
  using Make = mpc::Dealer::MakeRows;

  /// All parties give the same shapes, by owner; an owner with a shape without elements has no input. The
  /// narrow columns are shared modulo 2^width, so what is computed from them is right modulo 2^width alone.
  /// Pre: every shape with elements has these columns.
  InputAhead(Make make, const std::array<Shape, 3>& shapes, const mpc::NarrowColumns& narrow = {});

  /// The run's inputs, by owner. Cost: no round; offline, each owner sends 8 bytes an element, width / 8 in a
  /// narrow column.
  /// Throws: what `make` throws, at its party; NetworkError, ProtocolError.
  [[nodiscard]] std::array<mpc::ArithShare, 3> Next(mpc::Context& run);

  /// All owners' rows one below the other, in the order of owners.
  struct StackedRows {
    /// The columns that are packed, where there are such, a block for each owner: as they came, without the
    /// components that are zero.
    std::optional<mpc::PackedShare> packed{};
    std::vector<mpc::ArithShare> whole;  ///< the other columns, cut from left to right
  };

  /// The same as Next(), stacked, with columns in words cut into matrices of `widths` columns. Takes half the
  /// memory that putting together the matrices of Next() would: each component is let go once it is in its
  /// place. Cost and errors as Next(). Pre: each shape that has rows has as many columns as are packed and
  /// `widths` together.
  [[nodiscard]] StackedRows NextStacked(mpc::Context& run, std::span<const mpc::Index> widths);

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
  /// This party's own component of an owner's input, or that of the next party; each is taken once. Empty
  /// where it is zero.
  [[nodiscard]] mpc::NarrowMatrix Component(Taken& taken, int owner, bool next) const;
  /// That component of all owners' inputs, as NextStacked() has it: columns in words, and by owner the packed
  /// ones.
  [[nodiscard]] std::vector<mpc::RingMatrix> Stacked(
      Taken& taken, bool next, std::span<const mpc::Index> widths,
      std::array<mpc::PackedMatrix, net::kParties>& packed) const;

  std::shared_ptr<Made> made_;
  std::array<Shape, 3> shapes_;
  mpc::NarrowColumns narrow_;
};

/// Bytes that `party` holds at most of inputs that NextStacked() gives, with material for `ahead` runs
/// (mpc/dealing/preprocessing.h): those of the run under way, in which both components of its own rows have
/// numbers and one of others'; of each later run both components of its own and the next party's message; and
/// its own message of the last one, until it is sent.
[[nodiscard]] double InputAheadBytes(const std::array<Shape, 3>& shapes, const mpc::NarrowColumns& narrow,
                                     std::int64_t ahead, int party);

[[nodiscard]] mpc::Cost InputAheadCost(const std::array<Shape, 3>& shapes,
                                       const mpc::NarrowColumns& narrow = {});

}  // namespace trefoil::protocols
