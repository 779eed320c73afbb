#include "jobs/pate/teacher_labels.h"

#include <spdlog/fmt/fmt.h>

#include "base/error.h"

namespace trefoil::jobs {

namespace fs = std::filesystem;

fs::path FindBallotFile(const fs::path& folder, const std::vector<std::string>& names, const char* what) {
  for (const auto& one : names) {
    if (fs::is_regular_file(folder / one)) return folder / one;
  }
  throw DataError(
      fmt::format("{}: found no {}, expected {}", folder.string(), what, fmt::join(names, " or ")));
}

void DealQueries(const fs::path& queries, const SplitTarget& deal) {
  for (std::size_t j = 0; j < deal.party_folders.size(); ++j) {
    auto& named = deal.parties.at(j).pate.queries;
    named = fs::path("data") / queries.filename();
    fs::create_directories(deal.party_folders.at(j) / "data");
    fs::copy_file(queries, deal.party_folders.at(j) / named);
  }
}

std::string DealBallots(const Ballots& ballots, const fs::path& source, const fs::path& queries,
                        const SplitTarget& deal) {
  const auto& voters = ballots.voters;
  const auto predictions =
      FindBallotFile(source, {"predictions.npy", "predictions.csv"}, "predictions of all teachers");
  const auto labels =
      data::ReadTeacherLabels(predictions, ballots.ShapeFor(voters[0] + voters[1] + voters[2]));
  DealQueries(queries, deal);
  auto first = labels.begin();
  for (std::size_t j = 0; j < deal.party_folders.size(); ++j) {
    const auto& folder = deal.party_folders.at(j);
    auto& files = deal.parties.at(j).pate;
    const auto last = first + voters.at(j);
    if (first != last) {
      files.predictions = fs::path("data") / "predictions.npy";
      data::WriteTeacherLabels(folder / files.predictions, {first, last});
    }
    first = last;
  }
  return fmt::format("dealing the predictions of {} to three parties: {}, {} and {} teachers",
                     predictions.lexically_normal().string(), voters[0], voters[1], voters[2]);
}

void NeedBallotFile(const fs::path& file, const std::string& party_file, const char* key, const char* what) {
  if (file.empty()) throw ConfigError(fmt::format("{}: missing pate.{}, expected {}", party_file, key, what));
}

std::vector<std::vector<int>> LoadBallots(const Ballots& ballots, const PartyFile& party,
                                          const std::string& party_file) {
  NeedBallotFile(party.pate.queries, party_file, "queries",
                 "the file of public queries, the same at all three");
  if (party.ledger && party.data.empty())
    throw ConfigError(party_file +
                      ": missing [data], expected the teachers' training data, which the ledger is of");
  const auto count = ballots.voters.at(static_cast<std::size_t>(party.id));
  if (count == 0) {
    if (party.pate.predictions.empty()) return {};
    throw ConfigError(party_file +
                      ": pate.predictions: found a file, expected none: the job declares no teachers here");
  }
  NeedBallotFile(party.pate.predictions, party_file, "predictions", "the labels of this party's teachers");
  return data::ReadTeacherLabels(party.pate.predictions, ballots.ShapeFor(count));
}

}  // namespace trefoil::jobs
