#pragma once
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "jobs/job.h"

namespace trefoil::jobs {

/// A task of one job, which has the members `name`, `delta`, `accountant` and `to`: what all task types answer alike.
template <typename DpsgdSettings>
class JobOf : public Job {
 public:
  explicit JobOf(DpsgdSettings job) : job_(std::move(job)) {}

  [[nodiscard]] const std::string& name() const final { return job_.name; }
  [[nodiscard]] double delta() const final { return job_.delta; }
  [[nodiscard]] dp::AccountantKind accountant() const final { return job_.accountant; }
  [[nodiscard]] const std::vector<int>& release_to() const final { return job_.to; }

 protected:
  [[nodiscard]] const DpsgdSettings& job() const { return job_; }
  /// So many bytes at each party that gets the results, or its share where nobody does.
  [[nodiscard]] std::array<double, net::kParties> AtReceivers(double bytes) const {
    std::array<double, net::kParties> of_each{};
    if (job_.to.empty()) of_each.fill(bytes);
    for (const int party : job_.to) of_each.at(static_cast<std::size_t>(party)) = bytes;
    return of_each;
  }

 private:
  DpsgdSettings job_;
};

}  // namespace trefoil::jobs
