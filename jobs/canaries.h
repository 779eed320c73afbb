#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "jobs/job.h"

namespace trefoil::jobs {

/// A record that an audit may put among one party's.
struct Canary {
  int party = 0;
  int label = 0;
  bool included = false;  ///< by a fair coin
};

/// What a released model says of who is in its training data.
struct CanaryFindings {
  std::vector<Canary> canaries{};
  std::vector<double> scores{};           ///< of each canary: the higher, the likelier included
  std::vector<double> losses{};           ///< of each canary
  std::vector<double> losses_of_rows{};   ///< of the job's own records that were trained on
  std::vector<double> losses_of_tests{};  ///< of the test records; none where there are none
};

/// A job with canaries beside its records, for one run.
class JobWithCanaries {
 public:
  virtual ~JobWithCanaries() = default;

  /// As the parties run it. Public numbers only: it does not depend on which canaries are included.
  [[nodiscard]] virtual const Job& job() const = 0;
  /// As Job::Split of job(), with the canaries that are included.
  [[nodiscard]] virtual std::string Split(const SplitTarget& target) = 0;
  /// Of the model that a run released, after Split.
  [[nodiscard]] virtual CanaryFindings Examine(const ml::Model& model) const = 0;
};

}  // namespace trefoil::jobs
