#include "apps/owners/open_command.h"

#include <spdlog/fmt/fmt.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/error_report.h"
#include "base/files/files.h"
#include "base/secrets/locked_memory.h"
#include "base/secrets/sha256.h"
#include "deposit/format/bytes.h"
#include "deposit/format/slots.h"
#include "deposit/make_deposit.h"
#include "deposit/predictions.h"
#include "deposit/read_deposit.h"

namespace trefoil::apps {
namespace {

namespace fs = std::filesystem;

struct OpenOptions {
  std::string key;
  std::string deposit;
  std::string study;
  std::string out;
  std::vector<std::string> files;
};

/// A deposit of this owner's, by what party 0's file of it begins with.
struct OwnDeposit {
  deposit::Hash id{};
  deposit::Hash study{};
};

OwnDeposit ReadOwn(const fs::path& file, const deposit::KeyPair& owner) {
  const auto text = ReadTextFile(file, "the deposit's file", kLargestOwnFile);
  if (text.size() < deposit::kPrefixBytes)
    throw DataError(file.string() + ": found another kind of file, expected a deposit");
  const auto prefix =
      deposit::CheckedPrefix(deposit::BytesOf(text).first<deposit::kPrefixBytes>(), text.size(), 0,
                             {{.name = "this owner", .key = owner.known}}, file);
  const auto encoded = std::string_view(text).substr(deposit::kPrefixBytes, prefix.header_bytes);
  const auto header = deposit::DecodeHeader(encoded);
  if (!header || deposit::DepositId(encoded) != prefix.id)
    throw DataError(file.string() +
                    ": found a header that was changed, expected the one that its owner signed");
  return {.id = prefix.id, .study = header->study};
}

int Open(const OpenOptions& options) {
  (void)LockAllMemory();  // predictions are kept from swap space where the system lets them
  if (fs::exists(options.out))
    throw ConfigError(options.out + ": exists already, and is not overwritten; choose another --out");
  const auto study = deposit::ReadStudy(options.study);
  const auto owner = deposit::ReadKeyPair(deposit::KeyKind::kOwner, options.key);
  const fs::path folder = options.deposit;
  const auto own = ReadOwn(folder / deposit::FileNameOf(0), owner);
  if (deposit::IdOf(study) != own.study)
    throw DataError(fmt::format("{}: found study {}, expected {}, that of the deposit in {}", options.study,
                                ToHex(deposit::IdOf(study)), ToHex(own.study), folder.string()));
  std::vector<deposit::PredictionsPart> parts;
  std::vector<fs::path> files;
  for (const auto& file : options.files) {
    files.emplace_back(file);
    parts.push_back(
        deposit::OpenPredictions(ReadTextFile(file, "predictions of a party", kLargestOwnFile), owner, file));
    if (parts.back().header.deposit != own.id)
      throw DataError(fmt::format("{}: found predictions of deposit {}, expected those of {}, the one in {}",
                                  file, ToHex(parts.back().header.deposit), ToHex(own.id), folder.string()));
  }
  const auto results = deposit::AddUp(parts, files);
  const auto& header = parts.front().header;
  const auto of_records = deposit::ReadSlots(folder / deposit::kSlotsFile, header.deposit, header.rows);
  WriteSecretFile(options.out, deposit::PredictionsCsvOf(header, results, of_records, study.records));
  std::cout << fmt::format("deposit {}\nrun     {}\n{} predictions: {}\n", ToHex(header.deposit),
                           ToHex(header.run), of_records.size(), options.out);
  return kDone;
}

}  // namespace

void AddOwnerOpen(CLI::App& owner, Action& action) {
  auto options = std::make_shared<OpenOptions>();
  auto* command = owner.add_subcommand(
      "open", "Read the predictions of deposited rows that the three parties sealed to the owner");
  command->add_option("--key", options->key, "The owner's signing key, owner.key of `trefoil owner init`")
      ->required();
  command
      ->add_option("--deposit", options->deposit,
                   "The folder that trefoil deposit made, with party-0.deposit and slots.csv")
      ->required();
  command->add_option("--study", options->study, "The file study.toml")->required();
  command->add_option("--out", options->out, "The file predictions.csv to write (mode 0600)")->required();
  command->add_option("FILE", options->files, "The three parties' files, predictions-ID.sealed")
      ->required()
      ->expected(3);
  command->callback([options, &action] { action = [options] { return Open(*options); }; });
}

}  // namespace trefoil::apps
