#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "apps/cli/command.h"
#include "apps/owners/deposit_settings.h"
#include "apps/owners/open_command.h"
#include "base/error.h"
#include "base/error_report.h"
#include "deposit/keys.h"
#include "deposit/trusted_owners.h"
#include "jobs/config/domains.h"

namespace trefoil::apps {
namespace {

struct TrustOwnerOptions {
  std::string config;
  std::string name;
  std::string key;
  jobs::JobTypes types;
};

int InitOwner(const std::string& folder) {
  const auto pair = deposit::MakeKeyPair(deposit::KeyKind::kOwner);
  deposit::WriteKeyPair(deposit::KeyKind::kOwner, pair, folder);
  std::cout << fmt::format(
      "owner: {0}/owner.key\nfingerprint {1}\n"
      "Next: send {0}/owner.pub to the three parties, who compare the fingerprint with you by telephone and "
      "run `trefoil trust-owner`.\n",
      folder, deposit::Fingerprint(deposit::KeyKind::kOwner, pair.known));
  return kDone;
}

int MakeDepositKey(const std::string& folder) {
  const auto pair = deposit::MakeKeyPair(deposit::KeyKind::kParty);
  deposit::WriteKeyPair(deposit::KeyKind::kParty, pair, folder);
  std::cout << fmt::format(
      "deposit key: {0}/deposit.key\nfingerprint {1}\n"
      "Next: name it in [deposits] of party.toml, as `key`, with folders for the owners' keys, as `owners`, "
      "and for "
      "what is taken, as `store`; send {0}/deposit.pub to whoever writes the study.\n",
      folder, deposit::Fingerprint(deposit::KeyKind::kParty, pair.known));
  return kDone;
}

int TrustOwner(const TrustOwnerOptions& options) {
  const auto party = ReadPartyWithDeposits(options.config, options.types);
  if (!jobs::IsName(options.name)) {
    throw ConfigError(
        fmt::format("--name: found \"{}\", expected {}", options.name, jobs::Name().Expected(nullptr)));
  }
  const deposit::TrustedOwner owner{.name = options.name,
                                    .key = deposit::ReadPublicKey(deposit::KeyKind::kOwner, options.key)};
  std::string before;
  for (const auto& known : deposit::ReadTrustedOwners(party.deposits->owners)) {
    if (known.name == owner.name) {
      before = deposit::Fingerprint(deposit::KeyKind::kOwner, known.key);
    } else if (known.key == owner.key) {
      throw ConfigError(
          fmt::format("{}: found the key of {}, expected {}'s", options.key, known.name, owner.name));
    }
  }
  const auto file = deposit::WriteTrustedOwner(party.deposits->owners, owner);
  const auto fingerprint = deposit::Fingerprint(deposit::KeyKind::kOwner, owner.key);
  std::cout << fmt::format("owner {}: stored as {}\nfingerprint {}\n", owner.name, file.string(),
                           fingerprint);
  if (!before.empty() && before != fingerprint) std::cout << fmt::format("in place of {}\n", before);
  std::cout << fmt::format("Compare the fingerprint with {} by telephone before a deposit of it is taken.\n",
                           owner.name);
  return kDone;
}

/// A command whose one option is the folder that it writes keys to.
void AddKeyMaker(CLI::App& program, Action& action, const char* name, const char* help,
                 int (*make)(const std::string&)) {
  auto folder = std::make_shared<std::string>();
  auto* command = program.add_subcommand(name, help);
  command->add_option("--out", *folder, "Folder to write to")->required();
  command->callback([folder, &action, make] { action = [folder, make] { return make(*folder); }; });
}

}  // namespace

void AddOwner(CLI::App& program, Action& action) {
  auto* owner = program.add_subcommand("owner", "What an owner does who deposits records and runs no party");
  owner->require_subcommand(1);
  AddKeyMaker(*owner, action, "init", "Make an owner's signing key", &InitOwner);
  AddOwnerOpen(*owner, action);
}

void AddDepositKey(CLI::App& program, Action& action) {
  AddKeyMaker(program, action, "deposit-key",
              "Make a deposit key for a party that `init` made none for, or a new one", &MakeDepositKey);
}

void AddTrustOwner(CLI::App& program, Action& action, jobs::JobTypes types) {
  auto options = std::make_shared<TrustOwnerOptions>();
  options->types = types;
  auto* command = program.add_subcommand(
      "trust-owner", "Store the key of an owner whose deposits are taken, showing its fingerprint");
  command->add_option("--config", options->config, "This party's party file")->required();
  command->add_option("--name", options->name, "By what name this party knows the owner")->required();
  command->add_option("KEY", options->key, "The file owner.pub that the owner sent")->required();
  command->callback([options, &action] { action = [options] { return TrustOwner(*options); }; });
}

}  // namespace trefoil::apps
