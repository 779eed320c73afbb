#include "jobs/pate/settings.h"

#include <spdlog/fmt/fmt.h>

#include <nlohmann/json.hpp>

#include "jobs/config/common_fields.h"
#include "jobs/records/record_fields.h"
#include "ml/clear/logistic_regression.h"

namespace trefoil::jobs {
namespace {

constexpr std::int64_t kMaxQueries = 1'000'000;
/// Noise may be small beside one vote, and must leave room in the ring.
constexpr Interval kDeviations{.least = 0.05, .below = 1e6};
constexpr Interval kPenalties{.above = 0.0, .below = 1e6};

const OneOf<VoteMechanism>& Mechanisms() {
  static const OneOf<VoteMechanism> mechanisms{{VoteMechanism::kLnMax, "lnmax"},
                                               {VoteMechanism::kGnMax, "gnmax"},
                                               {VoteMechanism::kConfidentGnMax, "confident-gnmax"},
                                               {VoteMechanism::kInteractiveGnMax, "interactive-gnmax"}};
  return mechanisms;
}

void MechanismFields(FieldVisitor& v, PateSettings& s) {
  v("mechanism", s.mechanism, Mechanisms(), Default(VoteMechanism::kConfidentGnMax),
    "How a query is answered (`privacy.md`, \"PATE\").");
  const auto refusal = fmt::format("mechanism \"{}\" has no such key", Mechanisms().TextOf(s.mechanism));
  const bool laplace = s.mechanism == VoteMechanism::kLnMax;
  v.When({laplace, "pate.mechanism \"lnmax\"", refusal}, [&] {
    v("scale", s.scale, Interval{.least = 0.01, .below = 1e6}, "Scale of the Laplace noise, 1/γ.");
  });
  v.When({!laplace, "another pate.mechanism than \"lnmax\"", refusal}, [&] {
    v("sigma", s.sigma, kDeviations, "Deviation of an answer's noise in votes, as any two parties add it.");
  });
  v.When({s.has_threshold(), "pate.mechanism \"confident-gnmax\" or \"interactive-gnmax\"", refusal}, [&] {
    v("threshold", s.threshold, Interval{.above = -1e6, .below = 1e6},
      "Votes that the most must noisily be above.");
    v("threshold_sigma", s.threshold_sigma, kDeviations, "Deviation of the threshold's noise.");
    v("answers", s.answers, WholeInterval{1, s.queries > 0 ? s.queries : kMaxQueries},
      Default(s.queries).Said("`queries`"),
      "At most so many queries are answered, the first ones that pass. Charged as if all were.");
  });
  v.When({s.mechanism == VoteMechanism::kInteractiveGnMax, "pate.mechanism \"interactive-gnmax\"", refusal},
         [&] {
           v("reinforce", s.reinforce, kDeltas,
             "Where a query is not answered, the student's prediction above this is taken.");
         });
}

void PateFields(FieldVisitor& v, PateSettings& s) {
  v("teachers", s.teachers, OfEachParty{1'000'000, false},
    "How many teachers each party has, public. A party without any adds noise.");
  v("queries", s.queries, WholeInterval{1, kMaxQueries}, "Public queries.");
  v.When({!s.schema, "no [teacher] and no [student]", "found it, expected data.classes alone"}, [&] {
    v("classes", s.classes, WholeInterval{2, 1000}, "Classes of the labels.");
  });
  MechanismFields(v, s);
}

void TeacherFields(FieldVisitor& v, ml::ClassifierSettings& s) {
  using ml::ClassifierLoss;
  v("loss", s.loss,
    OneOf<ClassifierLoss>{{ClassifierLoss::kSquared, "squared"}, {ClassifierLoss::kOneVsRest, "one-vs-rest"}},
    Default(ClassifierLoss::kSquared),
    "`squared`: least squares of signs, solved exactly; `one-vs-rest`: logistic regressions.");
  v.When({s.loss == ClassifierLoss::kOneVsRest, "teacher.loss \"one-vs-rest\""}, [&] {
    v("tolerance", s.tolerance, Interval{.above = 0.0, .below = 1.0}, Default(s.tolerance),
      "Gradient's norm where the solver stops.");
  });
  v("lambda", s.lambda, kPenalties,
    "Mean loss + λ‖w‖² (`squared`) or + λ/2 ‖w‖² (`one-vs-rest`), bias included.");
}

void StudentFields(FieldVisitor& v, StudentSpec& s, std::int64_t queries) {
  v("records", s.records, WholeInterval{queries, 100'000'000}, Default(queries).Said("`pate.queries`"),
    "Public records, of which the first are the queries.");
  v("lambda", s.settings.lambda, kPenalties, "The student's loss is `squared`.");
  v("rounds", s.settings.rounds, WholeInterval{0, 100}, Default(3),
    "Rounds of self-training; 0: on the answers alone.");
  v("keep", s.settings.keep, Interval{.above = 0.0, .most = 1.0}, Default(0.9),
    "Part of the unanswered records that the last round takes, with the label that the student "
    "gives them itself, the surest first; round r of R takes r/R of it.");
}

/// What a solver takes at most is known from the job: no records may end a run.
void CheckSolver(const ml::ClassifierSettings& teacher, double row_norm, const Section& section) {
  const ml::LogisticSettings solver{.lambda = teacher.lambda, .bias = true, .tolerance = teacher.tolerance};
  if (teacher.loss == ml::ClassifierLoss::kOneVsRest &&
      ml::SolverIterations(solver, row_norm) > ml::kMaxIterations)
    section.Refuse("lambda", "a larger one, or a larger teacher.tolerance: the solver could take too long");
}

/// A party has teachers exactly if it has records, and no more of them than it may have records.
void CheckTeachers(const PateSettings& job, const Section& data, const Section& pate) {
  for (std::size_t j = 0; j < job.teachers.size(); ++j) {
    const auto rows = job.schema->data.rows.at(j);
    if (job.teachers.at(j) > rows)
      pate.Fail("teachers", fmt::format("found {} at party {}, expected at most its data.rows, {}",
                                        job.teachers.at(j), j, rows));
    if (job.teachers.at(j) == 0 && rows > 0)
      data.Fail("rows", fmt::format("found {} at party {}, expected 0: it has no teachers", rows, j));
  }
}

/// [teacher], [student] and [local] of a job that trains.
void TrainingFields(FieldVisitor& v, PateSettings& s) {
  v.Table("teacher",
          "With this table every party trains its teachers in the clear, on slices of its `[data]`.",
          s.teacher, [&](ml::ClassifierSettings& teacher) { TeacherFields(v, teacher); });
  v.Check([&](const Section& document) {
    if (!s.teacher) return;
    CheckSolver(*s.teacher, s.schema->features.row_norm, document.Table("teacher"));
    CheckTeachers(s, document.Table("data"), document.Table("pate"));
  });
  v.Table("student", "With this table those who get the answers train a student on them.", s.student,
          [&](StudentSpec& student) { StudentFields(v, student, s.queries); });
  v.Table("local", "How `local` cuts the data. Not hashed.", s.local);
}

}  // namespace

void Fields(FieldVisitor& v, PateSettings& s) {
  TypeFields(v, "pate");
  NameField(v, s.name);
  v.If(!s.schema, [&] {
    v.Table("data", "Where `local` finds the votes.", [&] {
      v("name", s.data_name, Name{}, Default(s.name).Said("`name`"),
        "Where `local` looks for `predictions.npy` or `.csv` (all teachers; the first ones are party 0's), "
        "`queries.npy` or `.csv`, and `student.npy`.");
    });
  });
  v.If(s.schema.has_value(), [&] {
    RecordFields(v, *s.schema, 16);
    CheckHorizontal(v, *s.schema);
  });
  v.Table("pate", "The teachers' votes.", [&] { PateFields(v, s); });
  v.If(s.schema.has_value(), [&] { TrainingFields(v, s); });
  v.Table("privacy", "What the answers may tell.", [&] {
    v("delta", s.delta, kDeltas, "At which both ε are said.");
    AccountantField(v, s.accountant);
  });
  ReleaseFields(v, "Who gets the answers.", s.to, false);
}

const char* NameOf(VoteMechanism mechanism) { return Mechanisms().TextOf(mechanism); }

PateSettings ReadPateSettings(const toml::table& root, const std::string& file) {
  PateSettings job;
  if (root.contains("teacher") || root.contains("student")) job.schema.emplace();
  ReadFields(root, file, job);
  if (!job.has_threshold()) job.answers = job.queries;
  if (!job.schema) return job;
  job.schema->type = "pate";
  job.data_name = job.schema->data.name;
  job.classes = job.schema->data.classes;
  return job;
}

std::string PateJson(const PateSettings& job) { return HashedJson(job); }

}  // namespace trefoil::jobs
