#include <spdlog/fmt/fmt.h>

#include <filesystem>
#include <iostream>
#include <memory>

#include "apps/cli/command.h"
#include "apps/owners/batches_text.h"
#include "base/error.h"
#include "base/error_report.h"
#include "base/files/files.h"
#include "base/secrets/sha256.h"
#include "deposit/study.h"
#include "jobs/config/party_file.h"
#include "jobs/job.h"
#include "net/certificates/certificate.h"

namespace trefoil::apps {
namespace {

struct StudyOptions {
  std::string job;
  std::vector<std::string> assignments;
  std::vector<std::string> keys;
  std::vector<std::string> inboxes;
  std::vector<std::string> certificates;
  std::string out;
  jobs::JobTypes types;
};

/// What an owner should compare and know before it hands in records.
void Print(const deposit::Study& study) {
  const auto layout = deposit::LayoutOf(study.records);
  std::cout << fmt::format("study       {}\nid          {}\nrows        {} {} of {} bits, norm at most {}\n",
                           study.records.name, ToHex(deposit::IdOf(study)), layout.features,
                           study.records.added_up() ? "numbers" : "features", layout.feature_bits,
                           study.records.features.row_norm);
  if (study.records.store.batches) std::cout << BatchesText(study.records);
  for (const auto& party : study.parties) {
    std::cout << fmt::format("party {}     {}\n", party.id, party.fingerprint);
    if (!party.inbox.empty())
      std::cout << fmt::format("  inbox     {}\n            {}\n", party.inbox, party.certificate);
  }
}

int InitStudy(const StudyOptions& options) {
  const auto job = jobs::ReadJob(options.job, options.assignments, options.types);
  const auto* records = job->Records();
  if (records == nullptr)
    throw ConfigError(fmt::format(
        "{}: found a job of type \"{}\" that reads no records which owners could deposit, expected "
        "one that does",
        options.job, job->type()));
  if (records->features.standardise.on)
    throw ConfigError(fmt::format(
        "{}: features.standardise: found \"private\", expected \"none\" for a study, whose owners hand in "
        "rows that are standardised already",
        options.job));
  std::array<deposit::PublicKey, 3> keys{};
  for (std::size_t i = 0; i < keys.size(); ++i)
    keys[i] = deposit::ReadPublicKey(deposit::KeyKind::kParty, options.keys.at(i));
  if (std::filesystem::exists(options.out))
    throw ConfigError(options.out + ": exists already, and is not overwritten; choose another --out");
  auto study = deposit::MakeStudy(*records, keys);
  for (std::size_t i = 0; i < options.inboxes.size(); ++i) {
    study.parties[i].inbox = jobs::ToText(jobs::ParseAddress(options.inboxes[i]));
    study.parties[i].certificate =
        net::Fingerprint(ReadTextFile(options.certificates.at(i), "a party's certificate, party.crt"));
  }
  WriteTextFile(options.out, deposit::TomlOf(study));
  Print(study);
  std::cout << fmt::format("Next: send {} to parties and owners, who compare the id with each other.\n",
                           options.out);
  return kDone;
}

}  // namespace

void AddStudy(CLI::App& program, Action& action, jobs::JobTypes types) {
  auto options = std::make_shared<StudyOptions>();
  options->types = types;
  auto* study =
      program.add_subcommand("study", "What owners who run no party need to know to deposit records");
  study->require_subcommand(1);
  auto* init = study->add_subcommand("init", "Write it, from a job and the three parties' deposit keys");
  init->add_option(
          "--job", options->job,
          "The job: its columns, features, fraction bits and row norm are taken; of type sum its vectors' "
          "numbers and norm, of type statistics its columns and what is released")
      ->required();
  init->add_option("--set", options->assignments,
                   "KEY=VALUE of the job, in place of what it says; may be repeated")
      ->allow_extra_args(false);
  init->add_option("--keys", options->keys, "deposit.pub of parties 0, 1 and 2, in this order")
      ->required()
      ->expected(3);
  auto* inboxes = init->add_option("--inboxes", options->inboxes,
                                   "host:port of the inboxes of parties 0, 1 and 2, for deposit --send")
                      ->expected(3);
  init->add_option("--certificates", options->certificates,
                   "party.crt of parties 0, 1 and 2, which their inboxes show")
      ->expected(3)
      ->needs(inboxes);
  inboxes->needs("--certificates");
  init->add_option("--out", options->out, "The file to write, as in study.toml")->required();
  init->callback([options, &action] { action = [options] { return InitStudy(*options); }; });
  auto file = std::make_shared<std::string>();
  auto* show = study->add_subcommand("show", "Check a study, and print its id and the parties' fingerprints");
  show->add_option("STUDY", *file, "The file study.toml")->required();
  show->callback([file, &action] {
    action = [file] {
      Print(deposit::ReadStudy(*file));
      return kDone;
    };
  });
}

}  // namespace trefoil::apps
