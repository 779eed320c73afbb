#include "jobs/pate/job.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/ceil_log2.h"
#include "base/error.h"
#include "base/secrets/sha256.h"
#include "data/dataset/data_hash.h"
#include "dp/mechanisms/laplace_part.h"
#include "jobs/config/common_fields.h"
#include "jobs/job_of.h"
#include "jobs/pate/answers.h"
#include "jobs/pate/pate_data.h"
#include "jobs/pate/settings.h"
#include "jobs/pate/teacher_labels.h"
#include "jobs/records/local_data.h"
#include "jobs/statement/bound_text.h"
#include "ml/batches/shared_rows.h"
#include "ml/clear/student.h"
#include "ml/clear/teachers.h"
#include "ml/noise/noisy_counts.h"
#include "ml/noise/noisy_votes.h"
#include "ml/on_shares/correct_counts.h"
#include "ml/plan/step_privacy.h"
#include "protocols/arithmetic/agreement.h"
#include "protocols/arithmetic/input.h"
#include "protocols/arithmetic/reveal.h"
#include "protocols/cost_model.h"

namespace trefoil::jobs {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using mpc::Index;
using mpc::RingMatrix;

// Normal noise is drawn in units of 2^-8 of a vote, so that a twentieth of a vote is 9 units of each party;
// Laplace noise in votes.
constexpr int kGaussianBits = 8;
// Noise beyond so many deviations, or scales, has probability below e^-60; then an answer may be wrong, and
// is as private.
constexpr double kLargestDeviations = 80;

constexpr double kBytesOfAnAnswer = 16;  // a line of answers.csv

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class PateJob : public JobOf<PateSettings> {
 public:
  using JobOf::JobOf;

  [[nodiscard]] const char* type() const override { return "pate"; }
  [[nodiscard]] std::string Json() const override { return PateJson(job()); }
  [[nodiscard]] std::string LocalJson() const override { return job().teacher ? LocalJsonOf(job()) : "{}"; }
  [[nodiscard]] std::string Title() const override;
  [[nodiscard]] std::vector<dp::RecordedEvent> Events() const override;
  [[nodiscard]] std::optional<std::int64_t> MaxUnits() const override { return job().all_teachers(); }
  // Of teachers that others trained nothing is known but that their data are disjoint.
  [[nodiscard]] dp::PrivacyUnit Unit() const override {
    return job().teacher ? dp::PrivacyUnit::kRecord : dp::PrivacyUnit::kTeacher;
  }
  [[nodiscard]] dp::Neighbours Neighbours() const override {
    return job().teacher ? dp::Neighbours::kAdded : dp::Neighbours::kReplaced;
  }
  [[nodiscard]] JobCost Cost() const override;
  [[nodiscard]] const RecordSchema* Records() const override {
    return job().schema ? &*job().schema : nullptr;
  }
  [[nodiscard]] std::optional<ModelSchema> Model() const override {
    return job().student ? std::optional(LinearModelSchema(*job().schema, kPateType.logits)) : std::nullopt;
  }
  [[nodiscard]] std::string Split(const SplitTarget& target) const override;
  std::string Load(const PartyFile& party, const std::string& party_file,
                   const Resources& resources) override;
  [[nodiscard]] JobResult Run(mpc::Context& party, Output& output) override;

 private:
  [[nodiscard]] bool laplace() const { return job().mechanism == VoteMechanism::kLnMax; }
  [[nodiscard]] bool interactive() const { return job().mechanism == VoteMechanism::kInteractiveGnMax; }
  [[nodiscard]] TeacherLabels teacher_labels() const {
    return {.voters = job().teachers, .queries = job().queries, .classes = job().classes};
  }
  [[nodiscard]] int bits() const { return laplace() ? 0 : kGaussianBits; }
  [[nodiscard]] std::uint64_t OneVote() const { return std::uint64_t{1} << bits(); }
  [[nodiscard]] dp::Ratio Rate() const { return dp::EpsilonBelow(1 / job().scale, "1 / pate.scale"); }
  [[nodiscard]] dp::GaussianReleases GaussianEvent(double sigma, double sensitivity, std::int64_t count,
                                                   std::int64_t coordinates) const;
  void AddTrainings(Index answered, JobCost& cost) const;
  void AddRoom(JobCost& cost) const;
  [[nodiscard]] int Width() const;
  void LoadQueries(const PartyFile& party, std::size_t threads);
  [[nodiscard]] RingMatrix OwnVotes() const;
  [[nodiscard]] RingMatrix StudentVotes() const;
  [[nodiscard]] ml::StepNoise AnswerNoise(Index queries) const;
  [[nodiscard]] std::vector<Index> ChooseQueries(mpc::Context& party, const mpc::ArithShare& votes) const;
  [[nodiscard]] std::vector<PateAnswer> Answers(const std::vector<Index>& asked,
                                                const std::vector<int>& winners) const;
  void Release(const std::vector<Index>& asked, const std::vector<int>& winners, ThreadPool& pool,
               JobResult& result, nlohmann::ordered_json& summary) const;
  [[nodiscard]] ml::Model Student(const std::vector<PateAnswer>& answers, ThreadPool& pool) const;

  std::string query_hash_;                ///< of the public query file, after Load, as all below
  std::vector<std::vector<int>> labels_;  ///< a row a teacher of this party that votes
  ml::FeatureRows public_;                ///< with [student]: the records that it is trained on
  StudentScores student_;                 ///< Interactive
  std::string student_hash_;
};

std::string PateJob::Title() const {
  const auto noise = laplace() ? fmt::format("scale {}", MultiplierText(job().scale))
                               : fmt::format("sigma {}", MultiplierText(job().sigma));
  const auto threshold =
      job().has_threshold()
          ? fmt::format(", above {} votes with sigma {}, at most {} answers", job().threshold,
                        MultiplierText(job().threshold_sigma), job().answers)
          : "";
  const auto student =
      job().student ? fmt::format("; a student of {} public records", job().student->records) : "";
  return fmt::format("{} queries of {} classes to {} {}teachers by {}, {}{}{}", job().queries, job().classes,
                     job().all_teachers(), job().teacher ? "trained " : "", NameOf(job().mechanism), noise,
                     threshold, student);
}

dp::GaussianReleases PateJob::GaussianEvent(double sigma, double sensitivity, std::int64_t count,
                                            std::int64_t coordinates) const {
  return {.count = count,
          .coordinates = coordinates,
          .sigma = ml::OnSigmaLattice(sigma) / sensitivity,
          .party_deviation = ml::CountDeviation(sigma, OneVote())};
}

std::vector<dp::RecordedEvent> PateJob::Events() const {
  if (laplace()) {
    (void)dp::LaplacePart(Rate());
    // A vote that moves changes two counts by 1, each with noise of its own.
    return {dp::LaplaceCounts{.count = 2 * job().queries, .rate = Rate().value()}};
  }
  std::vector<dp::RecordedEvent> events;
  if (job().has_threshold()) events.emplace_back(GaussianEvent(job().threshold_sigma, 1, job().queries, 1));
  // A vote that moves changes two counts by 1. Rounded up: the multiplier is not above the true one.
  const double root = std::nextafter(std::sqrt(2.0), 2.0);
  events.emplace_back(GaussianEvent(job().sigma, root, job().answers, job().classes));
  return events;
}

int PateJob::Width() const {
  const double noise = laplace() ? job().scale : std::max(job().sigma, job().threshold_sigma);
  const double reach = 2 * static_cast<double>(job().all_teachers()) + std::abs(job().threshold) + 1 +
                       2 * kLargestDeviations * std::max(noise, 1.0);
  return bits() + CeilLog2(reach) + 1;
}

JobCost PateJob::Cost() const {
  const auto queries = static_cast<Index>(job().queries);
  const auto answered =
      static_cast<Index>(job().has_threshold() ? std::min(job().answers, job().queries) : job().queries);
  const Index classes = job().classes;
  const auto compared = [&](Index rows) {
    return protocols::ComparisonSeconds(protocols::Form::kBulk, rows, classes - 1, Width());
  };
  JobCost cost;
  const auto same = protocols::RequireSameEverywhereCost();
  cost.session.Add(Then(same, same));
  cost.session.Add(protocols::InputSumCost(queries * classes));
  const auto voters = *std::max_element(job().teachers.begin(), job().teachers.end());
  cost.work = {.draws = static_cast<double>(answered * classes),
               .elements = static_cast<double>(queries * (voters + classes)),
               .comparison_seconds = compared(answered)};
  if (job().has_threshold()) {
    cost.session.Add(ml::OpenAboveThresholdCost(queries, classes, Width()));
    cost.less = "fewer where fewer queries are answered than the job allows";
    cost.work.draws += static_cast<double>(queries);
    cost.work.comparison_seconds +=
        compared(queries) + protocols::ComparisonSeconds(protocols::Form::kLatency, queries, 1, Width());
  }
  // Opened by itself: it is between the parties as numbered, whatever turns the threshold took.
  cost.session.Add(ml::OpenNoisyWinnersCost(answered, classes, Width(), {}));
  cost.session.AddUnturned(protocols::RevealToEachCost(job().to, answered));
  AddTrainings(answered, cost);
  AddRoom(cost);
  return cost;
}

/// What parties train in the clear: teachers before they connect, the student of `answered` queries after it.
void PateJob::AddTrainings(Index answered, JobCost& cost) const {
  if (!job().schema) return;
  const auto features = TrainedFeatures(*job().schema);
  if (job().teacher) {
    cost.before = "the teachers' training";
    for (std::size_t party = 0; party < net::kParties; ++party) {
      const auto teachers = job().teachers.at(party);
      if (teachers == 0) continue;
      const auto each = (job().schema->data.rows.at(party) + teachers - 1) / teachers;
      cost.before_seconds = std::max(
          cost.before_seconds, static_cast<double>(teachers) *
                                   ml::FitClassifierSeconds(each, features, job().classes, *job().teacher,
                                                            job().schema->features.row_norm));
    }
  }
  if (job().student)
    cost.work.clear_seconds = ml::TrainStudentSeconds(job().public_records(), features, answered,
                                                      job().classes, job().student->settings);
}

/// What a party holds at once, while its teachers are trained or the votes are shared, and releases.
void PateJob::AddRoom(JobCost& cost) const {
  const auto queries = static_cast<double>(job().queries);
  const double of_record =
      job().schema ? static_cast<double>(TrainedFeatures(*job().schema)) * sizeof(float) : 0;
  const double of_public = static_cast<double>(job().public_records()) * of_record;
  for (std::size_t party = 0; party < net::kParties; ++party) {
    const double labels = static_cast<double>(job().teachers.at(party)) * queries * sizeof(int);
    const double own = job().teacher ? static_cast<double>(job().schema->data.rows.at(party)) * of_record : 0;
    cost.memory.at(party) = of_public + std::max(own, labels + kBytesOfShare * queries * job().classes);
  }
  cost.results = AtReceivers(queries * kBytesOfAnAnswer);
}

std::string PateJob::Split(const SplitTarget& target) const {
  const auto source = FindDataFolder(job().data_name, target.job_file, target.data);
  const auto student =
      interactive() ? FindLabelFile(source, {"student.npy"}, "predictions of the student") : fs::path();
  auto said = job().schema
                  ? DealPateRecords(job(), source, target)
                  : SplitTeacherLabels(
                        teacher_labels(), source,
                        FindLabelFile(source, {"queries.npy", "queries.csv"}, "public queries"), target);
  for (std::size_t j = 0; interactive() && j < target.parties.size(); ++j) {
    auto& named = target.parties.at(j).inputs["pate.student"];
    named = fs::path("data") / student.filename();
    fs::copy_file(student, target.party_folders.at(j) / named);
  }
  return said;
}

/// Reads the public records where the job trains by them; their hash is of a folder with images.
void PateJob::LoadQueries(const PartyFile& party, std::size_t threads) {
  const auto& queries = party.inputs["pate.queries"];
  if (job().teacher || job().student) {
    query_hash_ = data::PathSha256(queries, [&] { public_ = LoadPublicRecords(job(), party, threads); });
  } else {
    query_hash_ = data::PathSha256(queries);
  }
}

std::string PateJob::Load(const PartyFile& party, const std::string& party_file, const Resources& resources) {
  if (job().teacher) {
    (void)NeedLabelFile(party, party_file, "queries", "the public records, the same at all three");
    const auto slices = LoadSlices(job(), party, party_file, resources.threads);
    LoadQueries(party, resources.threads);
    ThreadPool pool(ThreadsFor(resources.threads));
    labels_ =
        ml::LabelByTeachers(slices, public_.topRows(job().queries), job().classes, *job().teacher, pool);
  } else {
    labels_ = LoadTeacherLabels(teacher_labels(), party, party_file);
    LoadQueries(party, resources.threads);
  }
  if (interactive()) {
    const auto& file = NeedLabelFile(party, party_file, "student", "the student's public predictions");
    student_hash_ = data::PathSha256(file, [&] { student_ = ReadStudentScores(file, job()); });
  }
  return fmt::format("{} teachers' labels of {} queries, whose file has SHA-256 {}", labels_.size(),
                     job().queries, query_hash_);
}

RingMatrix PateJob::OwnVotes() const {
  RingMatrix votes = RingMatrix::Zero(static_cast<Index>(job().queries), job().classes);
  for (const auto& teacher : labels_) {
    for (Index query = 0; query < votes.rows(); ++query)
      votes(query, teacher[static_cast<std::size_t>(query)]) += OneVote();
  }
  return votes;
}

/// Teachers times the student's prediction, in the votes' units.
RingMatrix PateJob::StudentVotes() const {
  RingMatrix votes(static_cast<Index>(job().queries), job().classes);
  for (Index query = 0; query < votes.rows(); ++query) {
    for (Index column = 0; column < votes.cols(); ++column) {
      const double score = student_[static_cast<std::size_t>(query)][static_cast<std::size_t>(column)];
      votes(query, column) = static_cast<mpc::Word>(
          std::llround(score * static_cast<double>(job().all_teachers()) * static_cast<double>(OneVote())));
    }
  }
  return votes;
}

ml::StepNoise PateJob::AnswerNoise(Index queries) const {
  auto noise =
      laplace() ? ml::LaplaceParts(RandomStream::FromSystem(), Rate(), queries * job().classes)
                : ml::CountNoise(RandomStream::FromSystem(), job().sigma, OneVote(), queries * job().classes);
  noise.values().resize(queries, job().classes);
  return noise;
}

/// The queries that are answered: all, or the first ones whose top count is noisily above the threshold.
std::vector<Index> PateJob::ChooseQueries(mpc::Context& party, const mpc::ArithShare& votes) const {
  std::vector<Index> chosen;
  if (!job().has_threshold()) {
    for (Index query = 0; query < votes.rows(); ++query) chosen.push_back(query);
    return chosen;
  }
  const mpc::ArithShare compared =
      interactive() ? AddPublic(party, votes, RingMatrix(mpc::Word{0} - StudentVotes())) : votes;
  const auto noise =
      ml::CountNoise(RandomStream::FromSystem(), job().threshold_sigma, OneVote(), votes.rows());
  const auto threshold = static_cast<std::int64_t>(std::floor(std::ldexp(job().threshold, bits())));
  const auto above = ml::OpenAboveThreshold(party, compared, noise.values(), threshold, Width());
  for (Index query = 0; query < votes.rows(); ++query) {
    if (above[static_cast<std::size_t>(query)] && chosen.size() < static_cast<std::size_t>(job().answers))
      chosen.push_back(query);
  }
  return chosen;
}

std::vector<PateAnswer> PateJob::Answers(const std::vector<Index>& asked,
                                         const std::vector<int>& winners) const {
  std::vector<PateAnswer> answers(static_cast<std::size_t>(job().queries));
  for (std::size_t k = 0; k < asked.size(); ++k)
    answers[static_cast<std::size_t>(asked[k])] = {.label = winners[k], .source = "teachers"};
  for (std::size_t query = 0; interactive() && query < answers.size(); ++query) {
    const auto& scores = student_[query];
    const auto best = std::max_element(scores.begin(), scores.end());
    if (answers[query].label == ml::kUnlabelled && *best > job().reinforce)
      answers[query] = {.label = static_cast<int>(best - scores.begin()), .source = "student"};
  }
  return answers;
}

/// Trained on what has been released, and on public records: post-processing. Pre: an answer.
ml::Model PateJob::Student(const std::vector<PateAnswer>& answers, ThreadPool& pool) const {
  std::vector<int> labels(static_cast<std::size_t>(public_.rows()), ml::kUnlabelled);
  for (std::size_t query = 0; query < answers.size(); ++query) labels[query] = answers[query].label;
  return ml::TrainStudent(public_, labels, job().classes, job().student->settings, pool);
}

JobResult PateJob::Run(mpc::Context& party, Output& output) {
  output.Reserve(Events(), {});
  protocols::RequireSameEverywhere(party, query_hash_, "pate.queries");
  protocols::RequireSameEverywhere(party, student_hash_, "pate.student");
  const auto start = Clock::now();
  const mpc::ArithShare votes = protocols::InputSum(party, OwnVotes());
  output.Settle(Events());
  const auto asked = ChooseQueries(party, votes);
  JobResult result;
  result.lines.push_back(fmt::format("{} of {} queries answered", asked.size(), job().queries));
  std::optional<std::vector<int>> winners;
  if (asked.empty()) {
    if (std::find(job().to.begin(), job().to.end(), party.self()) != job().to.end()) winners.emplace();
  } else {
    const auto noise = AnswerNoise(static_cast<Index>(asked.size()));
    winners = ml::OpenNoisyWinners(party, ml::RowsAt(votes, asked), noise.values(), Width(), job().to);
  }
  nlohmann::ordered_json summary{{"mechanism", NameOf(job().mechanism)},
                                 {"queries", job().queries},
                                 {"classes", job().classes},
                                 {"teachers", job().all_teachers()},
                                 {"answered", asked.size()},
                                 {"vote_seconds", SecondsSince(start)}};
  if (winners) Release(asked, *winners, party.pool(), result, summary);
  result.summary = std::move(summary);
  return result;
}

/// What the answers are released as, at a party that gets them.
void PateJob::Release(const std::vector<Index>& asked, const std::vector<int>& winners, ThreadPool& pool,
                      JobResult& result, nlohmann::ordered_json& summary) const {
  const auto answers = Answers(asked, winners);
  result.files.push_back({.name = "answers.csv", .text = AnswersCsv(answers, job().schema)});
  if (!job().student) return;
  const bool none = std::all_of(answers.begin(), answers.end(),
                                [](const auto& answer) { return answer.label == ml::kUnlabelled; });
  if (none) {
    result.lines.emplace_back("no answers, so no student");
    return;
  }
  const auto start = Clock::now();
  result.model = Student(answers, pool);
  summary["student_seconds"] = SecondsSince(start);
}

std::unique_ptr<Job> ReadPate(const toml::table& root, const std::string& file) {
  return std::make_unique<PateJob>(ReadPateSettings(root, file));
}

}  // namespace

const JobType kPateType{.name = "pate",
                        .read = ReadPate,
                        .schema = SchemaOf<PateSettings>,
                        .inputs = VoteInputs,
                        .logits = LogitMeaning::kVotes};

}  // namespace trefoil::jobs
