#include "bench/operations.h"

#include "bench/basic_operations.h"
#include "bench/function_operations.h"
#include "bench/step_operations.h"

namespace trefoil::bench {
namespace {

using protocols::Form;
using protocols::Rounding;

template <Form form, Rounding rounding = Rounding::kStochastic>
Prepared PrepareStep(mpc::Context& party, const Point& point) {
  return PrepareFactorisedStep(party, point, form, rounding);
}

std::vector<Operation> StepOperations() {
  return {
      {"dpsgd_step", "bulk", true, PrepareStep<Form::kBulk>},
      {"dpsgd_step", "latency", true, PrepareStep<Form::kLatency>},
      {"dpsgd_step_exact", "bulk", true, PrepareStep<Form::kBulk, Rounding::kExact>},
      {"dpsgd_step_exact", "latency", true, PrepareStep<Form::kLatency, Rounding::kExact>},
      {"dpsgd_step_published", "bulk", true, PreparePublishedStep},
  };
}

}  // namespace

const std::vector<Operation>& AllOperations() {
  static const std::vector<Operation> kOperations = [] {
    std::vector<Operation> all = BasicOperations();
    for (const auto& more : {FunctionOperations(), StepOperations()}) {
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  }();
  return kOperations;
}

}  // namespace trefoil::bench
