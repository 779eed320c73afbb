#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "mpc/context.h"
#include "mpc/cost.h"
#include "mpc/ring.h"

namespace trefoil::bench {

/// The sizes of a product or a step: rows x inner x columns (for steps: batch x features x classes).
struct ProductShape {
  mpc::Index rows = 0;
  mpc::Index inner = 0;
  mpc::Index cols = 0;
};

/// One size to measure at: a number of elements, or the shape of a product or step.
struct Point {
  mpc::Index count = 1;
  std::optional<ProductShape> shape{};
};

/// An operation with its inputs shared and ready: `run` does it once and may be called again.
struct Prepared {
  std::function<void(mpc::Context& party)> run;
  mpc::Cost declared;
  double compute_seconds =
      0;  ///< expected for comparisons, where an operation has two forms (protocols/cost_model.h)
  /// Returns when what this party makes ahead for the next run, beside what it deals, is there.
  std::function<void()> wait_until_ready = [] {};
};

/// A protocol that can be measured.
struct Operation {
  std::string name;
  std::string form;     ///< "bulk" or "latency"
  bool shaped = false;  ///< measured at shapes, not at numbers of elements
  std::function<Prepared(mpc::Context& party, const Point& point)> prepare;
};

/// Every operation, in the order they are listed and run.
[[nodiscard]] const std::vector<Operation>& AllOperations();

}  // namespace trefoil::bench
