#include <spdlog/fmt/chrono.h>
#include <spdlog/fmt/fmt.h>

#include <ctime>
#include <iostream>
#include <memory>

#include "apps/cli/command.h"
#include "base/error.h"
#include "base/error_report.h"
#include "base/files/files.h"
#include "jobs/job.h"
#include "net/certificates/certificate.h"

namespace trefoil::apps {
namespace {

namespace fs = std::filesystem;

struct TrustOptions {
  std::string config;
  int peer = 0;
  std::string certificate;
  jobs::JobTypes types;
};

std::string Date(std::chrono::system_clock::time_point time) {
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

/// The fingerprint of the certificate in a file, or nothing where there is none.
std::optional<std::string> FingerprintOf(const fs::path& file) {
  if (!fs::exists(file)) return {};
  try {
    return net::Fingerprint(ReadTextFile(file, "a certificate"));
  } catch (const ConfigError&) {
    return {};
  }
}

net::CertificateInfo InspectFile(const std::string& pem, const std::string& file) {
  if (pem.find("PRIVATE KEY") != std::string::npos) {
    throw ConfigError(file +
                      ": found a private key, expected a certificate alone; its owner must make a new key");
  }
  try {
    return net::Inspect(pem);
  } catch (const ConfigError& error) {
    throw ConfigError(file + ": " + error.what());
  }
}

/// What to say where the certificate, whose name `init` chose, names another party. The name proves nothing:
/// who made the certificate chose it.
std::string NameDoubt(const std::string& name, int peer) {
  if (!name.starts_with("party-") || name == fmt::format("party-{}", peer)) return {};
  return fmt::format(
      "warning: its name is {}, expected party-{} (--peer {}): is it the right file, and the right party?\n",
      name, peer, peer);
}

int Trust(const TrustOptions& options) {
  const auto party = jobs::ReadParty(options.config, options.types);
  if (options.peer == party.id) {
    throw ConfigError(fmt::format("--peer: found {}, expected another party than the one of {}", options.peer,
                                  options.config));
  }
  const auto& peer = party.peers[0].id == options.peer ? party.peers[0] : party.peers[1];
  const auto& other = party.peers[0].id == options.peer ? party.peers[1] : party.peers[0];
  const auto pem = ReadTextFile(options.certificate, "a certificate");
  const auto info = InspectFile(pem, options.certificate);
  if (FingerprintOf(party.certificate) == info.fingerprint) {
    throw ConfigError(fmt::format("{}: found this party's own certificate, expected party {}'s",
                                  options.certificate, peer.id));
  }
  if (FingerprintOf(other.certificate) == info.fingerprint) {
    throw ConfigError(fmt::format("{}: found party {}'s certificate, expected party {}'s",
                                  options.certificate, other.id, peer.id));
  }
  const auto before = FingerprintOf(peer.certificate);
  const auto doubt = NameDoubt(info.common_name, peer.id);
  fs::create_directories(peer.certificate.parent_path());
  WriteTextFile(peer.certificate, pem);
  std::cout << fmt::format("party {}: stored as {}\nname        {}\nvalid until {}\nfingerprint {}\n",
                           peer.id, peer.certificate.string(), info.common_name, Date(info.not_after),
                           info.fingerprint);
  std::cout << doubt;
  if (before && before != info.fingerprint) std::cout << fmt::format("in place of {}\n", *before);
  std::cout << fmt::format("Compare the fingerprint with party {} by telephone before the first run.\n",
                           peer.id);
  return kDone;
}

}  // namespace

void AddTrust(CLI::App& program, Action& action, jobs::JobTypes types) {
  auto options = std::make_shared<TrustOptions>();
  options->types = types;
  auto* command = program.add_subcommand("trust", "Store a partner's certificate, showing its fingerprint");
  command->add_option("--config", options->config, "This party's party file")->required();
  command->add_option("--peer", options->peer, "Whose certificate it is")
      ->required()
      ->check(CLI::Range(0, 2));
  command->add_option("CERTIFICATE", options->certificate, "The certificate that the partner sent")
      ->required();
  command->callback([options, &action] { action = [options] { return Trust(*options); }; });
}

}  // namespace trefoil::apps
