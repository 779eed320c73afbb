#include <spdlog/fmt/fmt.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "apps/check/check_job.h"
#include "apps/cli/command.h"
#include "apps/cli/doctor.h"
#include "base/error.h"
#include "base/error_report.h"
#include "base/files/files.h"
#include "base/files/open_files.h"
#include "base/passing_error.h"
#include "base/secrets/locked_memory.h"
#include "base/threads/thread_pool.h"
#include "deposit/on_shares/store_records.h"
#include "jobs/job.h"
#include "net/http/http_endpoint.h"
#include "runtime/machine_check.h"
#include "runtime/mesh_setup.h"
#include "runtime/observe/session_log.h"

namespace trefoil::apps {
namespace {

/// Peers' clocks may differ by this much: beyond, fresh certificates may be refused and logs are hard to
/// compare.
constexpr auto kLargestClockDifference = std::chrono::seconds(60);

/// Certificates that expire sooner are warned of.
constexpr int kDaysToExchangeCertificates = 30;

struct CheckOptions {
  std::string config;
  std::string job;
  std::string wait = "5s";
  jobs::JobTypes types;
};

constexpr const char* kMendOwnCertificate =
    "make key and certificate anew with init, and exchange it by trust";

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
  const auto now = std::chrono::system_clock::now();
  if (now >= info.not_after)
    throw ConfigError(file.string() + ": has expired: make a new one with init, and exchange it");
  if (now < info.not_before)
    throw PassingError(file.string() + ": is not valid yet: check this machine's clock");
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
bool ExamineFiles(Doctor& doctor, const jobs::PartyFile& party) {
  bool well = doctor.Try("certificate", [&] {
    return ExamineCertificate(party.certificate, "this party's certificate", kMendOwnCertificate);
  });
  well &= doctor.Try("private key mode", [&] {
    if (!std::filesystem::is_regular_file(party.private_key)) {
      throw ConfigError(fmt::format("{}: found no such file, expected this party's private key: {}",
                                    party.private_key.string(), kMendOwnCertificate));
    }
    jobs::CheckKeyMode(party.private_key);
    return party.private_key.string();
  });
  well = well && doctor.Try("private key belongs to certificate", [&] {
    (void)runtime::ReadIdentity(party);
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
  const auto warning = runtime::SwapWarning(LockAllMemory());
  if (!warning.empty()) return Doctor::Warn("swap", warning);
  doctor.Try("swap", [] {
    return std::string(runtime::PlainSwap().empty() ? "none, or encrypted"
                                                    : "this process keeps its memory out of it");
  });
}

/// Whether this program can be one of the party's several ranks.
void ExamineRanks(Doctor& doctor, const jobs::PartyFile& party) {
  if (party.ranks == 1) return;
  doctor.Try("ranks", [&] {
    if (!TREFOIL_WITH_MPI)
      throw ConfigError(
          fmt::format("party.ranks: found {}, expected 1 of a program that was built without MPI: install "
                      "libopenmpi-dev and openmpi-bin (scripts/setup --mpi) and build anew",
                      party.ranks));
    return fmt::format("{}, built with MPI", party.ranks);
  });
}

/// Whether a run could write to the session log that the party file names for all runs.
void ExamineSessionLog(Doctor& doctor, const std::filesystem::path& file) {
  if (file.empty()) return;
  doctor.Try("session log", [&] {
    RequireFolderOf(file, "the session log");
    if (!std::filesystem::exists(file)) return file.string() + ", which the first run makes";
    if (std::filesystem::is_directory(file))
      throw ConfigError(file.string() + ": found a folder, expected a session log: correct log.audit");
    jobs::CheckSecretMode(file, "a session log");
    try {
      return fmt::format("{}, {} lines", file.string(), runtime::ReadAuditLog(file).lines);
    } catch (const DataError& error) {
      throw DataError(
          fmt::format("{}: bring back the last good copy, or name another file in log.audit", error.what()));
    }
  });
}

/// Whether a run could serve its page where the party file says.
void ExamineMetrics(Doctor& doctor, const jobs::PartyFile& party) {
  if (!party.metrics) return;
  const auto& listen = party.metrics->listen;
  try {
    const net::HttpEndpoint page(listen.host, listen.port, [](const std::string& /*path*/) {
      return net::HttpAnswer{.status = 503, .body = "no run\n"};
    });
  } catch (const PassingError& error) {
    return Doctor::Warn("metrics", fmt::format("{}: end what uses it, or choose another metrics.listen; all "
                                               "is well if that is this party's own run",
                                               error.what()));
  } catch (const ConfigError& error) {
    return doctor.Fail("metrics",
                       fmt::format("{}: correct metrics.listen to an address of this machine", error.what()),
                       kConfiguration);
  }
  doctor.Try("metrics", [&] { return jobs::ToText(listen); });
}

/// `dialled`: where, of which of its ranks.
void ReportPeer(Doctor& doctor, const net::PeerCheck& peer, const std::string& dialled) {
  const auto name = fmt::format("party {}{}", peer.peer, dialled);
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
  // The cause names its mend: another release, wrong ids, a certificate that another party knows otherwise.
  if (!peer.same_version) return doctor.Fail(name, "greeting: " + peer.cause, kConfiguration);
  if (!peer.same_job) return fail("job", kConfiguration, "agree on one job file");
  doctor.Try(name, [&]() -> std::string {
    const auto apart = std::chrono::abs(peer.clock_difference);
    if (apart > kLargestClockDifference) {
      throw ConfigError(fmt::format("clocks are {} ms apart: set them by a time server", apart.count()));
    }
    return fmt::format("reached, TLS, version, job and clock ({} ms apart) agree", apart.count());
  });
}

void ExaminePeers(Doctor& doctor, const jobs::PartyFile& party, const std::string& job_json,
                  std::chrono::milliseconds wait) {
  const auto ranks = static_cast<std::size_t>(party.ranks);
  std::vector<net::MeshConfig> lanes;
  std::vector<std::array<net::PeerCheck, net::kParties - 1>> found(ranks);
  std::mutex warning;
  try {
    for (int rank = 0; rank < party.ranks; ++rank) {
      auto& config = lanes.emplace_back(runtime::MeshConfigOf(party, job_json, rank));
      config.log = [&warning](const std::string& line) {
        const std::lock_guard lock(warning);
        // Connections that were refused are of peers' checks that have ended, too.
        if (line.starts_with("cannot listen")) Doctor::Warn("links", line);
      };
    }
    // All at once, as the peers' checks wait for all at once.
    ThreadPool(ranks).ParallelFor(ranks, 1, [&](std::size_t begin, std::size_t end) {
      for (auto rank = begin; rank < end; ++rank) found[rank] = net::CheckPeers(lanes[rank], wait);
    });
  } catch (const std::exception& error) {
    doctor.Fail("links", error.what(), ExitCodeOf(error));
    return;
  }
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    for (const auto& peer : found[rank]) {
      const auto& dialled = lanes[rank].peers[lanes[rank].peers[0].id == peer.peer ? 0 : 1];
      ReportPeer(doctor, peer,
                 fmt::format("{} at {}", ranks > 1 ? fmt::format(", rank {}", rank) : "",
                             jobs::ToText({.host = dialled.host, .port = dialled.port})));
    }
  }
}

std::chrono::milliseconds WaitOf(const CheckOptions& options) {
  try {
    return jobs::ParseDuration(options.wait);
  } catch (const ConfigError& error) {
    throw ConfigError(fmt::format("--wait: {}", error.what()));
  }
}

int RunCheck(const CheckOptions& options) {
  RequireOpenFiles(kOpenFilesOfParty);
  const auto wait = WaitOf(options);
  Doctor doctor;
  std::optional<jobs::PartyFile> party;
  doctor.Try(
      "party file",
      [&] {
        party = jobs::ReadParty(options.config, options.types);
        return fmt::format("{}, party {}", options.config, party->id);
      },
      "correct it, or make a new one with init");
  if (!party) return doctor.Finish();
  const bool identified = ExamineFiles(doctor, *party);
  ExamineSwap(doctor);
  ExamineRanks(doctor, *party);
  if (party->ranks == 1 || !options.job.empty()) {  // of several machines the first alone has them, and a job
    ExamineSessionLog(doctor, party->log.audit);
    ExamineMetrics(doctor, *party);
  }
  const auto job_json = ExamineJob(doctor, *party,
                                   {.job = options.job,
                                    .party_file = options.config,
                                    .types = options.types,
                                    .open_store = deposit::OpenStoreRecords});
  if (identified) {
    ExaminePeers(doctor, *party, job_json, wait);
  } else {
    doctor.Fail("links", "not tried: first mend certificates and key, as above", kConfiguration);
  }
  return doctor.Finish();
}

}  // namespace

void AddCheck(CLI::App& program, Action& action, jobs::JobTypes types) {
  auto options = std::make_shared<CheckOptions>();
  options->types = types;
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
