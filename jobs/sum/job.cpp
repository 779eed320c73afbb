#include "jobs/sum/job.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/outward_text.h"
#include "data/formats/numpy/npy.h"
#include "dp/mechanisms/discrete_gaussian.h"
#include "jobs/config/at_place.h"
#include "jobs/config/common_fields.h"
#include "jobs/deposited_records.h"
#include "jobs/deposited_vectors.h"
#include "jobs/ranks/ranked_job_of.h"
#include "jobs/same_noise.h"
#include "jobs/statement/bound_text.h"
#include "jobs/sum/own_sums.h"
#include "jobs/sum/program_sums.h"
#include "jobs/sum/settings.h"
#include "jobs/sum/shared_sums.h"
#include "jobs/sum/split_vectors.h"
#include "ml/noise/noisy_sum.h"
#include "ml/on_shares/correct_counts.h"
#include "protocols/arithmetic/agreement.h"

namespace trefoil::jobs {
namespace {

using mpc::RingMatrix;

// Of a row while a file is read: the word of its coin, and its byte for another machine; its key twice, as a
// number, with its group's entry in a table, which may be its own.
constexpr double kBytesOfCoin = 9;
constexpr double kBytesOfKey = 75;

class SumJob : public RankedJobOf<SumSettings> {
 public:
  explicit SumJob(SumSettings job)
      : RankedJobOf(std::move(job)),
        deposited_(this->job().store.on ? std::optional(VectorsOf(this->job())) : std::nullopt),
        sensitivity_(SensitivityInUnits(this->job())),
        sigma_(SigmaOf(Target(), [this](double sigma) { return EventAt(sigma); })) {
    RequireSumInRing(this->job(), sigma_);
    // Refuses memory for too few rows, and noise that is too narrow for the lattice.
    if (deposited_) (void)BlockRows(*deposited_);
    (void)AtPlace("sum.norm_bound and privacy.sigma",
                  [&] { return dp::DiscreteGaussian(ml::CountVariance(sigma_, sensitivity_)); });
  }

  [[nodiscard]] const char* type() const override { return "sum"; }
  [[nodiscard]] std::string Json() const override { return HashedJson(job()); }
  [[nodiscard]] std::string LocalJson() const override { return LocalJsonOf(job()); }
  [[nodiscard]] std::string Title() const override;
  [[nodiscard]] std::vector<dp::RecordedEvent> Events() const override { return {EventAt(sigma_)}; }
  [[nodiscard]] std::vector<std::string> Warnings() const override;
  [[nodiscard]] std::vector<std::string> Advice() const override;
  [[nodiscard]] dp::PrivacyUnit Unit() const override { return job().unit; }
  [[nodiscard]] std::int64_t DeclaredRows() const override { return job().records(); }
  [[nodiscard]] JobCost Cost() const override;
  [[nodiscard]] std::string Split(const SplitTarget& target) const override {
    RequireOwnRecords(job().store, target);
    return SplitVectors(job(), target);
  }
  [[nodiscard]] const RecordSchema* Records() const override { return deposited_ ? &*deposited_ : nullptr; }
  void TakeRecordsOf(SharedRecords& records) override { SetDeposits(records); }
  [[nodiscard]] VectorCalls CallsOfProgram() const override;
  void TakeVectorsOf(VectorProgram& program) override;
  /// Of deposits: that of a run without calls, which shares them.
  [[nodiscard]] int Calls() const override { return deposited_ ? 0 : static_cast<int>(job().calls); }
  [[nodiscard]] std::string NoResume() const override {
    return program_ != nullptr ? "" : "found a job without a program that brings its vectors: start it anew";
  }
  [[nodiscard]] CheckpointShape ShapeOfCheckpoint() const override { return {}; }
  std::string Load(const PartyFile& party, const std::string& party_file,
                   const Resources& resources) override;
  [[nodiscard]] JobResult Run(mpc::Context& party, Output& output) override;
  void Serve(mpc::Context& party) override;

 private:
  [[nodiscard]] GaussianTarget Target() const {
    return TargetOf(job(), job().dimension, sensitivity_, job().calls);
  }
  [[nodiscard]] dp::RecordedEvent EventAt(double sigma) const;
  [[nodiscard]] double InUnits(double units) const { return std::ldexp(units, -job().fraction_bits); }
  /// Of all three parties' noise.
  [[nodiscard]] double Deviation() const {
    return InUnits(kAllOverTwo * sigma_ * static_cast<double>(sensitivity_));
  }
  [[nodiscard]] nlohmann::ordered_json Summary() const;
  [[nodiscard]] std::optional<RingMatrix> VectorOf(std::int64_t call);
  [[nodiscard]] std::vector<double> Decoded(const std::optional<RingMatrix>& sum) const;
  [[nodiscard]] ml::SumSession Session(int calls) const;
  [[nodiscard]] ResultFile FileOf(const std::vector<double>& opened) const;
  [[nodiscard]] JobResult RunOnDeposits(mpc::Context& party, Output& output);

  std::optional<RecordSchema> deposited_;  ///< what owners deposit, where that is what the job is of
  std::uint64_t sensitivity_;              ///< in lattice units
  double sigma_;                           ///< noise multiplier
  /// After Load, but where a program brings the vectors; of several machines this one's slices.
  OwnSums own_;
  VectorProgram* program_ = nullptr;
  std::optional<ProgramSums> of_program_{};  ///< after Load, then
};

/// What all calls are charged at a noise multiplier. Sampled ones are what steps of a training are: sums of
/// vectors of bounded norm, each unit taken by a private coin of its owner, with one noise; none is cut.
dp::RecordedEvent SumJob::EventAt(double sigma) const {
  auto plain = EventOf(Target(), sigma);
  plain.group_rows = job().max_group_rows;
  if (job().sampling_rate == 1) return plain;
  return dp::DpSgdSteps{
      .steps = plain.count,
      .sampling_rate = job().sampling_rate,
      .sigma = plain.sigma,
      .sensitivity = InUnits(static_cast<double>(sensitivity_)),
      .clip = job().norm_bound,
      .limits = {.capacity = job().rows, .max_batch = job().rows, .group_rows = job().max_group_rows},
      .party_deviation = plain.party_deviation,
      .coordinates = plain.coordinates};
}

std::string SumJob::Title() const {
  return fmt::format(
      "{} noisy sum{} of up to {} vectors of {} numbers and norm {}, {}, sigma {}", job().calls,
      job().calls == 1 ? "" : "s", job().records(), job().dimension, job().norm_bound,
      deposited_         ? std::string("all that owners deposited")
      : job().owners_sum ? std::string("which their owners add up")
      : job().sampling_rate == 1
          ? std::string("all of them")
          : fmt::format("each {} with probability {}", dp::NameOf(job().unit), job().sampling_rate),
      MultiplierText(sigma_));
}

std::vector<std::string> SumJob::Warnings() const {
  if (!job().owners_sum) return {};
  return {fmt::format(
      "sum.summed \"owner\": that a record changes an owner's vector by no more than {}, and the errors of "
      "its floating-point sum by no more than {}, is the owner's word: where it is not so, no epsilon holds",
      job().norm_bound, job().allowance)};
}

/// The lattice of deposits may be coarse, and rounds all numbers towards zero. Before that a row that is
/// shortened is made 2^-23 of its norm shorter, so that none is too long once its numbers are rounded to
/// single precision, which moves them by half as much.
std::vector<std::string> SumJob::Advice() const {
  const double of_row = InUnits(1) + std::ldexp(1.5 * job().norm_bound, -23);
  const double lost = static_cast<double>(job().records()) * of_row;
  if (!deposited_ || lost <= Deviation()) return {};
  return {fmt::format(
      "numbers of deposited vectors have single precision, and {} bits behind the point, beyond which they "
      "are cut: over {} records a sum may lose {:.3g}, where noise has deviation {:.3g}; shorter vectors of "
      "fewer numbers lose less",
      job().fraction_bits, job().records(), lost, Deviation())};
}

VectorCalls SumJob::CallsOfProgram() const {
  if (deposited_)
    throw ConfigError("data.source: found \"store\", expected \"files\" where a program brings the vectors");
  return {.count = job().calls,
          .dimension = job().dimension,
          .sampling_rate = job().sampling_rate,
          .owners_sum = job().owners_sum};
}

void SumJob::TakeVectorsOf(VectorProgram& program) {
  (void)CallsOfProgram();
  program_ = &program;
}

JobCost SumJob::Cost() const {
  JobCost cost{.apart = deposited_ ? kSumOfRows : ""};
  const auto slice = SliceOf(job().dimension);
  if (!deposited_) {  // of a run that begins, which all three agree on
    cost.session.Add(protocols::ExchangeTextsCost({kBytesOfNewRun, kBytesOfNewRun, kBytesOfNewRun}));
    cost.session.Add(protocols::BarrierCost());
  }
  cost.session.Add(RequireSameNoiseCost());
  cost.Add(checks().part);
  cost.session.AddUnturned(ml::NoisySumCost(slice, job().to), static_cast<int>(job().calls));
  const auto numbers = static_cast<double>(job().dimension);
  const auto own = static_cast<double>(slice);
  const auto all = numbers * static_cast<double>(job().calls);
  cost.work.draws += own * static_cast<double>(job().calls);
  for (std::size_t party = 0; party < net::kParties; ++party) {
    const double rows = job().owners_sum ? 1.0 : deposited_ ? 0.0 : static_cast<double>(job().rows.at(party));
    // One file of records; of several machines some of its rows.
    const double brought = rank_count() == 1 ? sizeof(double) * rows * numbers : MemoryOfSharedSums(job());
    // Which rows of a call take part, and of which group each is.
    const double of_row = (job().sampling_rate < 1 ? kBytesOfCoin : 0) + (job().groups() ? kBytesOfKey : 0);
    // Every call's sum, and at its end what was opened, as numbers, as an array and as a file; two noises
    // that are drawn ahead, and a call's shares.
    cost.memory.at(party) = sizeof(double) * (cost.work.draws + 3 * all) + brought + rows * of_row +
                            2 * sizeof(mpc::Word) * own + 3 * kBytesOfShare * own;
    if (deposited_) cost.memory.at(party) += MemoryOfDeposits(*deposited_);
  }
  cost.results = AtReceivers(all * sizeof(double));
  return cost;
}

std::string SumJob::Load(const PartyFile& party, const std::string& party_file,
                         const Resources& /*resources*/) {
  auto coins = RandomStream::FromSystem();
  const auto declared = job().rows.at(static_cast<std::size_t>(party.id));
  // Vectors are made anew for every job: by them nobody would know that a ledger is of other records.
  if (party.ledger && declared > 0 && party.data.empty())
    throw ConfigError(
        party_file +
        ": missing [data] file, expected the records that the vectors are of, which the ledger is of");
  if (program_ != nullptr) {
    RefuseFiles(party, party_file);
    of_program_.emplace(job(), *program_, declared, std::move(coins));
    return fmt::format("a program that has {} records", of_program_->records());
  }
  if (ranks() != nullptr) {
    own_ = LoadSharedSums(job(), party, party_file, coins, *ranks());
  } else if (rank_count() > 1) {
    own_.rows = CheckSharedSums(job(), party, party_file);
  } else {
    own_ = LoadOwnSums(job(), party, party_file, coins);
  }
  if (declared == 0) return "none, as the job declares";
  return job().owners_sum ? fmt::format("a vector for each of {} calls", job().calls)
                          : fmt::format("{} vectors for {} calls", own_.rows, job().calls);
}

nlohmann::ordered_json SumJob::Summary() const {
  nlohmann::ordered_json summary{{"calls", job().calls},
                                 {"dimension", job().dimension},
                                 {"records_declared", job().records()},
                                 {"norm_bound", job().norm_bound}};
  if (!deposited_) {
    summary["summed"] = job().owners_sum ? "owner" : "program";
    summary["sampling_rate"] = job().sampling_rate;
  }
  summary["sigma"] = sigma_;
  summary["sensitivity"] = InUnits(static_cast<double>(sensitivity_));
  summary["deviation"] = Deviation();
  return summary;
}

/// What this party adds to a call's sum; nothing where its program ends the session.
std::optional<RingMatrix> SumJob::VectorOf(std::int64_t call) {
  if (of_program_) return of_program_->Next();
  return own_.of_calls.at(static_cast<std::size_t>(call));
}

std::vector<double> SumJob::Decoded(const std::optional<RingMatrix>& sum) const {
  std::vector<double> numbers;
  for (mpc::Index k = 0; sum && k < sum->size(); ++k)
    numbers.push_back(InUnits(static_cast<double>(mpc::Signed(sum->data()[k]))));
  return numbers;
}

ml::SumSession SumJob::Session(int calls) const {
  return {.calls = calls,
          .coordinates = SliceOf(job().dimension),
          .sigma = sigma_,
          .sensitivity = sensitivity_,
          .to = job().to};
}

ResultFile SumJob::FileOf(const std::vector<double>& opened) const {
  const std::vector shape{static_cast<std::size_t>(job().calls), static_cast<std::size_t>(job().dimension)};
  return {.name = "sums.npy", .text = data::FormatNpy(data::NpyFromDoubles(shape, opened))};
}

JobResult SumJob::RunOnDeposits(mpc::Context& party, Output& output) {
  RequireSameNoise(party, Events(), {sensitivity_});
  auto deposits = TakeDeposits(party, Deposits(), output, Events());
  output.Reserve(Events(), {});
  const auto all = SumOfDeposits(*deposited_, deposits);
  ml::NoisySums sums(Session(1), RandomStream::FromSystem());
  output.Settle(Events());
  JobResult result{.summary = Summary()};
  result.summary["deposits"] = std::move(deposits.summary);
  if (const auto sum = sums.Next(party, all)) result.files.push_back(FileOf(Decoded(sum)));
  return result;
}

/// The programs of all three end a session in place of the same call. A party that goes on gets a message
/// without numbers in place of the call's, and tells the third; who ended it learns so from them.
void EndTogether(mpc::Context& party, std::int64_t call) {
  try {
    protocols::Barrier(party);
  } catch (const ProtocolError& error) {
    throw ProtocolError(
        fmt::format("call {}: party {}'s program ended the session, expected all three to end it in place of "
                    "the same call ({})",
                    call + 1, party.self(), error.what()),
        party.self());
  }
}

/// A session that its programs end early is charged all calls: who ends it has seen sums. A resumed run makes
/// the calls that no party has begun, so that all its sessions together make no more than are charged, once.
JobResult SumJob::Run(mpc::Context& party, Output& output) {
  if (deposited_) return RunOnDeposits(party, output);
  const auto [first, shared] = output.ResumeCalls(party);
  RequireSameNoise(party, Events(), {sensitivity_}, ranks());
  output.Reserve(Events(), first > 0 ? Events() : Output::Events());
  ml::NoisySums sums(Session(Calls() - first), RandomStream::FromSystem());
  if (of_program_) of_program_->StartBehind(first, shared);
  std::vector<double> opened;
  int call = first;
  for (; call < Calls(); ++call) {
    const auto own = VectorOf(call);
    if (own) output.BeginCall(call);  // before its charge: what is charged has begun
    if (call == first) {
      output.Settle(Events());
      WaitForSettled();
    }
    if (!own) {
      EndTogether(party, call);
      break;
    }
    const auto sum = Decoded(Joined(sums.Next(party, *own), job().dimension));
    if (of_program_) of_program_->Opened(sum);
    if (!of_program_) opened.insert(opened.end(), sum.begin(), sum.end());
  }
  if (first == Calls()) output.Settle(Events());
  JobResult result{.summary = Summary()};
  if (of_program_) result.summary["calls_made"] = call;
  if (!opened.empty()) result.files.push_back(FileOf(opened));
  return result;
}

void SumJob::Serve(mpc::Context& party) {
  RequireSameNoise(party, Events(), {sensitivity_}, ranks());
  ml::NoisySums sums(Session(Calls()), RandomStream::FromSystem());
  WaitForSettled();
  for (const auto& own : own_.of_calls) (void)Joined(sums.Next(party, own), job().dimension);
}

std::unique_ptr<Job> ReadSum(const toml::table& root, const std::string& file) {
  auto job = ReadSumSettings(root, file);
  return AtPlace(file, [&] { return std::make_unique<SumJob>(std::move(job)); });
}

}  // namespace

const JobType kSumType{"sum", ReadSum, SchemaOf<SumSettings>, SumInputs};

}  // namespace trefoil::jobs
