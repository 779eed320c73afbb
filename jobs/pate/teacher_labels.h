#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "data/dealing/teacher_labels.h"
#include "jobs/config/party_file.h"
#include "jobs/job.h"

namespace trefoil::jobs {

/// The public queries of a job and the labels that classifiers give them, which one party or another brings:
/// what `pate` and `ensemble-transfer` jobs have in common ([pate] of a party file).
struct TeacherLabels {
  std::array<std::int64_t, 3> voters{};  ///< of each party, public
  std::int64_t queries = 0;
  int classes = 2;

  [[nodiscard]] data::TeacherShape ShapeFor(std::int64_t count) const {
    return {.teachers = count, .queries = queries, .classes = classes};
  }
};

/// The keys of the party file's [pate].
void VoteInputs(FieldVisitor& v, InputPaths& inputs);

/// The first of `names` that is a file of `folder`. Throws DataError naming `what`.
[[nodiscard]] std::filesystem::path FindLabelFile(const std::filesystem::path& folder,
                                                  const std::vector<std::string>& names, const char* what);

/// Copies the public queries to every party's folder, and names them in its party file.
void DealQueries(const std::filesystem::path& queries, const SplitTarget& deal);

/// Splits predictions.npy or .csv of `source` among the parties, the first voters to party 0, and gives
/// `queries` to all. Returns what to say of it. Throws DataError.
std::string SplitTeacherLabels(const TeacherLabels& declared, const std::filesystem::path& source,
                               const std::filesystem::path& queries, const SplitTarget& deal);

/// This party's voters' labels, a row each; nothing where it has none. Throws ConfigError or DataError.
[[nodiscard]] std::vector<std::vector<int>> LoadTeacherLabels(const TeacherLabels& declared,
                                                              const PartyFile& party,
                                                              const std::string& party_file);

/// The file that the party file names as pate.KEY. Throws ConfigError where it names none.
[[nodiscard]] const std::filesystem::path& NeedLabelFile(const PartyFile& party,
                                                         const std::string& party_file,
                                                         const std::string& key, const char* what);

}  // namespace trefoil::jobs
