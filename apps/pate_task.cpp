#include "apps/pate_task.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "apps/ballots.h"
#include "apps/job_task.h"
#include "apps/local_data.h"
#include "apps/pate_job.h"
#include "base/ceil_log2.h"
#include "base/error.h"
#include "base/sha256.h"
#include "data/file.h"
#include "data/npy.h"
#include "dp/laplace_part.h"
#include "ml/correct_counts.h"
#include "ml/noisy_counts.h"
#include "ml/noisy_votes.h"
#include "ml/step_privacy.h"
#include "protocols/agreement.h"
#include "protocols/input.h"

namespace trefoil::apps {
namespace {

namespace fs = std::filesystem;
using mpc::Index;
using mpc::RingMatrix;

// Normal noise is drawn in units of 2^-8 of a vote, so that a twentieth of a vote is 9 units of each party;
// Laplace noise in votes.
constexpr int kGaussianBits = 8;
// Noise beyond so many deviations, or scales, has probability below e^-60; then an answer may be wrong, and
// is as private.
constexpr double kLargestDeviations = 80;

/// What a student says of each query: a row a query, a column a class.
using StudentScores = std::vector<std::vector<double>>;

class PateTask : public JobTask<PateJob> {
 public:
  using JobTask::JobTask;

  [[nodiscard]] std::string Json() const override { return PateJobJson(job()); }
  [[nodiscard]] std::string LocalJson() const override { return "{}"; }
  [[nodiscard]] std::string Title() const override;
  [[nodiscard]] std::vector<dp::RecordedEvent> Events() const override;
  std::string Deal(const TaskDeal& deal) const override;
  std::string Load(const PartyFile& party, const std::string& party_file) override;
  TaskResult Run(mpc::Context& party, const BeforeRelease& before_release) override;

 private:
  [[nodiscard]] bool laplace() const { return job().mechanism == VoteMechanism::kLnMax; }
  [[nodiscard]] bool interactive() const { return job().mechanism == VoteMechanism::kInteractiveGnMax; }
  [[nodiscard]] Ballots ballots() const {
    return {.voters = job().teachers, .queries = job().queries, .classes = job().classes};
  }
  [[nodiscard]] int bits() const { return laplace() ? 0 : kGaussianBits; }
  [[nodiscard]] std::uint64_t OneVote() const { return std::uint64_t{1} << bits(); }
  [[nodiscard]] dp::Ratio Rate() const { return dp::EpsilonBelow(1 / job().scale, "1 / pate.scale"); }
  [[nodiscard]] dp::GaussianReleases GaussianEvent(double sigma, double sensitivity, std::int64_t count,
                                                   std::int64_t coordinates) const;
  [[nodiscard]] int Width() const;
  [[nodiscard]] RingMatrix OwnVotes() const;
  [[nodiscard]] RingMatrix StudentVotes() const;
  [[nodiscard]] ml::StepNoise AnswerNoise(Index queries) const;
  [[nodiscard]] std::vector<Index> ChooseQueries(mpc::Context& party, const mpc::ArithShare& votes) const;
  [[nodiscard]] std::string Csv(const std::vector<Index>& asked, const std::vector<int>& winners) const;

  std::string query_hash_;                ///< of the public query file, after Load, as all below
  std::vector<std::vector<int>> labels_;  ///< a row a teacher of this party
  StudentScores student_;                 ///< Interactive
  std::string student_hash_;
};

std::string PateTask::Title() const {
  const auto noise =
      laplace() ? fmt::format("scale {:g}", job().scale) : fmt::format("sigma {:g}", job().sigma);
  const auto threshold = job().has_threshold()
                             ? fmt::format(", above {:g} votes with sigma {:g}, at most {} answers",
                                           job().threshold, job().threshold_sigma, job().answers)
                             : "";
  return fmt::format("{} queries of {} classes to {} teachers by {}, {}{}", job().queries, job().classes,
                     job().all_teachers(), NameOf(job().mechanism), noise, threshold);
}

dp::GaussianReleases PateTask::GaussianEvent(double sigma, double sensitivity, std::int64_t count,
                                             std::int64_t coordinates) const {
  return {.count = count,
          .coordinates = coordinates,
          .sigma = ml::OnSigmaLattice(sigma) / sensitivity,
          .party_deviation = ml::CountDeviation(sigma, OneVote())};
}

std::vector<dp::RecordedEvent> PateTask::Events() const {
  if (laplace()) {
    (void)dp::LaplacePart(Rate());
    return {dp::PureReleases{.count = job().queries, .epsilon = 2 * Rate().value()}};
  }
  std::vector<dp::RecordedEvent> events;
  if (job().has_threshold()) events.emplace_back(GaussianEvent(job().threshold_sigma, 1, job().queries, 1));
  // A vote that moves changes two counts by 1. Rounded up: the multiplier is not above the true one.
  const double root = std::nextafter(std::sqrt(2.0), 2.0);
  events.emplace_back(GaussianEvent(job().sigma, root, job().answers, job().classes));
  return events;
}

int PateTask::Width() const {
  const double noise = laplace() ? job().scale : std::max(job().sigma, job().threshold_sigma);
  const double reach = 2 * static_cast<double>(job().all_teachers()) + std::abs(job().threshold) + 1 +
                       2 * kLargestDeviations * std::max(noise, 1.0);
  return bits() + CeilLog2(reach) + 1;
}

std::string PateTask::Deal(const TaskDeal& deal) const {
  const auto source = FindDataFolder(job().data_name, deal.job_file, deal.data);
  const auto queries = FindBallotFile(source, {"queries.npy", "queries.csv"}, "public queries");
  const auto student =
      interactive() ? FindBallotFile(source, {"student.npy"}, "predictions of the student") : fs::path();
  auto said = DealBallots(ballots(), source, queries, deal);
  for (std::size_t j = 0; interactive() && j < deal.parties.size(); ++j) {
    deal.parties.at(j).pate.student = fs::path("data") / student.filename();
    fs::copy_file(student, deal.party_folders.at(j) / deal.parties.at(j).pate.student);
  }
  return said;
}

StudentScores ReadStudent(const fs::path& file, const PateJob& job) {
  const auto array = data::ReadNpy(file);
  const auto queries = static_cast<std::size_t>(job.queries);
  const auto classes = static_cast<std::size_t>(job.classes);
  if (array.shape != std::vector<std::size_t>{queries, classes})
    data::ThrowDataError(file, "", "another shape", fmt::format("{} queries x {} classes", queries, classes));
  const auto values = data::NpyToDoubles(array, file);
  StudentScores scores(queries);
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (!(values[k] >= 0 && values[k] <= 1))
      data::ThrowDataError(file, fmt::format("query {}, class {}", k / classes + 1, k % classes),
                           data::NumberText(values[k]), "a probability from 0 to 1");
    scores[k / classes].push_back(values[k]);
  }
  return scores;
}

std::string PateTask::Load(const PartyFile& party, const std::string& party_file) {
  labels_ = LoadBallots(ballots(), party, party_file);
  query_hash_ = data::FileSha256(party.pate.queries);
  if (interactive()) {
    NeedBallotFile(party.pate.student, party_file, "student", "the student's public predictions");
    student_ = ReadStudent(party.pate.student, job());
    student_hash_ = data::FileSha256(party.pate.student);
  }
  return fmt::format("{} teachers' labels of {} queries", labels_.size(), job().queries);
}

RingMatrix PateTask::OwnVotes() const {
  RingMatrix votes = RingMatrix::Zero(static_cast<Index>(job().queries), job().classes);
  for (const auto& teacher : labels_) {
    for (Index query = 0; query < votes.rows(); ++query)
      votes(query, teacher[static_cast<std::size_t>(query)]) += OneVote();
  }
  return votes;
}

/// Teachers times the student's prediction, in the votes' units.
RingMatrix PateTask::StudentVotes() const {
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

ml::StepNoise PateTask::AnswerNoise(Index queries) const {
  auto noise =
      laplace() ? ml::LaplaceParts(RandomStream::FromSystem(), Rate(), queries * job().classes)
                : ml::CountNoise(RandomStream::FromSystem(), job().sigma, OneVote(), queries * job().classes);
  noise.values().resize(queries, job().classes);
  return noise;
}

/// The queries that are answered: all, or the first ones whose top count is noisily above the threshold.
std::vector<Index> PateTask::ChooseQueries(mpc::Context& party, const mpc::ArithShare& votes) const {
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

std::string PateTask::Csv(const std::vector<Index>& asked, const std::vector<int>& winners) const {
  std::string text = "query,label,source\n";
  std::size_t next = 0;
  for (Index query = 0; query < static_cast<Index>(job().queries); ++query) {
    if (next < asked.size() && asked[next] == query) {
      text += fmt::format("{},{},teachers\n", query + 1, winners[next++]);
      continue;
    }
    int label = -1;
    if (interactive()) {
      const auto& scores = student_[static_cast<std::size_t>(query)];
      const auto best = std::max_element(scores.begin(), scores.end());
      if (*best > job().reinforce) label = static_cast<int>(best - scores.begin());
    }
    text += label < 0 ? fmt::format("{},,\n", query + 1) : fmt::format("{},{},student\n", query + 1, label);
  }
  return text;
}

TaskResult PateTask::Run(mpc::Context& party, const BeforeRelease& before_release) {
  protocols::RequireSameEverywhere(party, query_hash_, "pate.queries");
  protocols::RequireSameEverywhere(party, student_hash_, "pate.student");
  const mpc::ArithShare votes = protocols::InputSum(party, OwnVotes());
  before_release(Events());
  const auto asked = ChooseQueries(party, votes);
  TaskResult result;
  const auto summary = [&] {
    return nlohmann::ordered_json{{"mechanism", NameOf(job().mechanism)},
                                  {"queries", job().queries},
                                  {"classes", job().classes},
                                  {"teachers", job().all_teachers()},
                                  {"answered", asked.size()}}
        .dump();
  };
  result.summary = summary();
  result.lines.push_back(fmt::format("{} of {} queries answered", asked.size(), job().queries));
  std::optional<std::vector<int>> winners;
  if (asked.empty()) {
    if (std::find(job().to.begin(), job().to.end(), party.self()) != job().to.end()) winners.emplace();
  } else {
    const auto noise = AnswerNoise(static_cast<Index>(asked.size()));
    winners = ml::OpenNoisyWinners(party, ml::RowsAt(votes, asked), noise.values(), Width(), job().to);
  }
  if (winners) result.files.push_back({.name = "answers.csv", .text = Csv(asked, *winners)});
  return result;
}

}  // namespace

std::unique_ptr<Task> ReadPateTask(const toml::table& root, const std::string& file) {
  return std::make_unique<PateTask>(ReadPateJob(root, file));
}

}  // namespace trefoil::apps
