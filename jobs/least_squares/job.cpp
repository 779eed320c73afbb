#include "jobs/least_squares/job.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/ceil_log2.h"
#include "base/error.h"
#include "data/columns/feature_columns.h"
#include "data/dataset/folders.h"
#include "dp/mechanisms/discrete_gaussian.h"
#include "jobs/config/common_fields.h"
#include "jobs/evaluation/target_evaluation.h"
#include "jobs/gaussian_target.h"
#include "jobs/job_of.h"
#include "jobs/records/load_records.h"
#include "jobs/records/local_data.h"
#include "jobs/records/owner_warnings.h"
#include "jobs/records/record_fields.h"
#include "jobs/same_noise.h"
#include "jobs/statement/bound_text.h"
#include "ml/batches/row_keys.h"
#include "ml/clear/least_squares.h"
#include "ml/noise/noisy_sum.h"
#include "ml/on_deposits/deposited_squares.h"
#include "ml/on_shares/column_squares.h"
#include "ml/on_shares/correct_counts.h"
#include "ml/records.h"

namespace trefoil::jobs {
namespace {

constexpr std::int64_t kMaxFeatures = 4096;  // the solution takes minutes, and the sum 67 MB

/// A job of type "least-squares", checked, with every default filled in.
struct LeastSquaresSettings : RecordSchema, GaussianSettings {};

void CheckRecords(const RecordSchema& s, const Section& document) {
  if (s.data.vertical) CheckColumnsOfParties(s, document);
  const bool key = !s.data.vertical &&
                   std::any_of(s.data.columns.begin(), s.data.columns.end(),
                               [](const auto& column) { return column.kind == data::ColumnKind::kKey; });
  if (key)
    document.Table("data").Fail("column",
                                "found one of kind \"key\", for which a job of this type has no use: its "
                                "promise is for a record");
  if (TrainedFeatures(s) > kMaxFeatures)
    document.Table("features")
        .Fail("method",
              fmt::format("{} features, expected at most {}, whose products are solved in the clear",
                          TrainedFeatures(s), kMaxFeatures));
}

/// Of records that are deposits.
ml::DepositedScale ScaleOf(const RecordSchema& s) {
  return ml::ScaleOfDeposited(ml::LargestSquaredNorm(s.features.row_norm, s.fraction_bits), s.fraction_bits);
}

/// The scale of deposits is of a norm of at least one unit, and the sums have no room for one above 2^28.
void CheckScale(const RecordSchema& s, const Section& document) {
  if (!s.store.on) return;
  const bool fits = std::ldexp(s.features.row_norm, s.fraction_bits) < 0x1p28 &&
                    ml::LargestSquaredNorm(s.features.row_norm, s.fraction_bits) >= 1 &&
                    ScaleOf(s).unit() <= ml::kLargestUnit;
  if (!fits)
    document.Fail(
        "fraction_bits",
        fmt::format("found {} with features.row_norm {} and data.source \"store\", expected such "
                    "that row_norm is more than one unit of a row's last bit and at most about 2^28",
                    s.fraction_bits, s.features.row_norm));
}

void Fields(FieldVisitor& v, LeastSquaresSettings& s) {
  TypeFields(v, "least-squares");
  RecordFields(v, s, 16, RecordUse::kOther, RecordSources::kFilesOrStore);
  v.Check([&](const Section& document) {
    CheckRecords(s, document);
    CheckScale(s, document);
  });
  GaussianTables(v, s,
                 {.privacy = "What the sums of products may tell.",
                  .target = "The target, or `sigma`.",
                  .sigma = "The noise multiplier: of any two parties' noise together.",
                  .to = "Who gets the sums with their noise, and so the model.",
                  .local = "How `local` deals the data. Not hashed."});
}

/// The row that a record of zeros would make, of categories none, before it is scaled to row_norm and
/// whatever ranges its columns have: it is of it that `export --format csv` writes the intercept. Zeros where
/// features are extracted.
Eigen::VectorXd RowOfZeros(const RecordSchema& s) {
  Eigen::VectorXd row = Eigen::VectorXd::Zero(TrainedFeatures(s));
  if (s.features.extraction.method != data::FeatureMethod::kNone) return row;
  const auto columns = data::FeatureColumns(s.data);
  std::transform(columns.begin(), columns.end(), row.begin(),
                 [](const data::FeatureColumn& column) { return -column.mean / column.scale; });
  return row;
}

class LeastSquaresJob : public JobOf<LeastSquaresSettings> {
 public:
  explicit LeastSquaresJob(LeastSquaresSettings job) : JobOf(std::move(job)), sigma_(SigmaOf(Target())) {
    RequireInRing();
    // Refuses noise that is too wide for the sampler.
    (void)dp::DiscreteGaussian(ml::CountVariance(sigma_, Sensitivity()));
  }

  [[nodiscard]] const char* type() const override { return "least-squares"; }
  [[nodiscard]] std::string Json() const override { return HashedJson(job()); }
  [[nodiscard]] std::string LocalJson() const override { return LocalJsonOf(job()); }
  [[nodiscard]] std::string Title() const override;
  [[nodiscard]] std::vector<dp::RecordedEvent> Events() const override { return {EventOf(Target(), sigma_)}; }
  [[nodiscard]] JobCost Cost() const override;
  [[nodiscard]] dp::PrivacyUnit Unit() const override {
    return Vertical() ? dp::PrivacyUnit::kJointRecord : dp::PrivacyUnit::kRecord;
  }
  [[nodiscard]] dp::Neighbours Neighbours() const override {
    return Vertical() ? dp::Neighbours::kReplaced : dp::Neighbours::kAdded;
  }
  [[nodiscard]] const RecordSchema* Records() const override { return &job(); }
  [[nodiscard]] std::optional<ModelSchema> Model() const override {
    return LinearModelSchema(job(), kLeastSquaresType.logits);
  }
  void TakeRecordsOf(SharedRecords& records) override { SetDeposits(records); }
  [[nodiscard]] std::string Split(const SplitTarget& target) const override;
  std::string Load(const PartyFile& party, const std::string& party_file,
                   const Resources& resources) override;
  [[nodiscard]] JobResult Run(mpc::Context& party, Output& output) override;

 private:
  /// In whole numbers of the sum.
  [[nodiscard]] std::uint64_t NormOne() const {
    return OnDeposits() ? ScaleOf(job()).unit() : std::uint64_t{1} << job().fraction_bits;
  }
  [[nodiscard]] bool OnDeposits() const { return job().store.on; }
  /// Whether products are made on shares, as no party has whole rows.
  [[nodiscard]] bool OnShares() const { return Vertical() || OnDeposits(); }
  [[nodiscard]] bool Vertical() const { return job().data.vertical; }
  /// Of rows that all parties know to be there other values are what may be learned.
  [[nodiscard]] std::uint64_t Sensitivity() const {
    return ml::SquaresSensitivity(NormOne(), Vertical() ? dp::Neighbours::kReplaced : dp::Neighbours::kAdded);
  }
  [[nodiscard]] ml::SquaresColumns Columns() const {
    const auto features = data::PartFeatures(job().data);
    return {.features = {features[0], features[1], features[2]}, .target_party = job().data.label.party};
  }
  [[nodiscard]] ml::SquaresShape Shape() const;
  [[nodiscard]] ml::DepositedLabels Labels() const {
    return job().data.target ? ml::DepositedLabels::kTargets : ml::DepositedLabels::kClasses;
  }
  /// Of the rows that the sum is of.
  [[nodiscard]] double RowNorm() const {
    return OnDeposits() ? ScaleOf(job()).row_norm() : job().features.row_norm;
  }
  [[nodiscard]] GaussianTarget Target() const { return TargetOf(job(), Shape().numbers(), Sensitivity()); }
  /// Of all three parties' noise, in units of the sum.
  [[nodiscard]] double Deviation() const { return kAllOverTwo * sigma_ * static_cast<double>(Sensitivity()); }
  void RequireInRing() const;
  [[nodiscard]] mpc::AdditiveShare SumOfDeposits(mpc::Context& party, SharedRecords::Checked& deposits) const;
  [[nodiscard]] nlohmann::ordered_json Summary() const;

  double sigma_;          ///< noise multiplier
  ml::OwnRecords own_;    ///< after Load, as below
  mpc::RingMatrix sums_;  ///< the sum of this party's records' products; vertical: its columns, encoded
};

ml::SquaresShape LeastSquaresJob::Shape() const {
  const int classes = job().data.classes;  // 2 of targets, too
  return {.features = TrainedFeatures(job()), .outputs = classes == 2 ? 1 : classes, .unit = NormOne()};
}

/// A sum that wraps is as private, and of no use.
void LeastSquaresJob::RequireInRing() const {
  constexpr double kDeviations = 40;
  const double records = static_cast<double>(TotalRows(job().data));
  const double most = records * static_cast<double>(ml::LargestSquare(NormOne())) + kDeviations * Deviation();
  const int above = CeilLog2(most * (1 + 1e-9)) - 63;
  if (above > 0 && OnDeposits())
    throw ConfigError(fmt::format(
        "data.capacity: found {}, with noise more than the ring holds of sums of products: fewer rows, or a "
        "study with fewer fraction_bits or a smaller features.row_norm",
        records));
  if (above > 0)
    throw ConfigError(fmt::format(
        "fraction_bits: found {}, expected at most {}: the sums of all declared records' products, with "
        "their noise, do not fit the ring",
        job().fraction_bits, job().fraction_bits - (above + 1) / 2));
}

std::string LeastSquaresJob::Title() const {
  const auto& data = job().data;
  return fmt::format("least squares of up to {} records of {} features and {}, sigma {}", TotalRows(data),
                     Shape().features, data.target ? "one target" : fmt::format("{} classes", data.classes),
                     MultiplierText(sigma_));
}

JobCost LeastSquaresJob::Cost() const {
  const auto shape = Shape();
  const auto numbers = static_cast<double>(shape.numbers());
  const auto entries = static_cast<double>(shape.entries());
  JobCost cost{.apart =
                   OnDeposits() ? "the products of deposited rows" : "the products of each party's records"};
  cost.session.Add(RequireSameNoiseCost());
  cost.Add(checks().part);
  if (Vertical()) {
    cost.session.Add(ml::RequireSameKeysCost());
    cost.session.Add(ml::SumOfColumnSquaresCost(shape, Columns(), job().data.rows[0]));
  }
  if (OnDeposits()) {
    const auto rows = job().store.memory ? BlockRows(job()) : job().data.rows[0];
    cost.session.Add(ml::SumOfDepositedSquaresCost(ScaleOf(job()), Labels(), rows), BlocksOfRows(job()));
  }
  cost.session.AddUnturned(ml::NoisySumCost(shape.numbers(), job().to));
  cost.work.draws += numbers;
  cost.work.clear_seconds += ml::SolveSquaresSeconds(shape);
  // The sum, noise that is drawn ahead, shares of it; and the matrices of products and of eigenvectors.
  const double sums =
      4 * sizeof(mpc::Word) * numbers + kBytesOfShare * numbers + 5 * sizeof(double) * entries * entries;
  // On shares: those of all rows, and copies of them in the order of a row.
  const double of_row = OnShares() ? 3 * kBytesOfShare * (entries + static_cast<double>(shape.outputs))
                                   : (entries - 1) * sizeof(float);
  for (std::size_t party = 0; party < net::kParties; ++party)
    cost.memory.at(party) =
        sums + (job().store.memory
                    ? RowMemory(job())
                    : static_cast<double>(job().data.rows.at(OnDeposits() ? 0 : party)) * of_row);
  cost.results = AtReceivers(2 * entries * static_cast<double>(shape.outputs) * sizeof(double));
  return cost;
}

std::string LeastSquaresJob::Split(const SplitTarget& target) const {
  RequireOwnRecords(job().store, target);
  const auto& data = job().data;
  const auto source = FindDataFolder(data.name, target.job_file, target.data);
  const auto report = data::SplitSource(data, data::FindTrainingFiles(data, source), SplitOf(job().local),
                                        target.party_folders);
  if (const auto test = data::FindTestFiles(data, source)) data::CopyTestFiles(*test, target.test);
  for (auto& party : target.parties) party.data = data::PartyFiles(data.format, "");
  return fmt::format(
      "dealing {} to three parties: rows {}, {}, {}{}", source.lexically_normal().string(), report.rows[0],
      report.rows[1], report.rows[2],
      report.left_out == 0 ? "" : fmt::format("; {} beyond data.rows left out", report.left_out));
}

std::string LeastSquaresJob::Load(const PartyFile& party, const std::string& party_file,
                                  const Resources& resources) {
  if (party.data.empty()) throw ConfigError(party_file + ": missing [data], expected x and y, or file");
  own_ = LoadOwnRecords(job(), party.id, party.data,
                        {.threads = resources.threads, .feature_model = party.feature_model});
  WarnOwner(OwnerWarnings(job(), party.id, own_));
  ThreadPool pool(ThreadsFor(resources.threads));
  const auto& data = job().data;
  const double row_norm = job().features.row_norm;
  Eigen::MatrixXd targets;
  if (!Vertical() || party.id == data.label.party)
    targets = data.target ? ml::RangeTargets(own_.y) : ml::ClassTargets(own_.y, data.classes);
  sums_ = Vertical()
              ? ml::EncodeColumns(Shape(), Columns(), party.id, own_.x, row_norm, targets, data.rows[0], pool)
              : ml::SumOfSquares(Shape(), own_.x, row_norm, targets, pool);
  return fmt::format("{} rows as the job declares them", own_.rows());
}

mpc::AdditiveShare LeastSquaresJob::SumOfDeposits(mpc::Context& party,
                                                  SharedRecords::Checked& deposits) const {
  const auto shape = Shape();
  mpc::AdditiveShare sum(mpc::RingMatrix::Zero(shape.numbers(), 1));
  ForEachBlock(job(), deposits, [&](std::vector<mpc::ArithShare> rows) {
    sum = sum + ml::SumOfDepositedSquares(party, shape, ScaleOf(job()), Labels(), std::move(rows));
  });
  return sum;
}

nlohmann::ordered_json LeastSquaresJob::Summary() const {
  const auto unit = static_cast<double>(ml::LargestSquare(NormOne()));
  nlohmann::ordered_json summary{{"features", Shape().features}};
  if (!job().data.target) summary["classes"] = job().data.classes;
  summary.update({{"records_declared", TotalRows(job().data)},
                  {"sigma", sigma_},
                  {"sensitivity", static_cast<double>(Sensitivity()) / unit},
                  {"deviation", Deviation() / unit},
                  {"ridge", ml::RidgeFor(Shape(), Deviation())}});
  if (job().data.target) summary.update(FiguresJson({}));
  return summary;
}

JobResult LeastSquaresJob::Run(mpc::Context& party, Output& output) {
  RequireSameNoise(party, Events(), {Sensitivity()});
  SharedRecords::Checked deposits;
  if (OnDeposits()) deposits = TakeDeposits(party, Deposits(), output, Events());
  output.Reserve(Events(), {});
  const auto shape = Shape();
  mpc::AdditiveShare products;
  if (Vertical()) {
    ml::RequireSameKeys(party, own_.keys);
    products = ml::SumOfColumnSquares(party, shape, Columns(), sums_, job().data.rows[0]);
  }
  if (OnDeposits()) products = SumOfDeposits(party, deposits);
  ml::NoisySums sums(
      {.coordinates = shape.numbers(), .sigma = sigma_, .sensitivity = Sensitivity(), .to = job().to},
      RandomStream::FromSystem());
  output.Settle(Events());
  JobResult result{.summary = Summary()};
  if (OnDeposits()) result.summary["deposits"] = std::move(deposits.summary);
  if (const auto sum = OnShares() ? sums.Next(party, products) : sums.Next(party, sums_)) {
    result.model = ml::SolveSquares(shape, *sum, RowNorm(), Deviation(), RowOfZeros(job()));
    if (OnShares()) return result;  // nobody has whole rows to compare it with
    result.owner_lines = [this, model = *result.model] {
      return OwnerLines{.warnings = OneClassWarning(job(), model, {&own_, 1}, kTrainWithWeights)};
    };
  }
  return result;
}

std::unique_ptr<Job> ReadLeastSquares(const toml::table& root, const std::string& file) {
  LeastSquaresSettings job;
  job.type = "least-squares";
  ReadFields(root, file, job);
  return std::make_unique<LeastSquaresJob>(std::move(job));
}

}  // namespace

const JobType kLeastSquaresType{.name = "least-squares",
                                .read = ReadLeastSquares,
                                .schema = SchemaOf<LeastSquaresSettings>,
                                .logits = LogitMeaning::kShare};

}  // namespace trefoil::jobs
