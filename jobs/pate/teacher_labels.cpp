#include "jobs/pate/teacher_labels.h"

#include <spdlog/fmt/fmt.h>

#include "base/error.h"
#include "data/dataset/folders.h"
#include "jobs/config/fields.h"

namespace trefoil::jobs {

namespace fs = std::filesystem;

void VoteInputs(FieldVisitor& v, InputPaths& inputs) {
  v.Table("pate", "What jobs of type `pate` and `ensemble-transfer` need.", [&] {
    PathField(v, "queries", inputs["pate.queries"],
              "Required: the public queries, any file, or a folder of images (for `ensemble-transfer` NPY, "
              "rows × features; for `pate` with "
              "a schema the public records in the job's format, labels not looked at): its SHA-256 must be "
              "the same "
              "at all three.");
    PathField(
        v, "predictions", inputs["pate.predictions"],
        "Required with teachers (owners) here, for `pate` without `[teacher]` and `ensemble-transfer`: "
        "labels "
        "that this party's teachers give the queries: NPY (teachers × queries) or CSV (a row a teacher), "
        "classes from 0.");
    PathField(v, "student", inputs["pate.student"],
              "Required for Interactive-GNMax: the student's public predictions: NPY (queries × classes), "
              "probabilities; the same file at all three.");
  });
}

fs::path FindLabelFile(const fs::path& folder, const std::vector<std::string>& names, const char* what) {
  for (const auto& one : names) {
    if (fs::is_regular_file(folder / one)) return folder / one;
  }
  throw DataError(
      fmt::format("{}: found no {}, expected {}", folder.string(), what, fmt::join(names, " or ")));
}

void DealQueries(const fs::path& queries, const SplitTarget& deal) {
  for (std::size_t j = 0; j < deal.party_folders.size(); ++j) {
    auto& named = deal.parties.at(j).inputs["pate.queries"];
    named = fs::path("data") / queries.filename();
    fs::create_directories(deal.party_folders.at(j) / "data");
    data::CopyTestFiles(data::OneFile(queries), deal.party_folders.at(j) / "data");
  }
}

std::string SplitTeacherLabels(const TeacherLabels& declared, const fs::path& source, const fs::path& queries,
                               const SplitTarget& deal) {
  const auto& voters = declared.voters;
  const auto predictions =
      FindLabelFile(source, {"predictions.npy", "predictions.csv"}, "predictions of all teachers");
  const auto labels =
      data::ReadTeacherLabels(predictions, declared.ShapeFor(voters[0] + voters[1] + voters[2]));
  DealQueries(queries, deal);
  auto first = labels.begin();
  for (std::size_t j = 0; j < deal.party_folders.size(); ++j) {
    const auto& folder = deal.party_folders.at(j);
    const auto last = first + voters.at(j);
    if (first != last) {
      auto& named = deal.parties.at(j).inputs["pate.predictions"];
      named = fs::path("data") / "predictions.npy";
      data::WriteTeacherLabels(folder / named, {first, last});
    }
    first = last;
  }
  return fmt::format("dealing the predictions of {} to three parties: {}, {} and {} teachers",
                     predictions.lexically_normal().string(), voters[0], voters[1], voters[2]);
}

const fs::path& NeedLabelFile(const PartyFile& party, const std::string& party_file, const std::string& key,
                              const char* what) {
  const auto& file = party.inputs["pate." + key];
  if (file.empty()) throw ConfigError(fmt::format("{}: missing pate.{}, expected {}", party_file, key, what));
  return file;
}

std::vector<std::vector<int>> LoadTeacherLabels(const TeacherLabels& declared, const PartyFile& party,
                                                const std::string& party_file) {
  (void)NeedLabelFile(party, party_file, "queries", "the file of public queries, the same at all three");
  if (party.ledger && party.data.empty())
    throw ConfigError(party_file +
                      ": missing [data], expected the teachers' training data, which the ledger is of");
  const auto count = declared.voters.at(static_cast<std::size_t>(party.id));
  if (count == 0) {
    if (party.inputs["pate.predictions"].empty()) return {};
    throw ConfigError(party_file +
                      ": pate.predictions: found a file, expected none: the job declares no teachers here");
  }
  const auto& labels = NeedLabelFile(party, party_file, "predictions", "the labels of this party's teachers");
  return data::ReadTeacherLabels(labels, declared.ShapeFor(count));
}

}  // namespace trefoil::jobs
