#include <spdlog/fmt/fmt.h>

#include <chrono>
#include <iostream>
#include <memory>
#include <thread>

#include "apps/cli/command.h"
#include "apps/owners/deposit_settings.h"
#include "base/error.h"
#include "base/files/open_files.h"
#include "base/secrets/locked_memory.h"
#include "deposit/inbox/inbox.h"
#include "net/http/https_server.h"
#include "runtime/mesh_setup.h"
#include "runtime/stop_signals.h"

namespace trefoil::apps {
namespace {

constexpr std::chrono::milliseconds kLook{100};

struct InboxOptions {
  std::string config;
  std::string study;
  std::string listen;
  std::uint64_t most_mib = 256;
  jobs::JobTypes types;
};

/// Whole lines, since two threads write them.
void PrintWhole(const std::string& line) { std::cout << line + "\n" << std::flush; }

int ServeInbox(const InboxOptions& options) {
  RequireOpenFiles(kOpenFilesOfParty);
  (void)LockAllMemory();  // shares are kept from swap space where the system lets them
  const auto party = ReadPartyWithDeposits(options.config, options.types);
  const auto address = jobs::ParseAddress(options.listen);
  auto identity = runtime::ReadIdentity(party);
  const auto fingerprint = net::Fingerprint(identity.certificate_pem);
  auto taking = deposit::OpenStore(party);
  deposit::InboxSettings settings{
      .reader = {.study = deposit::ReadStudy(options.study),
                 .party = party.id,
                 .key = deposit::ReadKeyPair(deposit::KeyKind::kParty, party.deposits->key),
                 .owners = {}},
      .owners = party.deposits->owners,
      .parts = party.deposits->store / deposit::kPartsFolder,
      .identity = runtime::ReadIdentity(party),
      .most_bytes = options.most_mib << 20,
      .log = &PrintWhole};
  deposit::Inbox inbox(std::move(settings), std::move(taking), deposit::OpenStore(party));
  runtime::NoteStopSignals();
  const net::HttpsServer server({.host = address.host,
                                 .port = address.port,
                                 .identity = std::move(identity),
                                 .log = &PrintWhole,
                                 .open = [&inbox](const net::UploadHead& head) { return inbox.Open(head); }});
  PrintWhole(fmt::format("listening on {}, certificate {}", options.listen, fingerprint));
  while (runtime::StopSignal() == 0) std::this_thread::sleep_for(kLook);
  throw StoppedError(runtime::StopSignal(), fmt::format("stopped by signal {}", runtime::StopSignal()));
}

}  // namespace

void AddInbox(CLI::App& program, Action& action, jobs::JobTypes types) {
  auto options = std::make_shared<InboxOptions>();
  options->types = types;
  auto* command = program.add_subcommand(
      "inbox", "Take deposits of owners over HTTPS into this party's store, until it is stopped");
  command->add_option("--config", options->config, "This party's party file")->required();
  command->add_option("--study", options->study, "The file study.toml")->required();
  command->add_option("--listen", options->listen, "host:port of this machine to listen on")->required();
  command
      ->add_option("--most", options->most_mib,
                   "The largest deposit that is taken, in MiB; memory is up to four times that")
      ->capture_default_str()
      ->check(CLI::Range(1, 8192));
  command->callback([options, &action] { action = [options] { return ServeInbox(*options); }; });
}

}  // namespace trefoil::apps
