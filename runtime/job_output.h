#pragma once
#include <optional>
#include <vector>

#include "jobs/job.h"
#include "net/mesh/mesh.h"
#include "runtime/ledger/run_budget.h"
#include "runtime/party_session.h"
#include "runtime/resume/run_state.h"
#include "runtime/run_directory.h"
#include "runtime/run_job.h"

namespace trefoil::runtime {

/// What a party's job is answered while it runs: its ledgers and record, progress and metrics, checkpoints.
class JobOutput final : public jobs::Output {
 public:
  /// `state`: of a job with checkpoints, else null. All must outlive the object.
  JobOutput(PartySession& session, const jobs::Job& job, RunBudget& budget, RunState* state,
            net::MeshTransport& mesh, const RunOptions& options)
      : session_(session), job_(job), budget_(budget), state_(state), mesh_(mesh), options_(options) {}

  void Reserve(const Events& plan, const Events& before) override;
  void Settle(const Events& executed) override;
  void Cover(const dp::TrainingRecord& record) override { record_ = record; }
  /// Throws StoppedError after a signal; else as RunState and ProgressFile, as the others do.
  ml::Resumption Resume(mpc::Context& party) override;
  std::string RunId() const override { return run_id_.empty() ? session_id() : run_id_; }
  void Announce(const Events& executed, int steps) override;
  std::string WhyCapped(const jobs::Population& population, const Events& plan) override {
    return budget_.WhyCapped(population, Named(plan));
  }
  void ChargeTo(const std::vector<jobs::Population>& populations) override { budget_.ChargeTo(populations); }
  void Opened(const std::vector<jobs::ReleasedValue>& values) override;
  void Warn(const std::string& line) override { session_.Warn(line); }
  void Log(const std::string& line) override { session_.Log(line); }
  void Step(const ml::StepReport& report) override;
  jobs::BegunCalls ResumeCalls(mpc::Context& party) override;
  void BeginCall(int call) override;
  void BeginStep(int step) override { state_->BeginStep(step); }
  void Keep(const ml::Checkpoint& checkpoint) override;
  void BeginRelease() override { state_->BeginRelease(); }
  void BeginEvaluation() override { state_->BeginEvaluation(); }

  /// What was settled, or covers the job.
  [[nodiscard]] const dp::TrainingRecord& record() const { return record_; }
  /// Of the last step that an earlier session finished and kept, and of the step finished last; zeros where
  /// there is none. Counts are the run's, earlier sessions included.
  [[nodiscard]] const ml::StepReport& kept() const { return kept_; }
  [[nodiscard]] const ml::StepReport& last() const { return last_; }
  /// Of this session, the same at all three.
  [[nodiscard]] std::string session_id() const;
  /// The session that made the weights which this one releases.
  [[nodiscard]] const std::string& releasing_session() const {
    return state_ != nullptr ? state_->releasing_session() : record_.run_id;
  }

 private:
  [[nodiscard]] dp::TrainingRecord Named(const Events& events) const;
  [[nodiscard]] AgreedRun Agree(mpc::Context& party);
  [[nodiscard]] std::string PastOf(const AgreedRun& agreed) const;
  void ShowCharge();

  PartySession& session_;
  const jobs::Job& job_;
  RunBudget& budget_;
  RunState* state_;
  net::MeshTransport& mesh_;
  const RunOptions& options_;
  std::string run_id_{};  ///< after Resume, with checkpoints, or ResumeCalls; else empty
  dp::TrainingRecord record_;
  std::optional<ProgressFile> progress_{};  ///< after Resume
  ml::StepReport kept_{};
  ml::StepReport last_{};
};

}  // namespace trefoil::runtime
