#include "jobs/dpsgd/standardisation.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <utility>

#include "base/error.h"
#include "base/secrets/sha256.h"
#include "dp/mechanisms/discrete_gaussian.h"
#include "jobs/dpsgd/ranges.h"
#include "jobs/gaussian_target.h"
#include "jobs/records/record_fields.h"
#include "jobs/statistics/own_sum.h"
#include "jobs/statistics/settings.h"
#include "ml/noise/noisy_sum.h"
#include "ml/on_shares/correct_counts.h"
#include "protocols/arithmetic/agreement.h"

namespace trefoil::jobs {
namespace {

/// The job's columns of numbers as a job of statistics asks their moments; it ignores all others.
StatisticsSettings MomentsOf(const DpsgdSettings& job) {
  StatisticsSettings moments;
  moments.data.name = job.data.name;
  moments.data.format = job.data.format;
  moments.data.rows = job.data.rows;
  moments.data.header = job.data.header;
  moments.data.dialect = job.data.dialect;
  moments.data.decimal = job.data.decimal;
  moments.data.missing = job.data.missing;
  moments.weights.fill(1.0);
  for (const auto& column : job.data.columns) {
    auto& one = moments.columns.emplace_back();
    one.column.name = column.name;
    one.column.kind = data::ColumnKind::kIgnore;
    if (!IsStandardised(job.data, column)) continue;
    one.column.kind = data::ColumnKind::kNumber;
    one.column.missing = column.missing;
    one.low = column.low.value();
    one.high = column.high.value();
    // A number however far beyond counts as the end, whatever range was found.
    one.column.low = column.low;
    one.column.high = column.high;
    moments.moments.push_back(column.name);
  }
  // A label that is no declared column is the file's last.
  const auto& label = job.data.label.column;
  const bool declared = std::any_of(job.data.columns.begin(), job.data.columns.end(),
                                    [&](const auto& column) { return column.name == label; });
  if (!declared) {
    auto& last = moments.columns.emplace_back();
    last.column.name = label;
    last.column.kind = data::ColumnKind::kIgnore;
  }
  return moments;
}

/// From about this part of the rows' length on the means say more of the noise than of the records.
constexpr double kDrowningMeans = 0.3;

/// A row, over row_norm, and the 1 beside it, which counts records, have half of the squared bound each.
constexpr double kRootOfHalf = std::numbers::sqrt2 / 2;

/// How many times its own noise a variance is drawn towards the others at most.
constexpr double kFarthest = 2;

/// No variance is more, in parts of the squared range.
constexpr double kMostVariance = 0.25;

double Square(double x) { return x * x; }

std::vector<double> MeansOf(const mpc::RingMatrix& sum, double row_norm) {
  const mpc::Index features = sum.rows() - 1;
  const double one = std::ldexp(kRootOfHalf, kStatisticsBits);  // what a record adds to the count
  const double rows = std::max(static_cast<double>(mpc::Signed(sum(features, 0))), one);
  Eigen::VectorXd means(features);
  for (mpc::Index k = 0; k < features; ++k)
    means(k) = row_norm * static_cast<double>(mpc::Signed(sum(k, 0))) / rows;
  if (const double length = means.norm(); length > row_norm) means *= row_norm / length;
  return {means.begin(), means.end()};
}

}  // namespace

bool IsOfExtracted(const DpsgdSettings& job) {
  return job.features.extraction.method != data::FeatureMethod::kNone;
}

bool IsStandardised(const data::DataSpec& spec, const data::Column& column) {
  return column.kind == data::ColumnKind::kNumber && column.name != spec.label.column;
}

dp::GaussianReleases SumEvent(const DpsgdSettings& job, mpc::Index coordinates, std::optional<double> sigma,
                              double share) {
  GaussianTarget target{.coordinates = coordinates,
                        .sensitivity = kStatisticsNorm,
                        .epsilon = {},
                        .sigma = sigma,
                        .delta = job.privacy.delta,
                        .accountant = job.privacy.accountant,
                        .insiders = job.privacy.against == ml::Adversary::kInsider};
  if (!sigma) target.epsilon = share * job.privacy.epsilon.value();
  const auto event = EventOf(target, SigmaOf(target));
  (void)dp::DiscreteGaussian(ml::CountVariance(event.sigma, kStatisticsNorm));
  return event;
}

dp::GaussianReleases StandardisationEvent(const DpsgdSettings& job) {
  const auto& standardise = job.features.standardise;
  // How many numbers there are is the same for all ranges.
  const auto of_columns = [&] {
    return LayoutOf(MomentsOf(WithRanges(job, mpc::RingMatrix::Zero(CountedCells(job), 1), 0).job)).size;
  };
  const mpc::Index coordinates = IsOfExtracted(job) ? TrainedFeatures(job) + 1 : of_columns();
  auto event = SumEvent(job, coordinates, standardise.sigma, standardise.share);
  event.of = dp::ReleasedFor::kMeans;
  return event;
}

void RequireFiles(const data::DataFiles& files, const std::string& party_file) {
  if (files.query.empty()) return;
  throw ConfigError(party_file +
                    ": [data] query: found a query, expected files, for a job with features.standardise");
}

mpc::RingMatrix SumOfMoments(const DpsgdSettings& job, const data::DataFiles& files, int party) {
  const auto moments = MomentsOf(job);
  return SumStatistics(moments, LayoutOf(moments), files, job.data.rows.at(static_cast<std::size_t>(party)))
      .sum;
}

mpc::RingMatrix SumOfRows(const data::Matrix& rows, double row_norm) {
  const auto size = static_cast<std::size_t>(rows.cols()) + 1;
  std::vector<double> vector(size, kRootOfHalf);
  std::vector<std::int64_t> encoded(size);
  mpc::RingMatrix sum = mpc::RingMatrix::Zero(rows.cols() + 1, 1);
  for (Eigen::Index row = 0; row < rows.rows(); ++row) {
    for (Eigen::Index k = 0; k < rows.cols(); ++k)
      vector[static_cast<std::size_t>(k)] = kRootOfHalf * static_cast<double>(rows(row, k)) / row_norm;
    ml::EncodeBounded(vector, kStatisticsBits, kStatisticsNorm, encoded);
    for (std::size_t k = 0; k < size; ++k)
      sum(static_cast<mpc::Index>(k), 0) += static_cast<std::uint64_t>(encoded[k]);
  }
  return sum;
}

std::vector<double> ScalesOf(const std::vector<NoisyVariance>& variances) {
  const auto columns = static_cast<double>(variances.size());
  double mean = 0;
  double noise = 0;  // mean square
  double apart_by_noise = 0;
  for (const auto& [value, own, common] : variances) {
    // Of a column of which nothing is known. To clamp every value would take the mean of noisy ones up.
    mean += (own > kMostVariance ? std::clamp(value, 0.0, kMostVariance) : value) / columns;
    noise += Square(own) / columns;
    apart_by_noise += (Square(own) - Square(common)) / columns;  // what all share sets none apart
  }
  double apart = 0;
  for (const auto& variance : variances) apart += Square(variance.value - mean);
  // Of K variances K - 3 tell more of how far they are apart than their mean and this factor cost.
  const double by_noise = std::max(columns - 3, 0.0) * apart_by_noise;
  const double all = columns < 4 ? 0 : 1;  // drawn at most
  const double drawn = by_noise < apart ? by_noise / apart : all;
  std::vector<double> scales;
  for (const auto& [value, own, common] : variances) {
    const double moved = std::clamp(drawn * (mean - value), -kFarthest * own, kFarthest * own);
    // As if noises were independent. The common part does not average out, but counted in full it makes
    // scales worse where records are few.
    const double left = std::sqrt(Square((1 - drawn) * own) + drawn * (2 - drawn) * noise / columns);
    scales.push_back(std::sqrt(std::max(value + moved, std::min(left, own))));
  }
  return scales;
}

DpsgdSettings Standardised(const DpsgdSettings& job, const mpc::RingMatrix& sum, double sigma) {
  auto standardised = job;
  standardised.features.standardise = {};
  if (IsOfExtracted(job)) {
    standardised.features.means = MeansOf(sum, job.features.row_norm);
    return standardised;
  }
  const auto moments = MomentsOf(job);
  const auto layout = LayoutOf(moments);
  const auto estimates = EstimatesOf(moments, layout, sum, sigma);
  const auto column_of = [&](std::size_t k) -> data::Column& {
    return standardised.data.columns.at(layout.moments[k].column);
  };
  std::vector<NoisyVariance> variances;
  for (const auto& moments_of : estimates.moments) variances.push_back(moments_of.variance);
  const auto scales = ScalesOf(variances);
  for (std::size_t k = 0; k < scales.size(); ++k) {
    auto& column = column_of(k);
    column.mean = std::clamp(estimates.moments[k].mean.value, *column.low, *column.high);
    column.scale = std::clamp(scales[k], kLeastScale, 0.5) * (*column.high - *column.low);
  }
  return standardised;
}

std::vector<std::string> MeansAdvice(const DpsgdSettings& job, const dp::GaussianReleases& event) {
  if (!IsOfExtracted(job)) return {};
  const auto rows = TotalRows(job.data);
  const auto features = static_cast<double>(TrainedFeatures(job));
  const double noise =
      dp::kAllOverTwo * event.sigma / kRootOfHalf * std::sqrt(features) / static_cast<double>(rows);
  if (noise < kDrowningMeans) return {};
  return {
      fmt::format("the noise on the means of {:.0f} features that features.standardise subtracts is as long "
                  "as {:.2g} of a row, "
                  "with the {} rows that the job declares: it moves every row that far; more rows, a larger "
                  "features.standardise_share or features.standardise = \"none\" is what helps",
                  features, noise, rows)};
}

DpsgdSettings OpenMoments(mpc::Context& party, const DpsgdSettings& job, const dp::GaussianReleases& event,
                          const mpc::RingMatrix& own, RandomStream stream) {
  ml::NoisySums sums({.coordinates = event.coordinates, .sigma = event.sigma, .sensitivity = kStatisticsNorm},
                     std::move(stream));
  const auto opened = sums.Next(party, own);
  auto standardised = Standardised(job, opened.value(), event.sigma);
  protocols::RequireSameEverywhere(party, DpsgdJson(standardised), "means and scales of features");
  return standardised;
}

std::vector<ReleasedValue> OpenedMoments(const DpsgdSettings& standardised) {
  if (IsOfExtracted(standardised))
    return {{.name = "standardise.means",
             .sha256 = Sha256Hex(nlohmann::json(standardised.features.means).dump())}};
  std::vector<ReleasedValue> values;
  for (const auto& column : standardised.data.columns) {
    if (!IsStandardised(standardised.data, column)) continue;
    values.push_back({.name = fmt::format("standardise.{}.mean", column.name), .value = column.mean});
    values.push_back({.name = fmt::format("standardise.{}.scale", column.name), .value = column.scale});
  }
  return values;
}

nlohmann::ordered_json StandardisationJson(const DpsgdSettings& standardised, double sigma) {
  if (IsOfExtracted(standardised))
    return {{"sigma", sigma}, {"features", standardised.features.means.size()}};
  auto columns = nlohmann::ordered_json::array();
  for (const auto& column : standardised.data.columns) {
    if (IsStandardised(standardised.data, column))
      columns.push_back({{"name", column.name}, {"mean", column.mean}, {"scale", column.scale}});
  }
  return {{"sigma", sigma}, {"columns", std::move(columns)}};
}

}  // namespace trefoil::jobs
