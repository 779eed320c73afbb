#include <spdlog/fmt/fmt.h>

#include <iostream>
#include <memory>
#include <sstream>

#include "apps/cli/command.h"
#include "apps/local/deployment.h"
#include "base/error.h"
#include "base/error_report.h"
#include "runtime/hosts.h"

namespace trefoil::apps {
namespace {

struct InitOptions {
  std::optional<int> party;
  bool all = false;
  std::string hosts;
  std::uint16_t base_port = runtime::kDefaultBasePort;
  std::string out;
};

int InitAll(const std::array<jobs::Address, 3>& addresses, const InitOptions& options) {
  auto parties = DescribeParties(addresses);
  for (auto& party : parties) party.deposits = DepositsInFolder();
  const auto fingerprints = MakeAllPartyFolders(parties, options.out);
  for (int id = 0; id < 3; ++id) {
    const auto& of = fingerprints[static_cast<std::size_t>(id)];
    std::cout << fmt::format("party {}: {}, fingerprint {}, of its deposit key {}\n", id,
                             (PartyFolder(options.out, id) / "party.toml").string(), of.certificate,
                             of.deposit_key);
  }
  std::cout
      << "The three folders already hold each other's certificates. Next: write [data] in each party.toml.\n";
  return kDone;
}

int InitOne(const std::array<jobs::Address, 3>& addresses, const InitOptions& options) {
  auto party = DescribeParty(*options.party, addresses);
  party.deposits = DepositsInFolder();
  const auto of = MakePartyFolder(party, options.out);
  std::cout << fmt::format("party {}: {}\nfingerprint {}\nfingerprint of the deposit key {}\n", party.id,
                           options.out + "/party.toml", of.certificate, of.deposit_key)
            << fmt::format(
                   "Next: send {}/party.crt to parties {} and {}, who compare the fingerprint with you by "
                   "telephone\n"
                   "and run `trefoil trust`; do the same with theirs; then write [data] in party.toml.\n",
                   options.out, party.peers[0].id, party.peers[1].id);
  return kDone;
}

int Init(const InitOptions& options) {
  if (options.all == options.party.has_value()) {
    throw ConfigError("init: found " + std::string(options.all ? "both" : "neither") +
                      " of --party and --all, expected one of them");
  }
  const auto addresses = AddressesOf(runtime::ParseHosts(options.hosts), options.base_port);
  return options.all ? InitAll(addresses, options) : InitOne(addresses, options);
}

}  // namespace

void AddInit(CLI::App& program, Action& action) {
  auto options = std::make_shared<InitOptions>();
  auto* command = program.add_subcommand("init", "Make a party's key, certificate and party file");
  command->add_option("--party", options->party, "Which party this organisation is")->check(CLI::Range(0, 2));
  command->add_flag("--all", options->all, "Make all three parties' folders, for trials on one machine");
  command->add_option("--hosts", options->hosts, "Host names or addresses of parties 0, 1 and 2, as a,b,c")
      ->required();
  command
      ->add_option("--base-port", options->base_port,
                   "TCP port; party I uses port + I where hosts are the same")
      ->check(CLI::Range(1, 65535))
      ->capture_default_str();
  command->add_option("--out", options->out, "Folder to write to")->required();
  command->callback([options, &action] { action = [options] { return Init(*options); }; });
}

}  // namespace trefoil::apps
