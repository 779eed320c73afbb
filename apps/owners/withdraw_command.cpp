#include <spdlog/fmt/fmt.h>

#include <ctime>
#include <filesystem>
#include <iostream>
#include <memory>

#include "apps/cli/command.h"
#include "base/error.h"
#include "base/error_report.h"
#include "base/files/files.h"
#include "base/secrets/sha256.h"
#include "deposit/withdrawal.h"

namespace trefoil::apps {
namespace {

struct WithdrawOptions {
  std::string key;
  std::string id;
  std::string out;
};

int Withdraw(const WithdrawOptions& options) {
  const auto id = deposit::FromHex(options.id);
  if (!id) {
    throw ConfigError(fmt::format(
        "ID: found \"{}\", expected the 64 hexadecimal digits that trefoil deposit printed", options.id));
  }
  const auto owner = deposit::ReadKeyPair(deposit::KeyKind::kOwner, options.key);
  if (std::filesystem::exists(options.out))
    throw ConfigError(options.out + ": exists already, and is not overwritten; choose another --out");
  WriteTextFile(options.out,
                deposit::SignWithdrawal(*id, static_cast<std::uint64_t>(std::time(nullptr)), owner));
  std::cout << fmt::format("withdrawal of deposit {}: {}\nNext: send it to all three parties.\n", ToHex(*id),
                           options.out);
  return kDone;
}

}  // namespace

void AddWithdraw(CLI::App& program, Action& action) {
  auto options = std::make_shared<WithdrawOptions>();
  auto* command = program.add_subcommand(
      "withdraw", "Make the file by which an owner takes a deposit back: it is deleted and never used again");
  command->add_option("--key", options->key, "The owner's signing key, owner.key of `trefoil owner init`")
      ->required();
  command->add_option("--out", options->out, "The file to write")->required();
  command->add_option("ID", options->id, "The deposit's id, as trefoil deposit printed it")->required();
  command->callback([options, &action] { action = [options] { return Withdraw(*options); }; });
}

}  // namespace trefoil::apps
