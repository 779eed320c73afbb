#include "trefoil/job.h"

#include <algorithm>
#include <iterator>

#include "jobs/job.h"

namespace trefoil {

struct Job::Impl {
  std::unique_ptr<const jobs::Job> job;
};

Job::Job(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

Job Job::Read(const std::filesystem::path& file, const std::vector<std::string>& assignments) {
  return Job(std::make_shared<const Impl>(Impl{jobs::ReadJob(file, assignments)}));
}

Job Job::Parse(const std::string& json, const std::string& source) {
  return Job(std::make_shared<const Impl>(Impl{jobs::ParseJob(json, source)}));
}

std::vector<std::string> Job::Types() { return jobs::NamesOf(jobs::ShippedTypes()); }
std::string Job::Schema(const std::string& type) { return jobs::JobSchema(type); }

std::string Job::name() const { return impl_->job->name(); }
std::string Job::type() const { return impl_->job->type(); }
double Job::delta() const { return impl_->job->delta(); }
std::vector<int> Job::release_to() const { return impl_->job->release_to(); }
std::string Job::Json() const { return impl_->job->Json(); }
std::string Job::Hash() const { return jobs::HashOf(*impl_->job); }
std::string Job::Toml() const { return jobs::TomlOf(*impl_->job); }
std::vector<std::string> Job::Warnings() const { return impl_->job->Warnings(); }

Epsilons Job::PlannedEpsilons() const {
  const auto epsilons = impl_->job->Epsilons();
  return {.outsider = epsilons.outsider, .insider = epsilons.insider};
}

std::vector<Job::Cost> Job::PlannedCosts() const {
  const auto plan = impl_->job->Plan({});
  std::vector<Cost> costs;
  std::transform(plan.forms.begin(), plan.forms.end(), std::back_inserter(costs), [](const auto& run) {
    return Cost{.form = run.form, .rounds = run.cost.rounds, .bytes_sent = run.cost.bytes_sent};
  });
  return costs;
}

VectorCalls Job::CallsOfProgram() const { return impl_->job->CallsOfProgram(); }

std::optional<CountedColumn> Job::Counted() const { return impl_->job->Counted(); }

}  // namespace trefoil
