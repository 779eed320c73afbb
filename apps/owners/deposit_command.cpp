#include <spdlog/fmt/fmt.h>

#include <ctime>
#include <iostream>
#include <memory>
#include <optional>

#include "apps/cli/command.h"
#include "apps/owners/batches_text.h"
#include "apps/owners/send_files.h"
#include "base/error.h"
#include "base/error_report.h"
#include "base/secrets/locked_memory.h"
#include "base/secrets/random.h"
#include "base/secrets/sha256.h"
#include "deposit/format/components.h"
#include "deposit/format/slots.h"
#include "deposit/make_deposit.h"
#include "jobs/config/domains.h"
#include "jobs/config/named_files.h"
#include "jobs/owners_rows.h"

namespace trefoil::apps {
namespace {

struct DepositOptions {
  std::string study;
  std::string key;
  std::vector<std::string> in;
  std::string query;
  std::string feature_model;
  std::size_t threads = 0;
  std::optional<std::uint64_t> capacity{};
  deposit::DepositTerms terms;  ///< but the capacity
  std::string out;
  bool send = false;
};

/// Of batches the study says how many rows there are, and nothing of them is predicted.
void CheckTerms(const DepositOptions& options, const deposit::Study& study) {
  const auto most = deposit::LargestCapacity(deposit::LayoutOf(study.records));
  if (const auto batches = deposit::RowsOfBatches(study.records)) {
    if (options.capacity)
      throw ConfigError(fmt::format("--capacity: found {}, expected none: the study's batches have {} rows",
                                    *options.capacity, *batches));
    if (jobs::IsToPredict(options.terms.purpose))
      throw ConfigError(fmt::format(
          "--purpose: found \"{}\", expected another: rows to predict are for a study without batches",
          options.terms.purpose));
  } else if (!options.capacity || *options.capacity < 1 || *options.capacity > most) {
    throw ConfigError(
        fmt::format("--capacity: found {}, expected 1 to {}, the most of this study in one file",
                    options.capacity ? std::to_string(*options.capacity) : "none", most));
  }
  if (study.records.added_up() && jobs::IsToPredict(options.terms.purpose))
    throw ConfigError(
        fmt::format("--purpose: found \"{}\", expected another: rows to predict are records, and this "
                    "study's are added up",
                    options.terms.purpose));
  if (study.records.added_up() && !options.feature_model.empty())
    throw ConfigError(
        fmt::format("--feature-model: found {}, expected none: rows of this study are added up as they are",
                    options.feature_model));
  for (const auto& [option, name] : {std::pair("--population", &options.terms.population),
                                     std::pair("--purpose", &options.terms.purpose)}) {
    if (!jobs::IsName(*name))
      throw ConfigError(
          fmt::format("{}: found \"{}\", expected {}", option, *name, jobs::Name().Expected(nullptr)));
  }
}

/// The records, checked and with their features, as a party's own are. What their owner should know of them
/// is printed.
data::Table LoadOwn(const DepositOptions& options, const jobs::RecordSchema& records) {
  const auto labels = jobs::IsToPredict(options.terms.purpose) || records.added_up()
                          ? data::LabelUse::kIgnored
                          : data::LabelUse::kRead;
  const auto spec = jobs::OwnersFiles(records);
  const auto files = options.query.empty() ? jobs::NamedFiles("--in", options.in, spec, labels)
                                           : jobs::NamedTestData(options.in, spec, labels, options.query);
  auto own = jobs::LoadOwnersRows(
      records, files, {.threads = options.threads, .labels = labels, .feature_model = options.feature_model});
  const auto rows = static_cast<std::uint64_t>(own.table.x.rows());
  const auto& batches = records.store.batches;
  const auto most = batches ? static_cast<std::uint64_t>(batches->records) : options.capacity.value();
  if (rows > most) {
    throw DataError(fmt::format("{}: found {} rows, expected at most the {} of {}", files.place().string(),
                                rows, most, batches ? "the study's batches" : "--capacity"));
  }
  for (const auto& line : own.warnings) std::cerr << "warning to the owner alone: " + OneLine(line) + "\n";
  return std::move(own.table);
}

void MakeFiles(const DepositOptions& options, const deposit::Study& study) {
  CheckTerms(options, study);
  const auto owner = deposit::ReadKeyPair(deposit::KeyKind::kOwner, options.key);
  auto terms = options.terms;
  terms.capacity = deposit::RowsOfBatches(study.records).value_or(options.capacity.value_or(0));
  if (study.records.store.batches) std::cout << BatchesText(study.records) << std::flush;
  const auto table = LoadOwn(options, study.records);
  terms.time = static_cast<std::uint64_t>(std::time(nullptr));
  auto coins = RandomStream::FromSystem();
  const auto made = deposit::MakeDeposit(study, table, terms, owner, coins);
  deposit::WriteDeposit(options.out, made);
  std::cout << fmt::format("deposit {}\nstudy   {}\n{} records in {} rows\n", ToHex(made.id),
                           ToHex(deposit::IdOf(study)), table.x.rows(), terms.capacity);
  for (int party = 0; party < 3; ++party)
    std::cout << fmt::format("party {}: {}/{}, {} bytes\n", party, options.out, deposit::FileNameOf(party),
                             made.files.at(static_cast<std::size_t>(party)).size());
  if (!made.slots.empty())
    std::cout << fmt::format("slots: {0}/{1}: keep it, and {0}/{2}: trefoil owner open needs them\n",
                             options.out, deposit::kSlotsFile, deposit::FileNameOf(0));
  if (!options.send) {
    std::cout << "Next: send each file to its party. Two of them, opened, are the records; one tells nothing "
                 "of them.\n";
  }
}

int Deposit(const DepositOptions& options) {
  (void)LockAllMemory();  // records, seeds and shares are kept from swap space where the system lets them
  const auto study = deposit::ReadStudy(options.study);
  if (options.send) CheckInboxes(study);
  if (!options.send || !options.in.empty()) {
    for (const auto& [option, missing] :
         {std::pair("--in", options.in.empty()), std::pair("--key", options.key.empty())})
      if (missing) throw ConfigError(fmt::format("{} is required", option));
    MakeFiles(options, study);
  }
  return options.send ? SendFiles(options.out, study) : kDone;
}

}  // namespace

void AddDeposit(CLI::App& program, Action& action) {
  auto options = std::make_shared<DepositOptions>();
  auto* command = program.add_subcommand(
      "deposit", "Make the three files by which an owner hands in records, one for each party");
  command->add_option("--study", options->study, "The file study.toml")->required();
  command->add_option("--key", options->key, "The owner's signing key, owner.key of `trefoil owner init`");
  command->add_option(
      "--in", options->in,
      "The records, in the study's format: one table, or features and labels, or several files of one "
      "CSV table, or a folder of images; of vectors one NPY file");
  command->add_option("--query", options->query,
                      "The SELECT that gives the table, where --in is an SQLite database or postgres:WHICH");
  command->add_option(
      "--capacity", options->capacity,
      "Rows that the files are made for: all that they tell of how many records there are; of a study "
      "of batches it is the study's, and not given");
  command
      ->add_option("--population", options->terms.population, "The owner's name for whose records they are")
      ->capture_default_str();
  command
      ->add_option("--purpose", options->terms.purpose,
                   "What they are for, as in train; predict, and what begins with predict-: rows to predict, "
                   "whose labels are not looked at")
      ->capture_default_str();
  command->add_flag(
      "--adds", options->terms.adds,
      "No record is in another deposit of this population and purpose, beside which this one stands");
  command->add_option("--feature-model", options->feature_model,
                      "The ONNX model, where the study's features want one");
  command->add_option("--threads", options->threads, "Threads for features; 0: all cores")
      ->capture_default_str();
  command->add_flag(
      "--send", options->send,
      "Upload the files to the parties' inboxes, which the study names; without --in those that are in --out "
      "already, which goes on where it ended");
  command->add_option("--out", options->out, "Folder to make")->required();
  command->callback([options, &action] { action = [options] { return Deposit(*options); }; });
}

}  // namespace trefoil::apps
