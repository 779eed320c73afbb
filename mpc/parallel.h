#pragma once
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "mpc/context.h"

namespace trefoil::mpc {

/// Runs two branches of a program beside each other, each with a context and a lane of its own, so that their
/// messages share rounds. Every party calls it at the same place with the same branches.
/// Pre:    neither branch needs anything of the other; `party` is not used until both have ended.
/// Cost:   Parallel(cost of first, cost of second), see mpc/cost.h.
/// Throws: what the first branch to fail threw; the other is interrupted, and `party` is of no further use.
void RunBeside(Context& party, const std::function<void(Context&)>& first,
               const std::function<void(Context&)>& second);

/// The same for branches with results: the pair of first(context) and second(context).
template <typename First, typename Second>
[[nodiscard]] auto Parallel(Context& party, First first, Second second) {
  std::optional<std::invoke_result_t<First, Context&>> of_first;
  std::optional<std::invoke_result_t<Second, Context&>> of_second;
  RunBeside(
      party, [&](Context& branch) { of_first.emplace(first(branch)); },
      [&](Context& branch) { of_second.emplace(second(branch)); });
  return std::pair(*std::move(of_first), *std::move(of_second));
}

}  // namespace trefoil::mpc
