#include "apps/local_run.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <csignal>
#include <iostream>
#include <sstream>
#include <thread>

#include "apps/child_process.h"
#include "apps/deployment.h"
#include "apps/error_report.h"
#include "apps/evaluation.h"
#include "apps/files.h"
#include "apps/free_ports.h"
#include "apps/held_out_files.h"
#include "apps/hosts.h"
#include "apps/local_data.h"
#include "apps/model_file.h"
#include "apps/progress.h"
#include "apps/run_directory.h"
#include "apps/training_settings.h"
#include "base/error.h"
#include "base/thread_pool.h"
#include "data/folders.h"

namespace trefoil::apps {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr auto kPollPause = std::chrono::milliseconds(50);
/// How much longer than its peer time-out a party may take to end by itself once another has failed.
constexpr auto kPatience = std::chrono::seconds(5);

struct Local {
  Job job;
  fs::path folder;
  std::array<PartyFile, 3> parties;
  fs::path feature_model;
  ProgressDisplay display{std::cout, StdoutIsTerminal()};
};

std::array<fs::path, 3> FoldersOf(const Local& local) {
  return {PartyFolder(local.folder, 0), PartyFolder(local.folder, 1), PartyFolder(local.folder, 2)};
}

std::array<Address, 3> ChooseAddresses(const LocalOptions& options) {
  const auto hosts = ParseHosts(options.hosts);
  if (options.prepare || options.base_port != 0) {
    const auto port =
        options.base_port == 0 ? kDefaultBasePort : static_cast<std::uint16_t>(options.base_port);
    return AddressesOf(hosts, port);
  }
  const auto ports = FreeLoopbackPorts();
  return {Address{hosts[0], ports[0]}, Address{hosts[1], ports[1]}, Address{hosts[2], ports[2]}};
}

/// The model is compared with the job before anything is made.
void TakeFeatureModel(Local& local, const LocalOptions& options) {
  const auto& features = local.job.features.extraction;
  const bool wanted = features.method == data::FeatureMethod::kOnnx;
  if (wanted == options.feature_model.empty()) {
    throw ConfigError(wanted
                          ? "--feature-model: missing, expected the ONNX model of features.model_sha256"
                          : "--feature-model: found a model, expected none: features.method is not \"onnx\"");
  }
  if (!wanted) return;
  local.feature_model = options.feature_model;
  const auto hash = data::FileSha256(local.feature_model);
  if (hash != features.onnx.model_sha256) {
    throw DataError(fmt::format("{}: found SHA-256 {}, expected {} (features.model_sha256)",
                                options.feature_model, hash, features.onnx.model_sha256));
  }
}

/// Makes DIR with its three deployments, data included.
void PrepareFolders(Local& local, const LocalOptions& options) {
  const auto addresses = ChooseAddresses(options);
  MakeRunDirectory(local.folder);
  const auto source = FindDataFolder(local.job, options.job, options.data, local.folder);
  local.display.Say(fmt::format("job {}: dealing {} to three parties in {}", local.job.name,
                                source.lexically_normal().string(), local.folder.string()));
  // The data comes first: what is wrong with it leaves the folder empty, to be used again.
  const auto report = DealData(local.job, source, FoldersOf(local), local.folder / "test");
  const auto held_out = DealHeldOut(local.job, source, FoldersOf(local));
  if (source.parent_path() == local.folder) fs::remove_all(source);  // generated; the parties have it all
  local.display.Say(fmt::format(
      "rows: {}{}", fmt::join(report.rows, ", "),
      report.left_out == 0 ? "" : fmt::format("; {} beyond data.rows left out", report.left_out)));
  // The data is private: on a shared machine nobody else may read a party's folder.
  for (const auto& folder : FoldersOf(local)) fs::permissions(folder, fs::perms::owner_all);
  for (int id = 0; id < 3; ++id) {
    auto& party = local.parties[static_cast<std::size_t>(id)];
    party = DescribeParty(id, addresses);
    party.data = data::PartyFiles(local.job.data.format, "");
    if (HoldsTest(local.job, id)) party.evaluation = held_out.test;
    if (HoldsValidation(local.job, id)) party.validation = held_out.validation;
    if (local.feature_model.empty()) continue;
    party.feature_model = fs::path("data") / "features.onnx";
    fs::copy_file(local.feature_model, PartyFolder(local.folder, id) / party.feature_model);
  }
  MakeAllPartyFolders(local.parties, local.folder);
  WriteTextFile(local.folder / "job.toml", JobToml(local.job));
}

std::vector<ChildProcess> StartParties(const Local& local, std::size_t threads) {
  const std::size_t cores = ThreadsFor(0);
  const auto each = std::to_string(threads != 0 ? threads : (cores + 2) / 3);
  std::vector<ChildProcess> children;
  for (const auto& folder : FoldersOf(local)) {
    children.emplace_back(std::vector<std::string>{"run", "--config", (folder / "party.toml").string(),
                                                   "--job", (local.folder / "job.toml").string(), "--out",
                                                   (folder / "out").string(), "--threads", each},
                          folder / "console.log");
  }
  return children;
}

bool Failed(const ProcessEnd& end) { return end.signal != 0 || end.code != 0; }

/// Of parties found ended at the same time, the one that failed by itself comes before those that lost it.
int Precedence(const ProcessEnd& end) { return end.signal != 0 ? 2 : end.code != kNetwork ? 1 : 0; }

/// The party whose failure came first, as far as can be told, or -1.
int FirstFailure(std::vector<ChildProcess>& children) {
  int first = -1;
  for (int id = 0; id < 3; ++id) {
    const auto& end = children[static_cast<std::size_t>(id)].Poll();
    if (!end || !Failed(*end)) continue;
    if (first < 0 || Precedence(*end) > Precedence(*children[static_cast<std::size_t>(first)].Poll()))
      first = id;
  }
  return first;
}

bool AllEnded(std::vector<ChildProcess>& children) {
  return std::all_of(children.begin(), children.end(),
                     [](ChildProcess& child) { return child.Poll().has_value(); });
}

void ShowProgress(Local& local, int& shown) {
  const auto report = LastProgress(PartyFolder(local.folder, 0) / "out" / "progress.csv",
                                   static_cast<int>(local.job.training.steps));
  if (!report || report->step == shown) return;
  shown = report->step;
  local.display.Show(*report);
}

/// Waits for all parties; returns the one whose failure came first, or -1. A failed party's peers may end by
/// themselves before they are made to.
int WaitForParties(Local& local, std::vector<ChildProcess>& children) {
  int failure = -1;
  int shown = 0;
  Clock::time_point deadline{};
  while (!AllEnded(children)) {
    std::this_thread::sleep_for(kPollPause);
    ShowProgress(local, shown);
    if (failure < 0) {
      failure = FirstFailure(children);
      deadline = Clock::now() + local.parties[0].peer_timeout + kPatience;
    } else if (Clock::now() > deadline) {
      for (auto& child : children) child.Signal(SIGKILL);
    }
  }
  if (failure < 0) failure = FirstFailure(children);
  ShowProgress(local, shown);
  local.display.Finish();
  return failure;
}

/// The error that a party printed, or nothing.
std::string ErrorIn(const fs::path& log) {
  std::istringstream lines(ReadTextFile(log, "a party's output"));
  const std::string prefix = "trefoil: ";
  std::string found;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(prefix)) found = line.substr(prefix.size());
  }
  return found;
}

int ReportFailure(const Local& local, int party, const ProcessEnd& end) {
  const auto log = PartyFolder(local.folder, party) / "console.log";
  if (end.signal != 0) {
    ReportError(fmt::format("party {} was killed by signal {}; its output is in {}", party, end.signal,
                            log.string()));
    return kNetwork;
  }
  const auto cause = ErrorIn(log);
  ReportError(cause.empty() ? fmt::format("party {} ended with code {}; its output is in {}", party, end.code,
                                          log.string())
                            : fmt::format("party {}: {}", party, cause));
  return end.code;
}

/// The released model, the same at all parties that have it, copied to the top. Returns its path; nothing
/// where it was released to nobody.
std::optional<fs::path> CollectModel(const Local& local) {
  if (local.job.release.to.empty()) return {};
  const auto target = local.folder / "model.npz";
  std::string model;
  for (const int party : local.job.release.to) {
    const auto released =
        ReadTextFile(PartyFolder(local.folder, party) / "out" / "model.npz", "the released model");
    if (!model.empty() && released != model) {
      throw std::runtime_error(
          fmt::format("party {}'s model differs from party {}'s", party, local.job.release.to[0]));
    }
    model = released;
  }
  WriteTextFile(target, model);
  return target;
}

/// What the evaluation on shares gave those who learn it, if there was one.
std::optional<EvaluationSummary> CollectEvaluation(const Local& local) {
  if (!local.job.evaluation) return {};
  const auto& to = local.job.evaluation->to;
  return ReadSummary(PartyFolder(local.folder, to.front()) / "out" / "summary.json").evaluation;
}

/// Evaluates the model on the test set, if there is one.
std::optional<Evaluation> EvaluateModel(const Local& local, const std::optional<fs::path>& model) {
  if (!model) return {};
  const auto test = data::FindTestFiles(local.job.data, local.folder / "test");
  if (!test) return {};
  const auto table = LoadRecords(local.job, *test, {.feature_model = local.feature_model});
  if (table.y.empty()) return {};
  return Evaluate(LoadModel(*model).model, table, local.job.data.classes);
}

int CollectResults(Local& local) {
  const auto first = PartyFolder(local.folder, 0) / "out";
  for (const auto* name : {"progress.csv", "record.json"}) {
    WriteTextFile(local.folder / name, ReadTextFile(first / name, "a party's result"));
  }
  auto summary = ReadSummary(first / "summary.json");
  for (const int id : {1, 2}) {
    const auto other = ReadSummary(PartyFolder(local.folder, id) / "out" / "summary.json");
    summary.peak_rss_bytes = std::max(summary.peak_rss_bytes, other.peak_rss_bytes);
  }
  const auto model = CollectModel(local);
  const auto evaluation = EvaluateModel(local, model);
  summary.evaluation = CollectEvaluation(local);
  if (summary.evaluation) summary.accuracy = Accuracy(*summary.evaluation);
  if (evaluation) summary.accuracy = evaluation->accuracy();
  WriteSummary(local.folder / "summary.json", summary);
  if (summary.evaluation) local.display.Say(EvaluationLine(*summary.evaluation));
  if (evaluation) {
    local.display.Say(
        fmt::format("accuracy {:.4f} on {} test records", evaluation->accuracy(), evaluation->records));
  } else if (!summary.evaluation) {
    local.display.Say(model ? "accuracy unknown: there is no test data"
                            : "accuracy unknown: nobody has the model, and the job has no [evaluation]");
  }
  local.display.Say(fmt::format("epsilon {} outsider, {} insider, delta {:g}",
                                EpsilonText(summary.epsilon_outsider), EpsilonText(summary.epsilon_insider),
                                summary.delta));
  local.display.Say(fmt::format("time {}, {} rounds, {} sent by party 0", SecondsText(summary.seconds),
                                summary.rounds, BytesText(summary.bytes_sent)));
  local.display.Say(model ? fmt::format("model {}", model->string())
                          : "model released to nobody: each party's share is its out/model.share");
  return kDone;
}

}  // namespace

int RunLocal(const LocalOptions& options) {
  Local local{
      .job = ReadJob(options.job, options.assignments), .folder = {}, .parties = {}, .feature_model = {}};
  const auto plan = ml::MakePlan(SettingsOf(local.job));
  TakeFeatureModel(local, options);
  local.folder = options.out.empty() ? DefaultRunDirectory(local.job.name) : fs::path(options.out);
  for (const auto& notice : JobNotices(local.job)) local.display.Say(notice);
  PrepareFolders(local, options);
  if (options.prepare) {
    local.display.Say(fmt::format(
        "prepared; start each party I with: trefoil run --config {0}/party-I/party.toml --job {0}/job.toml",
        local.folder.string()));
    return kDone;
  }
  local.display.Say(
      fmt::format("training {} steps, sigma {:.4f}, target epsilon {} outsider {} insider, delta {:g}",
                  local.job.training.steps, plan.sigma, EpsilonText(plan.epsilon_outsider),
                  EpsilonText(plan.epsilon_insider), plan.delta));
  auto children = StartParties(local, options.threads);
  const int failure = WaitForParties(local, children);
  if (failure >= 0) return ReportFailure(local, failure, *children[static_cast<std::size_t>(failure)].Poll());
  return CollectResults(local);
}

}  // namespace trefoil::apps
