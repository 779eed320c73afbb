#include "deposit/predictions.h"

#include <sodium.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/secrets/sealed_box.h"
#include "base/secrets/sha256.h"
#include "deposit/format/bytes.h"
#include "deposit/format/sealed_body.h"
#include "jobs/evaluation/predictions.h"
#include "ml/on_shares/prediction.h"
#include "mpc/fixed_point.h"

namespace trefoil::deposit {
namespace {

namespace fs = std::filesystem;
using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;

// Also tells the header from a deposit's, with which bodies are sealed as well.
constexpr std::string_view kPredictionsMagic = "trefoil predictions\n";
constexpr std::uint64_t kPredictionsVersion = 1;
constexpr std::uint64_t kMostFractionBits = 62;

[[noreturn]] void RefusePredictions(const fs::path& file, const std::string& found,
                                    const std::string& expected) {
  throw DataError(fmt::format("{}: found {}, expected {}", file.string(), found, expected));
}

template <std::size_t N>
std::array<std::uint8_t, N> BytesOfHex(const std::string& text) {
  std::array<std::uint8_t, N> bytes{};
  std::size_t length = 0;
  const bool whole =
      sodium_hex2bin(bytes.data(), N, text.data(), text.size(), nullptr, &length, nullptr) == 0;
  Require(whole && length == N && text.size() == 2 * N, "SealPredictions: ids in hexadecimal");
  return bytes;
}

PredictionsHeader HeaderOf(const jobs::PartForOwner& part) {
  return {.deposit = BytesOfHex<32>(part.deposit),
          .run = BytesOfHex<16>(part.run),
          .job = BytesOfHex<32>(part.job),
          .rows = static_cast<std::uint64_t>(part.components[0].rows()),
          .columns = static_cast<std::uint64_t>(part.components[0].cols()),
          .scores = part.scores,
          .fraction_bits = static_cast<std::uint64_t>(part.fraction_bits),
          .decision = part.decision};
}

std::string EncodePredictionsHeader(const PredictionsHeader& header, int party) {
  FieldWriter out;
  out.Padded(kPredictionsMagic, kPredictionsMagic.size());
  out.Number(kPredictionsVersion, 4);
  out.Number(static_cast<std::uint64_t>(party), 4);
  out.Bytes(header.deposit);
  out.Bytes(header.run);
  out.Bytes(header.job);
  out.Number(header.rows, 8);
  out.Number(header.columns, 4);
  out.Number(header.scores ? 1 : 0, 2);
  out.Number(header.fraction_bits, 2);
  out.Number(header.decision, 8);
  return out.text();
}

/// Party and header, as the bytes behind the version say. Nothing that is not there is looked at.
PredictionsPart DecodePredictionsHeader(FieldReader in, const fs::path& file) {
  PredictionsPart part;
  const auto party = in.Number(4);
  part.header.deposit = in.Array<32>();
  part.header.run = in.Array<16>();
  part.header.job = in.Array<32>();
  part.header.rows = in.Number(8);
  part.header.columns = in.Number(4);
  const auto scores = in.Number(2);
  part.header.scores = scores == 1;
  part.header.fraction_bits = in.Number(2);
  part.header.decision = in.Number(8);
  if (party >= net::kParties || scores > 1 || part.header.fraction_bits > kMostFractionBits ||
      (scores == 0 && part.header.columns != 1))
    RefusePredictions(file, "a header that says nothing", "one that a party's run wrote");
  part.party = static_cast<int>(party);
  return part;
}

/// Bytes of what is sealed; nothing where no file has so many.
std::optional<std::size_t> BodyBytesOf(const PredictionsHeader& header, std::size_t file_bytes) {
  const std::size_t most = file_bytes / (2 * sizeof(Word));
  if (header.rows == 0 || header.columns == 0 || header.rows > most || header.columns > most / header.rows)
    return {};
  return 2 * sizeof(Word) * header.rows * header.columns;
}

RingMatrix TakeWords(FieldReader& in, const PredictionsHeader& header) {
  RingMatrix words(static_cast<Index>(header.rows), static_cast<Index>(header.columns));
  for (Index row = 0; row < words.rows(); ++row)
    for (Index k = 0; k < words.cols(); ++k) words(row, k) = in.Number(sizeof(Word));
  return words;
}

/// By number of the party; of each its part, and what names it in errors.
struct Holder {
  const PredictionsPart* part = nullptr;
  std::string file;
};

std::array<Holder, net::kParties> ByParty(const std::vector<PredictionsPart>& parts,
                                          const std::vector<fs::path>& files) {
  Require(parts.size() == files.size(), "AddUp: a file for each part");
  std::array<Holder, net::kParties> all;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    auto& holder = all.at(static_cast<std::size_t>(parts[k].party));
    if (holder.part != nullptr)
      RefusePredictions(files[k], fmt::format("party {}'s file again", parts[k].party), "one of each party");
    holder = {.part = &parts[k], .file = files[k].string()};
  }
  for (std::size_t k = 0; k < all.size(); ++k)
    if (all.at(k).part == nullptr)
      throw DataError(fmt::format("found no file of party {}, expected one of each party", k));
  return all;
}

/// The party after whose file the components differ: of two such pairs what they have in common.
[[noreturn]] void RefuseDifferent(const std::array<Holder, net::kParties>& all,
                                  const std::vector<std::size_t>& differ) {
  if (differ.size() == 2) {
    // Pairs (i, i + 1) and (i + 1, i + 2) have party i + 1 in common.
    const auto common = (differ[0] + 1) % all.size() == differ[1] ? differ[1] : differ[0];
    throw DataError(
        fmt::format("{}: party {}'s part is not what both others have, expected the same components: that "
                    "file is wrong, or of "
                    "another run of the same job",
                    all.at(common).file, common));
  }
  const auto first = differ[0];
  const auto second = (first + 1) % all.size();
  throw DataError(fmt::format(
      "{} and {}: the parts of parties {} and {} differ in the component that both hold, expected the same: "
      "one of the two is wrong, or of another run of the same job",
      all.at(first).file, all.at(second).file, first, second));
}

}  // namespace

std::string SealPredictions(const jobs::PartForOwner& part, int party, const PublicKey& owner) {
  const auto key = SealingKeyOf(owner);
  Require(key.has_value(), "SealPredictions: a key that can be sealed to");
  Require(part.components[0].size() > 0, "SealPredictions: a row");
  const auto header = EncodePredictionsHeader(HeaderOf(part), party);
  std::vector<std::uint8_t> body;
  // So that it is never moved to another place, which would leave a copy.
  body.reserve(2 * sizeof(Word) * static_cast<std::size_t>(part.components[0].size()));
  std::array<std::uint8_t, sizeof(Word)> bytes{};
  for (const auto& component : part.components) {
    for (Index row = 0; row < component.rows(); ++row) {
      for (Index k = 0; k < component.cols(); ++k) {
        PutNumber(bytes, component(row, k));
        body.insert(body.end(), bytes.begin(), bytes.end());
      }
    }
  }
  const jobs::SecretBytes secret(std::move(body));
  return header + SealBody(secret.bytes(), *key, header);
}

PredictionsPart OpenPredictions(std::string_view content, const KeyPair& owner, const fs::path& file) {
  if (!content.starts_with(kPredictionsMagic))
    RefusePredictions(file, "another kind of file",
                      "predictions, as a party's run of type predict writes them");
  if (content.size() < kPredictionsHeaderBytes)
    RefusePredictions(file, fmt::format("{} bytes", content.size()),
                      fmt::format("at least the {} of a header", kPredictionsHeaderBytes));
  FieldReader in(BytesOf(content.substr(kPredictionsMagic.size())));
  const auto version = in.Number(4);
  if (version != kPredictionsVersion)
    RefusePredictions(file, fmt::format("version {}", version),
                      fmt::format("version {}", kPredictionsVersion));
  auto part = DecodePredictionsHeader(in, file);
  const auto header = content.substr(0, kPredictionsHeaderBytes);
  const auto sealed = BytesOf(content.substr(kPredictionsHeaderBytes));
  const auto body_bytes = BodyBytesOf(part.header, content.size());
  if (!body_bytes || SealedBytes(*body_bytes) != sealed.size())
    RefusePredictions(file, fmt::format("{} bytes", content.size()), "as many as its header says");
  const auto body = OpenBody(sealed, SealingPairOf(owner), header);
  if (!body)
    RefusePredictions(file, "what this owner's key does not open",
                      "the key that signed the deposit, and the file as the party's run wrote it");
  FieldReader words(body->bytes());
  for (auto& component : part.components) component = TakeWords(words, part.header);
  return part;
}

RingMatrix AddUp(const std::vector<PredictionsPart>& parts, const std::vector<fs::path>& files) {
  const auto all = ByParty(parts, files);
  const auto& first = all[0].part->header;
  for (const auto& holder : all) {
    if (holder.part->header != first)
      throw DataError(fmt::format("{} and {}: are of different deposits, runs or jobs, expected one",
                                  all[0].file, holder.file));
  }
  std::vector<std::size_t> differ;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const auto& next = all.at((k + 1) % all.size()).part->components[0];
    if ((all.at(k).part->components[1] != next).any()) differ.push_back(k);
  }
  if (differ.size() == all.size())
    throw DataError(fmt::format("{}, {} and {}: no two of them agree, expected parts of one result",
                                all[0].file, all[1].file, all[2].file));
  if (!differ.empty()) RefuseDifferent(all, differ);
  return all[0].part->components[0] + all[1].part->components[0] + all[2].part->components[0];
}

std::string PredictionsCsvOf(const PredictionsHeader& header, const RingMatrix& results,
                             const std::vector<std::int64_t>& of_records, const jobs::RecordSchema& records) {
  const auto most = static_cast<Word>(records.data.classes);
  const Index logits = most == 2 ? 1 : static_cast<Index>(most);
  if (header.scores && results.cols() != logits)
    throw DataError(fmt::format("found {} logits a row, expected the study's {}", results.cols(), logits));
  std::vector<int> classes;
  Eigen::MatrixXd scores(header.scores ? static_cast<Index>(of_records.size()) : 0, results.cols());
  for (const auto row : of_records) {
    const auto record = static_cast<Index>(classes.size());
    if (header.scores) {
      scores.row(record) =
          mpc::Decode(RingMatrix(results.row(row)), static_cast<int>(header.fraction_bits)).row(0);
      classes.push_back(ml::ClassOf(results, row, header.decision));
      continue;
    }
    if (results(row, 0) >= most)
      throw DataError(fmt::format("record {}: found class {}, expected one of the study's {}", record + 1,
                                  results(row, 0), most));
    classes.push_back(static_cast<int>(results(row, 0)));
  }
  std::vector<jobs::PredictionColumns> columns;
  if (header.scores) columns.push_back({.name = "score", .values = std::move(scores)});
  return jobs::PredictionsCsv(records, classes, columns);
}

}  // namespace trefoil::deposit
