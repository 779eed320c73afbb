#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dp/accounting/any_accountant.h"
#include "jobs/config/fields.h"
#include "jobs/records/schema.h"
#include "ml/clear/linear_classifier.h"
#include "ml/clear/student.h"

namespace trefoil::jobs {

/// How a query is answered (docs/explanation/privacy.md, "PATE").
enum class VoteMechanism { kLnMax, kGnMax, kConfidentGnMax, kInteractiveGnMax };

/// [student]: trained in the clear on the answers, which are public, and on public records without any.
struct StudentSpec {
  std::int64_t records = 0;  ///< public ones, of which the first are the queries
  ml::StudentSettings settings;
};

/// A job of type "pate", checked, with every default filled in. Deviations are of two parties' noise, in
/// votes.
struct PateSettings {
  std::string name;
  std::string data_name;
  std::optional<RecordSchema> schema{};             ///< with a teacher or a student: of all records
  LocalSpec local{};                                ///< of those records
  std::optional<ml::ClassifierSettings> teacher{};  ///< none: the parties bring their teachers' labels
  std::optional<StudentSpec> student{};             ///< none: what is released is the answers
  std::array<std::int64_t, 3> teachers{};           ///< public, of each party
  std::int64_t queries = 0;
  int classes = 0;
  VoteMechanism mechanism = VoteMechanism::kConfidentGnMax;
  double scale = 0;            ///< LNMax: of the Laplace noise, 1 / gamma
  double sigma = 0;            ///< the others: of an answer's noise
  double threshold = 0;        ///< Confident and Interactive, as all below: votes
  double threshold_sigma = 0;  ///< of the threshold's noise
  std::int64_t answers = 0;    ///< at most so many: what is charged
  double reinforce =
      0;  ///< Interactive: a student's prediction above it is taken for a query without an answer
  double delta = 0;
  dp::AccountantKind accountant = dp::AccountantKind::kPld;
  std::vector<int> to{0, 1, 2};

  [[nodiscard]] bool has_threshold() const {
    return mechanism == VoteMechanism::kConfidentGnMax || mechanism == VoteMechanism::kInteractiveGnMax;
  }
  /// Records in the file of public queries, where there is a schema.
  [[nodiscard]] std::int64_t public_records() const { return student ? student->records : queries; }
  [[nodiscard]] std::int64_t all_teachers() const { return teachers[0] + teachers[1] + teachers[2]; }
};

/// The keys of such a job; those of its records where it has a schema.
void Fields(FieldVisitor& v, PateSettings& s);

/// "lnmax", "gnmax", "confident-gnmax" or "interactive-gnmax".
[[nodiscard]] const char* NameOf(VoteMechanism mechanism);

/// Throws ConfigError with one line: place, key, what was found, what was expected.
[[nodiscard]] PateSettings ReadPateSettings(const toml::table& root, const std::string& file);

/// The job as compact JSON, keys sorted, all defaults filled in.
[[nodiscard]] std::string PateJson(const PateSettings& job);

}  // namespace trefoil::jobs
