#include <spdlog/fmt/chrono.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <ctime>
#include <iostream>
#include <memory>

#include "apps/cli/command.h"
#include "apps/owners/check_together.h"
#include "apps/owners/deposit_settings.h"
#include "base/error.h"
#include "base/error_report.h"
#include "base/files/files.h"
#include "base/secrets/locked_memory.h"
#include "base/secrets/sha256.h"
#include "deposit/store/open_store.h"

namespace trefoil::apps {
namespace {

struct StoreOptions {
  std::string config;
  std::string study;
  std::vector<std::string> files;
  std::string id;
  std::vector<std::string> ids;
  bool undo = false;
  std::size_t threads = 0;
  jobs::JobTypes types;
};

std::string Time(std::uint64_t seconds) {
  // The owner's clock may say anything; beyond the year 9999 it is no date.
  const auto time = static_cast<std::time_t>(std::min<std::uint64_t>(seconds, 253'402'300'799));
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(time));
}

const char* Told(deposit::WithdrawalResult result) {
  switch (result) {
    case deposit::WithdrawalResult::kDeleted:
      return "is withdrawn, and deleted";
    case deposit::WithdrawalResult::kAhead:
      return "is not here, and will be refused if it comes";
    case deposit::WithdrawalResult::kAgain:
      break;
  }
  return "was withdrawn before";
}

/// Calls take(name) for each file or id, whatever becomes of those before. The exit code of the first that
/// was not taken, or could not be read.
template <typename Take>
int TakeEach(const std::vector<std::string>& names, const Take& take) {
  int code = kDone;
  const auto note = [&](const std::exception& error) {
    ReportError(error.what());
    if (code == kDone) code = ExitCodeOf(error);
  };
  for (const auto& name : names) {
    try {
      take(name);
    } catch (const std::runtime_error& error) {
      note(error);
    }
  }
  return code;
}

int Accept(const StoreOptions& options) {
  (void)LockAllMemory();  // shares are kept from swap space where the system lets them; here and below
  const auto party = ReadPartyWithDeposits(options.config, options.types);
  const deposit::DepositReader reader{
      .study = deposit::ReadStudy(options.study),
      .party = party.id,
      .key = deposit::ReadKeyPair(deposit::KeyKind::kParty, party.deposits->key),
      .owners = deposit::ReadTrustedOwners(party.deposits->owners)};
  auto store = deposit::OpenStore(party);
  return TakeEach(options.files, [&](const std::string& file) {
    const auto opened = deposit::ReadDeposit(file, reader);
    store.Accept(opened, reader.study, file, static_cast<std::uint64_t>(std::time(nullptr)));
    std::cout << fmt::format("{}: taken: deposit {} of {}, population {}, purpose {}, {} rows\n", file,
                             ToHex(opened.id), opened.owner, opened.header.population, opened.header.purpose,
                             opened.header.capacity)
              << std::flush;
  });
}

int TakeWithdrawals(const StoreOptions& options) {
  const auto party = ReadPartyWithDeposits(options.config, options.types);
  const auto owners = deposit::ReadTrustedOwners(party.deposits->owners);
  auto store = deposit::OpenStore(party);
  return TakeEach(options.files, [&](const std::string& file) {
    const auto withdrawal = deposit::ParseWithdrawal(ReadTextFile(file, "a withdrawal"), file);
    const auto result =
        store.Withdraw(withdrawal, owners, file, static_cast<std::uint64_t>(std::time(nullptr)));
    std::cout << fmt::format("{}: deposit {} {}\n", file, ToHex(withdrawal.deposit), Told(result))
              << std::flush;
  });
}

int ListWithdrawals(const StoreOptions& options) {
  auto store = deposit::OpenStore(ReadPartyWithDeposits(options.config, options.types));
  for (const auto& one : store.Withdrawals())
    std::cout << fmt::format("{}  {}  {}\n", ToHex(one.deposit), one.owner, Time(one.withdrawn));
  return kDone;
}

int SetAside(const StoreOptions& options) {
  auto store = deposit::OpenStore(ReadPartyWithDeposits(options.config, options.types));
  const auto told = [&](bool changed) {
    if (options.undo) return changed ? "is used again" : "was not set aside";
    return changed ? "is set aside" : "was set aside before";
  };
  return TakeEach(options.ids, [&](const std::string& name) {
    const auto id = deposit::FromHex(name);
    if (!id)
      throw ConfigError(
          fmt::format("ID: found \"{}\", expected a deposit's id, as store list shows it", name));
    const bool changed = store.SetAside(*id, !options.undo, static_cast<std::uint64_t>(std::time(nullptr)));
    std::cout << fmt::format("deposit {} {}\n", name, told(changed)) << std::flush;
  });
}

void PrintLine(const deposit::StoredDeposit& one) {
  std::cout << fmt::format("{}  {}  {}  {}  {} rows  {}{}{}\n", ToHex(one.id), one.owner,
                           one.header.population, one.header.purpose, one.header.capacity, Time(one.accepted),
                           one.spent_by.empty() ? "" : "  spent", one.set_aside == 0 ? "" : "  set aside");
}

int List(const StoreOptions& options) {
  auto store = deposit::OpenStore(ReadPartyWithDeposits(options.config, options.types));
  for (const auto& one : store.List()) PrintLine(one);
  return kDone;
}

int Show(const StoreOptions& options) {
  auto store = deposit::OpenStore(ReadPartyWithDeposits(options.config, options.types));
  for (const auto& one : store.List()) {
    if (ToHex(one.id) != options.id) continue;
    const auto& header = one.header;
    std::cout << fmt::format(
        "deposit     {}\nstudy       {}\nowner       {}\nkey         {}\npopulation  {}\npurpose     {}\n"
        "adds        {}\nrows        {}\nmade        {}, by the owner's clock\ntaken       {}\n",
        ToHex(one.id), ToHex(header.study), one.owner,
        deposit::Fingerprint(deposit::KeyKind::kOwner, header.owner), header.population, header.purpose,
        header.adds ? "yes" : "no", header.capacity, Time(header.time), Time(one.accepted));
    if (!one.spent_by.empty()) std::cout << fmt::format("spent       by run {}\n", one.spent_by);
    if (one.set_aside != 0) std::cout << fmt::format("set aside   {}\n", Time(one.set_aside));
    return kDone;
  }
  throw DataError(
      fmt::format("{}: found no deposit {}, expected one of store list", options.config, options.id));
}

int Verify(const StoreOptions& options) {
  (void)LockAllMemory();
  auto store = deposit::OpenStore(ReadPartyWithDeposits(options.config, options.types));
  int verified = 0;
  int code = kDone;
  for (const auto& one : store.List()) {
    try {
      if (store.Verify(one)) ++verified;
    } catch (const std::runtime_error& error) {
      ReportError(error.what());
      code = kData;
    }
  }
  for (const auto& stray : store.Strays())
    std::cout << fmt::format("{}: of an acceptance or withdrawal that did not end; repeat that\n",
                             stray.string());
  if (code == kDone) std::cout << fmt::format("{} deposits, each as it was taken\n", verified);
  return code;
}

int Check(const StoreOptions& options) {
  (void)LockAllMemory();
  const auto party = ReadPartyWithDeposits(options.config, options.types);
  auto store = deposit::OpenStore(party);
  return CheckTogether(party, deposit::ReadStudy(options.study), store, options.threads);
}

/// A command with its options, of which the party file is one.
CLI::App* AddStoreCommand(CLI::App& program, Action& action, const char* name, const char* help,
                          const std::shared_ptr<StoreOptions>& options, int (*run)(const StoreOptions&)) {
  auto* command = program.add_subcommand(name, help);
  command->add_option("--config", options->config, "This party's party file")->required();
  command->callback([options, &action, run] { action = [options, run] { return run(*options); }; });
  return command;
}

}  // namespace

void AddAccept(CLI::App& program, Action& action, jobs::JobTypes types) {
  auto options = std::make_shared<StoreOptions>();
  options->types = types;
  auto* command = AddStoreCommand(
      program, action, "accept",
      "Take owners' deposits into this party's store, or refuse them (exit code 4)", options, &Accept);
  command->add_option("--study", options->study, "The file study.toml")->required();
  command->add_option("FILE", options->files, "Deposits for this party, as owners sent them")->required();
}

void AddStore(CLI::App& program, Action& action, jobs::JobTypes types) {
  auto options = std::make_shared<StoreOptions>();
  options->types = types;
  auto* store = program.add_subcommand("store", "The deposits that this party took");
  store->require_subcommand(1);
  AddStoreCommand(*store, action, "list", "One line for each", options, &List);
  auto* show = AddStoreCommand(*store, action, "show", "What one deposit says of itself", options, &Show);
  show->add_option("ID", options->id, "The deposit's id")->required();
  auto* withdraw = AddStoreCommand(*store, action, "withdraw",
                                   "Delete what owners withdraw, for ever, or refuse to (exit code 4)",
                                   options, &TakeWithdrawals);
  withdraw->add_option("FILE", options->files, "Withdrawals, as owners sent them")->required();
  AddStoreCommand(*store, action, "withdrawals", "One line for each", options, &ListWithdrawals);
  auto* aside = AddStoreCommand(*store, action, "set-aside",
                                "Use deposits in no run and no check, once every party that has them says so",
                                options, &SetAside);
  aside->add_option("ID", options->ids, "The deposits' ids")->required();
  aside->add_flag("--undo", options->undo, "Use them again");
  AddStoreCommand(*store, action, "verify", "Read them all again: whether each is as it was taken", options,
                  &Verify);
  auto* check = AddStoreCommand(*store, action, "check",
                                "With both peers, who call the same: whether the rows of a study's deposits "
                                "are records, on shares (exit code 4 where one's are not)",
                                options, &Check);
  check->add_option("--study", options->study, "The file study.toml")->required();
  check->add_option("--threads", options->threads, "Threads; the default is all cores")
      ->check(CLI::Range(1, 1024));
}

}  // namespace trefoil::apps
