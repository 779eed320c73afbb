#include <spdlog/fmt/fmt.h>

#include <csignal>

#include "api/model.h"
#include "api/session_impl.h"
#include "base/error.h"
#include "jobs/config/input_files.h"
#include "jobs/job.h"
#include "trefoil/run.h"

namespace trefoil {
namespace {

/// What a job is answered that leaves nothing behind.
class MemoryOutput final : public jobs::Output {
 public:
  MemoryOutput(const jobs::Job& job, std::string run_id, const SimulationOptions& options, bool tells)
      : job_(job), run_id_(std::move(run_id)), options_(options), tells_(tells) {}

  void Reserve(const Events& /*plan*/, const Events& /*before*/) override {}
  void Settle(const Events& executed) override {
    record_ = {.job_hash = jobs::HashOf(job_),
               .run_id = run_id_,
               .events = executed,
               .promise = jobs::PromiseOf(job_)};
  }
  void Cover(const dp::TrainingRecord& record) override { record_ = record; }
  ml::Resumption Resume(mpc::Context& /*party*/) override { return {}; }
  void Announce(const Events& /*executed*/, int /*steps*/) override {}
  void Step(const ml::StepReport& report) override {
    if (!tells_ || !options_.on_step) return;
    options_.on_step({.step = report.step,
                      .steps = report.steps,
                      .seconds = report.seconds,
                      .epsilons = {.outsider = report.epsilon_outsider, .insider = report.epsilon_insider}});
  }
  void BeginStep(int /*step*/) override {}
  void Keep(const ml::Checkpoint& /*checkpoint*/) override {}
  void BeginRelease() override {}
  void BeginEvaluation() override {}

  [[nodiscard]] const dp::TrainingRecord& record() const { return record_; }

 private:
  const jobs::Job& job_;
  std::string run_id_;
  const SimulationOptions& options_;
  bool tells_;
  dp::TrainingRecord record_{};
};

JobResult ResultOf(const jobs::Job& job, const jobs::JobResult& result, const dp::TrainingRecord& record) {
  const auto epsilons = dp::Epsilons(record, job.delta(), job.accountant());
  JobResult outer{.epsilons = {.outsider = epsilons.outsider, .insider = epsilons.insider},
                  .record = dp::ToJson(record).dump(2),
                  .summary = result.summary.dump(),
                  .lines = result.lines};
  if (result.model) outer.model = Outer({.model = *result.model, .schema = job.Model().value()});
  for (const auto& file : result.files) outer.files[file.name] = file.text;
  if (const auto line = job.ResultLine(result.summary); !line.empty()) outer.lines.push_back(line);
  return outer;
}

/// With an empty path for each key that a type of job declares.
jobs::PartyFile PartyWithoutFiles(int id) {
  jobs::PartyFile party;
  party.id = id;
  for (const auto& type : jobs::ShippedTypes()) {
    if (type.inputs != nullptr)
      (void)jobs::KeysOf([&](jobs::FieldVisitor& v) { type.inputs(v, party.inputs); });
  }
  return party;
}

/// One party's side.
JobResult RunOne(Session& session, const Job& job, const InputFiles& files,
                 const SimulationOptions& options) {
  const auto own = jobs::ParseJob(job.Json(), "job");  // an object serves one run
  if (auto* program = options.programs.at(static_cast<std::size_t>(session.party())); program != nullptr)
    own->TakeVectorsOf(*program);
  auto& impl = session.impl();
  auto party = PartyWithoutFiles(session.party());
  jobs::BringFiles(party, files);
  (void)jobs::LoadInputs(*own, party, fmt::format("party {}", party.id), {.threads = 1});
  MemoryOutput output(*own, impl.id, options, party.id == 0);
  const std::stop_callback end(options.stop, [&session] { session.Abort(); });
  const auto result = own->Run(impl.context, output);
  return ResultOf(*own, result, output.record());
}

}  // namespace

std::array<JobResult, 3> Simulate(const Job& job, const std::array<InputFiles, 3>& inputs,
                                  const SimulationOptions& options) {
  if (job.release_to().empty())
    throw ConfigError("release.to: found nobody, expected at least one of 0, 1 and 2 in a simulation");
  try {
    return ResultsInProcess([&](Session& session) {
      return RunOne(session, job, inputs.at(static_cast<std::size_t>(session.party())), options);
    });
  } catch (const NetworkError&) {
    if (!options.stop.stop_requested()) throw;
    throw StoppedError(SIGINT, "the simulation was stopped");
  }
}

}  // namespace trefoil
