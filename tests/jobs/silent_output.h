#pragma once
#include "jobs/job.h"

namespace trefoil::jobs {

/// What a job in a test tells is lost, and nothing went before; a test overrides what it is about.
class SilentOutput : public Output {
 public:
  void Reserve(const Events& /*plan*/, const Events& /*before*/) override {}
  void Settle(const Events& /*executed*/) override {}
  void Cover(const dp::TrainingRecord& /*record*/) override {}
  ml::Resumption Resume(mpc::Context& /*party*/) override { return {}; }
  void Announce(const Events& /*executed*/, int /*steps*/) override {}
  void Step(const ml::StepReport& /*report*/) override {}
  void BeginStep(int /*step*/) override {}
  void Keep(const ml::Checkpoint& /*checkpoint*/) override {}
  void BeginRelease() override {}
  void BeginEvaluation() override {}
};

}  // namespace trefoil::jobs
