#pragma once
#include <Eigen/Core>

#include "base/threads/thread_pool.h"

namespace trefoil::ml {

/// a' a, of which the lower triangle alone is right. The order in which it is summed up does not depend on
/// the threads.
/// Cost: n p^2 multiplications for an n x p matrix, of which about half are left out. Pre: not within a loop
/// of `pool`.
[[nodiscard]] Eigen::MatrixXd GramOf(const Eigen::MatrixXd& a, ThreadPool& pool);

}  // namespace trefoil::ml
