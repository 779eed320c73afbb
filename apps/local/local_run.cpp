#include "apps/local/local_run.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "apps/local/deployment.h"
#include "apps/local/local_results.h"
#include "apps/local/party_processes.h"
#include "base/error.h"
#include "base/error_report.h"
#include "base/files/files.h"
#include "base/files/sync_to_disk.h"
#include "data/dataset/folders.h"
#include "data/dataset/load.h"
#include "data/formats/file.h"
#include "jobs/advice.h"
#include "jobs/job.h"
#include "jobs/records/local_data.h"
#include "jobs/statement/bound_text.h"
#include "net/start/free_ports.h"
#include "runtime/hosts.h"
#include "runtime/observe/progress.h"
#include "runtime/run_directory.h"

namespace trefoil::apps {
namespace {

namespace fs = std::filesystem;

using Parties = std::array<jobs::PartyFile, 3>;

/// Where the three parties are reached: by the options, else free ports of this machine.
std::array<jobs::Address, 3> LocalAddresses(const LocalOptions& options) {
  const auto hosts = runtime::ParseHosts(options.hosts);
  if (options.prepare || options.base_port != 0) {
    const auto port =
        options.base_port == 0 ? runtime::kDefaultBasePort : static_cast<std::uint16_t>(options.base_port);
    return AddressesOf(hosts, port, options.ranks);
  }
  const auto ports = net::FreeLoopbackPorts(options.ranks);
  return {jobs::Address{hosts[0], ports[0]}, jobs::Address{hosts[1], ports[1]},
          jobs::Address{hosts[2], ports[2]}};
}

/// Options that the job does not take, or cannot do without, before anything is made.
void CheckOptions(const jobs::Job& job, const LocalOptions& options) {
  const auto wanted = job.FeatureModel();
  if (wanted.empty() != options.feature_model.empty()) {
    throw ConfigError(wanted.empty()
                          ? "--feature-model: found a model, expected none: features.method is not \"onnx\""
                          : "--feature-model: missing, expected the ONNX model of features.model_sha256");
  }
  if (!wanted.empty()) {
    const auto hash = data::FileSha256(options.feature_model);
    if (hash != wanted)
      throw DataError(fmt::format("{}: found SHA-256 {}, expected {} (features.model_sha256)",
                                  options.feature_model, hash, wanted));
  }
  if (!options.model.empty() && !job.NeedsModel())
    throw ConfigError(
        fmt::format("--model: found {}, expected none: the job asks no model of another run", options.model));
  if (!options.ledger.empty() && !job.Covered().empty())
    throw ConfigError("--ledger: found with a job that no ledger charges: " + job.Covered());
}

/// The three parties but for their data.
Parties DescribeLocal(const jobs::Job& job, const LocalOptions& options) {
  auto parties = DescribeParties(LocalAddresses(options));
  for (auto& party : parties) party.ranks = options.ranks;
  if (options.ledger.empty()) return parties;
  fs::create_directories(options.ledger);
  for (auto& party : parties)
    party.ledger = {.file = fs::absolute(options.ledger) / fmt::format("party-{}.jsonl", party.id),
                    .epsilon_cap = options.epsilon_cap,
                    .delta = job.delta()};
  return parties;
}

/// Reads the table, or the images, that a released model will be evaluated on: what is wrong with them is
/// found before a training that costs time and epsilon, not behind it. Pre: the data are dealt.
void CheckTests(const LocalRun& run, const LocalOptions& options) {
  const auto* schema = run.job.Records();
  if (schema == nullptr || !fs::exists(run.folder / "test")) return;
  const auto format = schema->data.format;  // others are wrong as a whole, and seldom
  if (format != data::Format::kCsv && format != data::Format::kImages) return;
  const auto source = jobs::FindDataFolder(schema->data.name, options.job, options.data);
  if (const auto files = data::FindTestFiles(schema->data, source)) (void)data::Load(schema->data, *files);
}

/// Deals the data to the parties' folders. What is wrong with it leaves no folder that was not there.
void Split(const LocalRun& run, const LocalOptions& options, Parties& parties) {
  const bool made = !fs::exists(run.folder);
  try {
    runtime::MakeRunDirectory(run.folder);
  } catch (const fs::filesystem_error& error) {
    throw ConfigError(fmt::format("--out: found {}, which cannot be made ({}), expected a folder to write to",
                                  run.folder.string(), error.code().message()));
  }
  try {
    for (const auto& folder : PartyFolders(run.folder)) {
      // Before any record is in it: on a shared machine nobody else may read a party's data.
      if (!MakePrivateFolder(folder)) throw CannotWrite(folder);
    }
    const auto said = run.split({.job_file = options.job,
                                 .data = options.data,
                                 .test = run.folder / "test",
                                 .party_folders = PartyFolders(run.folder),
                                 .parties = parties,
                                 .run_folder = run.folder,
                                 .model = options.model,
                                 .types = options.types});
    CheckTests(run, options);
    run.display.Say(fmt::format("{}, in {}", said, run.folder.string()));
  } catch (...) {
    std::error_code ignored;
    if (made) fs::remove_all(run.folder, ignored);
    throw;
  }
}

/// Makes DIR with its three deployments, data included.
Parties PrepareFolders(const LocalRun& run, const LocalOptions& options) {
  auto parties = DescribeLocal(run.job, options);
  Split(run, options, parties);
  for (auto& party : parties) {
    if (options.feature_model.empty()) break;  // of all three
    const auto folder = PartyFolder(run.folder, party.id);
    party.feature_model = kFeatureModel;
    fs::create_directories(folder / "data");
    fs::copy_file(options.feature_model, folder / kFeatureModel);
  }
  MakeAllPartyFolders(parties, run.folder);
  WriteTextFile(run.folder / "job.toml", jobs::TomlOf(run.job));
  return parties;
}

/// Where the parties' pages are served: ports that nothing uses, nor the parties themselves will.
std::array<jobs::Address, 3> PageAddresses(const Parties& parties) {
  while (true) {
    const auto pages = FreeLoopbackAddresses();
    const bool taken = std::any_of(pages.begin(), pages.end(), [&](const jobs::Address& page) {
      return std::any_of(parties.begin(), parties.end(), [&](const jobs::PartyFile& party) {
        return party.listen.port <= page.port && page.port < party.listen.port + party.ranks;
      });
    });
    if (!taken) return pages;
  }
}

/// Runs the parties in their folders and collects what they wrote.
int RunPrepared(const LocalRun& run, const Parties& parties, const LocalOptions& options) {
  run.display.SayFirst(jobs::FirstOf(run.job));
  std::array<std::string, 3> pages;
  if (options.watch) {
    const auto addresses = PageAddresses(parties);
    std::transform(addresses.begin(), addresses.end(), pages.begin(),
                   [](const jobs::Address& address) { return jobs::ToText(address); });
    run.display.Say(
        fmt::format("watch the run at http://{}/ (party 0), http://{}/ (party 1), http://{}/ (party 2)",
                    pages[0], pages[1], pages[2]));
  }
  const int failure = RunPartyProcesses({.folder = run.folder,
                                         .steps = run.job.Steps().count,
                                         .peer = parties[0].peer_timeout,
                                         .threads = options.threads,
                                         .ranks = parties[0].ranks,
                                         .resume = options.resume,
                                         .again = options.again,
                                         .pages = pages},
                                        run.display);
  if (failure == kDone) CollectResults(run.job, run.folder, run.display, options.types);
  return failure;
}

/// Goes on with the run whose folders are there.
int ResumeLocal(const LocalOptions& options) {
  for (const auto& [given, name] : {std::pair{!options.data.empty(), "--data"},
                                    {!options.model.empty(), "--model"},
                                    {!options.feature_model.empty(), "--feature-model"},
                                    {!options.ledger.empty(), "--ledger"},
                                    {options.ranks > 1, "--ranks"},
                                    {options.base_port != 0, "--base-port"},
                                    {options.job.empty() && !options.assignments.empty(), "--set"},
                                    {options.prepare, "--prepare"}}) {
    if (given)
      throw ConfigError(
          fmt::format("{}: found with --resume, expected without: the parties' folders are in --out", name));
  }
  if (options.out.empty())
    throw ConfigError("--out: missing, expected with --resume the run directory that is to be resumed");
  const auto file = fs::path(options.out) / "job.toml";
  const auto job = jobs::ReadJob(file, {}, options.types);
  if (!options.job.empty()) {
    const auto named = jobs::ReadJob(options.job, options.assignments, options.types);
    if (named->Json() != job->Json())
      throw ConfigError(jobs::DescribeDifference(named->Json(), job->Json()) + ", as in " + file.string());
  }
  if (const auto why = job->NoResume(); !why.empty()) throw ConfigError("--resume: " + why);
  runtime::ProgressDisplay display(std::cout, runtime::StdoutIsTerminal());
  Parties parties;
  for (int id = 0; id < net::kParties; ++id)
    parties.at(static_cast<std::size_t>(id)) =
        jobs::ReadParty(PartyFolder(options.out, id) / "party.toml", options.types);
  return RunPrepared({.job = *job, .split = {}, .folder = options.out, .display = display}, parties, options);
}

}  // namespace

int RunThree(const LocalRun& run, const LocalOptions& options) {
  const auto& job = run.job;
  const bool charges = job.Covered().empty();
  const auto planned = charges ? job.Epsilons() : dp::EpsilonPair();
  run.display.Say(fmt::format("job {}: {}", job.name(), job.Title()));
  const auto parties = PrepareFolders(run, options);
  if (options.prepare) {
    run.display.Say(fmt::format(
        "prepared; start each party I with: {1}trefoil run --config {0}/party-I/party.toml --job "
        "{0}/job.toml",
        run.folder.string(), options.ranks > 1 ? fmt::format("mpirun -np {} ", options.ranks) : ""));
    return kDone;
  }
  for (const auto& warning : job.Warnings()) run.display.Say("warning: " + warning);
  for (const auto& line : jobs::AdviceOn(job, planned)) run.display.Say("note: " + line);
  run.display.Say(charges
                      ? fmt::format("epsilon {}, delta {}, at most",
                                    jobs::EpsilonsText(planned.outsider, planned.insider, jobs::FirstOf(job)),
                                    jobs::DeltaText(job.delta()))
                      : job.Covered());
  return RunPrepared(run, parties, options);
}

int RunLocal(const LocalOptions& options) {
  if (options.resume) return ResumeLocal(options);
  const auto job = jobs::ReadJob(options.job, options.assignments, options.types);
  job->UseRanks(options.ranks);
  CheckOptions(*job, options);
  runtime::ProgressDisplay display(std::cout, runtime::StdoutIsTerminal());
  return RunThree(
      {.job = *job,
       .split = [&](const jobs::SplitTarget& target) { return job->Split(target); },
       .folder = options.out.empty() ? runtime::DefaultRunDirectory(job->name()) : fs::path(options.out),
       .display = display},
      options);
}

}  // namespace trefoil::apps
