#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "apps/checkpoint_file.h"
#include "apps/command.h"
#include "apps/doctor.h"
#include "apps/error_report.h"
#include "apps/evaluation.h"
#include "apps/files.h"
#include "apps/held_out_files.h"
#include "apps/machine_check.h"
#include "apps/mesh_setup.h"
#include "apps/predict_job.h"
#include "apps/prediction_inputs.h"
#include "apps/progress.h"
#include "apps/run_budget.h"
#include "apps/task.h"
#include "apps/toml_reader.h"
#include "apps/training_settings.h"
#include "base/error.h"
#include "base/locked_memory.h"

namespace trefoil::apps {
namespace {

using Clock = std::chrono::system_clock;

/// Peers' clocks may differ by this much: beyond, fresh certificates may be refused and logs are hard to
/// compare.
constexpr auto kLargestClockDifference = std::chrono::seconds(60);

/// Certificates that expire sooner are warned of.
constexpr int kDaysToExchangeCertificates = 30;

struct CheckOptions {
  std::string config;
  std::string job;
  std::string wait = "5s";
};

constexpr const char* kMendOwnCertificate =
    "make key and certificate anew with init, and exchange it by trust";
constexpr const char* kMendJob = "correct the job, at all three parties";
constexpr const char* kMendData =
    "correct that file, the party file's table that names it, or what the job says of it, at all three "
    "parties";

/// `mend` is of a file that cannot be read as a certificate.
std::string ExamineCertificate(const std::filesystem::path& file, const std::string& whose,
                               const std::string& mend) {
  const auto pem = ReadTextFile(file, whose + ": " + mend);
  const auto info = [&] {
    try {
      return net::Inspect(pem);
    } catch (const ConfigError& error) {
      throw ConfigError(fmt::format("{}: {}: {}", file.string(), error.what(), mend));
    }
  }();
  const auto now = Clock::now();
  if (now >= info.not_after)
    throw ConfigError(file.string() + ": has expired: make a new one with init, and exchange it");
  if (now < info.not_before)
    throw ConfigError(file.string() + ": is not valid yet: check this machine's clock");
  const auto days = std::chrono::duration_cast<std::chrono::hours>(info.not_after - now).count() / 24;
  if (days < kDaysToExchangeCertificates) {
    Doctor::Warn(
        file.string(),
        fmt::format("expires in {} days: its owner makes a new one with init in a new folder, and all "
                    "exchange it by trust before then",
                    days));
  }
  return fmt::format("{}, valid for {} more days, fingerprint {}", file.string(), days, info.fingerprint);
}

/// Whether this party can show who it is, and knows who its peers are.
bool ExamineFiles(Doctor& doctor, const PartyFile& party) {
  bool well = doctor.Try("certificate", [&] {
    return ExamineCertificate(party.certificate, "this party's certificate", kMendOwnCertificate);
  });
  well &= doctor.Try("private key mode", [&] {
    if (!std::filesystem::is_regular_file(party.private_key)) {
      throw ConfigError(fmt::format("{}: found no such file, expected this party's private key: {}",
                                    party.private_key.string(), kMendOwnCertificate));
    }
    CheckKeyMode(party.private_key);
    return party.private_key.string();
  });
  well = well && doctor.Try("private key belongs to certificate", [&] {
    (void)ReadIdentity(party);
    return std::string();
  });
  for (const auto& peer : party.peers) {
    well &= doctor.Try(fmt::format("certificate of party {}", peer.id), [&] {
      return ExamineCertificate(peer.certificate, fmt::format("party {}'s certificate", peer.id),
                                "store it with trefoil trust");
    });
  }
  return well;
}

/// Whether what this process has in memory stays there.
void ExamineSwap(Doctor& doctor) {
  const bool locked = LockAllMemory();
  const auto areas = PlainSwap();
  if (!locked && !areas.empty()) return Doctor::Warn("swap", SwapWarning(areas));
  doctor.Try("swap", [&] {
    return std::string(areas.empty() ? "none, or encrypted" : "this process keeps its memory out of it");
  });
}

/// Checks a prediction, this party's share of its model, and the client's rows; returns as ExamineJob.
std::string ExaminePrediction(Doctor& doctor, const PartyFile& party, const CheckOptions& options) {
  std::optional<PredictJob> job;
  doctor.Try(
      "job",
      [&] {
        job = ReadPredictJob(options.job);
        return fmt::format("{}, up to {} rows of party {}", options.job, job->rows, job->client);
      },
      kMendJob);
  if (!job) return "";
  std::optional<ShareFile> model;
  doctor.Try(
      "share of the model",
      [&] {
        model = LoadModelShare(party, *job, options.config);
        return fmt::format("{}, of run {}", party.predict.share.string(), model->record.run_id);
      },
      "name the model.share of that run in the party file's [predict]");
  if (model && party.id == job->client) {
    doctor.Try(
        "rows to predict",
        [&] {
          const auto rows = LoadRowsToPredict(*job, model->job, party, options.config, 0);
          return fmt::format("{} rows as the model's job declares them", rows.x.rows());
        },
        kMendData);
  }
  return PredictJobJson(*job);
}

void RequireRoom(double available, double least, const std::string& mend) {
  if (available >= least) return;
  throw ConfigError(fmt::format("found {} free, expected at least {}: {}",
                                BytesText(static_cast<std::uint64_t>(available)),
                                BytesText(static_cast<std::uint64_t>(least)), mend));
}

/// Whether this party has its key for what it keeps.
void ExamineStorageKey(Doctor& doctor, const PartyFile& party, const SealedKind& kind) {
  doctor.Try("storage key", [&] {
    (void)StorageKey(party, kind);
    return std::string(party.storage_key.empty() ? "the private key" : party.storage_key.string());
  });
}

/// Whether the machine has room for the job, and this party its key for what it keeps.
void ExamineMachine(Doctor& doctor, const PartyFile& party, const Job& job) {
  const auto room = [](double available, double least) {
    return fmt::format("{} free, at least {} needed", BytesText(static_cast<std::uint64_t>(available)),
                       BytesText(static_cast<std::uint64_t>(least)));
  };
  std::optional<ml::StepPlan> plan;
  try {
    plan = ml::MakeStepPlan(SettingsOf(job));
  } catch (const ConfigError&) {
    return;  // the privacy plan has said so
  }
  const bool checkpoints = job.training.checkpoint_every > 0;
  doctor.Try("memory", [&] {
    const double available = AvailableMemory();
    const double least = LeastMemory(job, *plan, party.id);
    RequireRoom(available, least, "more memory, fewer data.rows, or smaller batches");
    return room(available, least);
  });
  doctor.Try("disk of this folder", [&] {
    const double available = AvailableDisk(".");
    const double least = LeastDisk(*plan, checkpoints);
    RequireRoom(available, least, "remove something, or run in a folder of another disk");
    return room(available, least);
  });
  if (!checkpoints && !job.release.to.empty()) return;
  ExamineStorageKey(doctor, party, checkpoints ? kCheckpoint : kModelShare);
}

/// Whether this party's ledger can be kept, and its cap allows the job.
void ExamineLedger(Doctor& doctor, const PartyFile& party, const BudgetedJob& job,
                   const std::vector<dp::RecordedEvent>& plan) {
  doctor.Try("ledger", [&] {
    const auto& file = party.ledger->file;
    const auto folder = std::filesystem::absolute(file).parent_path();
    if (!std::filesystem::is_directory(folder))
      throw ConfigError(folder.string() + ": found no such folder, expected one for the ledger: make it");
    if (std::filesystem::is_directory(file))
      throw ConfigError(file.string() + ": found a folder, expected a ledger: correct ledger.file");
    try {
      return BudgetLine(*party.ledger, AskBudget(party, job, plan));
    } catch (const BudgetError& error) {
      throw BudgetError(
          fmt::format("{}: spend less by the job, or ask whoever sets ledger.epsilon_cap", error.what()));
    } catch (const DataError& error) {
      throw DataError(
          fmt::format("{}: bring back the last good copy; a ledger is never edited", error.what()));
    }
  });
}

/// Checks a task and this party's data; returns as ExamineJob.
std::string ExamineTask(Doctor& doctor, const PartyFile& party, const CheckOptions& options) {
  std::unique_ptr<Task> task;
  doctor.Try(
      "job",
      [&] {
        task = ReadTask(options.job);
        return fmt::format("{}, hash {}", options.job, TaskHash(*task));
      },
      kMendJob);
  if (!task) return "";
  const bool planned = doctor.Try(
      "privacy plan",
      [&] {
        const auto epsilons = PlannedEpsilons(*task);
        return fmt::format("epsilon {:.4g} outsider, {:.4g} insider, delta {:g}", epsilons.outsider,
                           epsilons.insider, task->delta());
      },
      kMendJob);
  if (planned && party.ledger && !party.data.empty()) {
    const BudgetedJob job{.name = task->name(), .job_hash = TaskHash(*task), .uncovered = task->Uncovered()};
    ExamineLedger(doctor, party, job, task->Events());
  }
  if (task->release_to().empty()) ExamineStorageKey(doctor, party, kModelShare);
  doctor.Try(
      "data", [&] { return task->Load(party, options.config); }, kMendData);
  return task->Json();
}

/// Checks the job and the data against it; returns the job's canonical JSON, or nothing if it is not valid.
std::string ExamineJob(Doctor& doctor, const PartyFile& party, const std::string& file) {
  std::optional<Job> job;
  doctor.Try(
      "job",
      [&] {
        job = ReadJob(file);
        return fmt::format("{}, hash {}", file, JobHash(*job));
      },
      kMendJob);
  if (!job) return "";
  std::optional<ml::PrivacyPlan> plan;
  doctor.Try(
      "privacy plan",
      [&] {
        plan = ml::MakePlan(SettingsOf(*job));
        return fmt::format("epsilon {:.4g} outsider, {:.4g} insider, delta {:g}, sigma {:.4f}",
                           plan->epsilon_outsider, plan->epsilon_insider, plan->delta, plan->sigma);
      },
      kMendJob);
  if (plan && party.ledger && !party.data.empty()) {
    ExamineLedger(doctor, party, BudgetedJobOf(*job), plan->events);
  }
  ExamineMachine(doctor, party, *job);
  doctor.Try(
      "data",
      [&] {
        if (party.data.empty()) {
          throw ConfigError("the party file's [data] names no files: write x and y, or file");
        }
        const auto own =
            LoadOwnRecords(*job, party.id, party.data,
                           {.most_in_memory = kMostInMemory, .feature_model = party.feature_model});
        return fmt::format("{} rows as the job declares them", own.rows());
      },
      kMendData);
  if (HoldsTest(*job, party.id) || HoldsValidation(*job, party.id)) {
    doctor.Try(
        "test and validation data",
        [&] {
          const auto records =
              LoadHeldOut(*job, party, "the party file", {.feature_model = party.feature_model});
          return fmt::format("{} and {} rows as the job declares them", records.test.y.size(),
                             records.validation.y.size());
        },
        kMendData);
  }
  return JobJson(*job);
}

void ReportPeer(Doctor& doctor, const net::PeerCheck& peer, const Address& address) {
  const auto name = fmt::format("party {} at {}", peer.peer, ToText(address));
  const auto fail = [&](const char* stage, ExitCode code, const char* mend) {
    doctor.Fail(name, fmt::format("{}: {}: {}", stage, peer.cause, mend), code);
  };
  if (!peer.resolved)
    return fail("host name", kNetwork, "correct its address in [[peer]], or this machine's name service");
  if (!peer.connected) {
    return fail("connection", kNetwork,
                "start check or run there, compare address and port, and open the firewall for it");
  }
  if (!peer.secured) {
    return fail("TLS", kNetwork,
                "exchange certificates by trust again, at both, and compare fingerprints by telephone");
  }
  if (!peer.same_version) return fail("version", kConfiguration, "install the same release at all three");
  if (!peer.same_job) return fail("job", kConfiguration, "agree on one job file");
  doctor.Try(name, [&]() -> std::string {
    const auto apart = std::chrono::abs(peer.clock_difference);
    if (apart > kLargestClockDifference) {
      throw ConfigError(fmt::format("clocks are {} ms apart: set them by a time server", apart.count()));
    }
    return fmt::format("reached, TLS, version, job and clock ({} ms apart) agree", apart.count());
  });
}

void ExaminePeers(Doctor& doctor, const PartyFile& party, const std::string& job_json,
                  std::chrono::milliseconds wait) {
  std::optional<std::array<net::PeerCheck, net::kParties - 1>> peers;
  try {
    auto config = MeshConfigOf(party, job_json);
    config.log = [](const std::string& line) {
      // Connections that were refused are of peers' checks that have ended, too.
      if (line.starts_with("cannot listen")) Doctor::Warn("links", line);
    };
    peers = net::CheckPeers(config, wait);
  } catch (const std::exception& error) {
    doctor.Fail("links", error.what(), ExitCodeOf(error));
    return;
  }
  for (const auto& peer : *peers) {
    const auto& described = party.peers[0].id == peer.peer ? party.peers[0] : party.peers[1];
    ReportPeer(doctor, peer, described.address);
  }
}

/// Of whatever type; returns as ExamineJob.
std::string ExamineAnyJob(Doctor& doctor, const PartyFile& party, const CheckOptions& options) {
  if (options.job.empty()) return "";
  try {
    (void)ReadToml(options.job);
  } catch (const ConfigError& error) {
    doctor.Fail("job", fmt::format("{}: {}", error.what(), kMendJob), kConfiguration);
    return "";
  }
  if (IsPredictJob(options.job)) return ExaminePrediction(doctor, party, options);
  return IsTask(options.job) ? ExamineTask(doctor, party, options) : ExamineJob(doctor, party, options.job);
}

int RunCheck(const CheckOptions& options) {
  const auto wait = ParseDuration(options.wait);
  Doctor doctor;
  std::optional<PartyFile> party;
  doctor.Try(
      "party file",
      [&] {
        party = ReadParty(options.config);
        return fmt::format("{}, party {}", options.config, party->id);
      },
      "correct it, or make a new one with init");
  if (!party) return doctor.Finish();
  const bool identified = ExamineFiles(doctor, *party);
  ExamineSwap(doctor);
  const auto job_json = ExamineAnyJob(doctor, *party, options);
  if (identified) {
    ExaminePeers(doctor, *party, job_json, wait);
  } else {
    doctor.Fail("links", "not tried: first mend certificates and key, as above", kConfiguration);
  }
  return doctor.Finish();
}

}  // namespace

void AddCheck(CLI::App& program, Action& action) {
  auto options = std::make_shared<CheckOptions>();
  auto* command =
      program.add_subcommand("check", "Examine this party's files, its data, and the links to its peers");
  command->add_option("--config", options->config, "This party's party file")->required();
  command->add_option("--job", options->job,
                      "A job file, to be compared with the data and with the peers' job");
  command
      ->add_option("--wait", options->wait, "How long to try the links; run `check` at all parties meanwhile")
      ->capture_default_str();
  command->callback([options, &action] { action = [options] { return RunCheck(*options); }; });
}

}  // namespace trefoil::apps
