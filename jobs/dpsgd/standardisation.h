#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/secrets/random.h"
#include "data/dataset/data_files.h"
#include "dp/record/record.h"
#include "jobs/dpsgd/settings/settings.h"
#include "jobs/job.h"
#include "jobs/statistics/estimates.h"
#include "mpc/context.h"
#include "mpc/ring.h"

/// Means and scales of columns of numbers, or means of extracted features, from one noisy sum of the records
/// that are trained on afterwards: the moments of a job of statistics, or the rows, on its lattice and with
/// its bound (docs/explanation/privacy.md, "Standardised features").
namespace trefoil::jobs {

/// A scale is at least this part of its column's range.
inline constexpr double kLeastScale = 1e-6;

/// Whether features.standardise is about extracted features, and not about columns.
[[nodiscard]] bool IsOfExtracted(const DpsgdSettings& job);

/// Whether features.standardise is about this column: a number that is a feature.
[[nodiscard]] bool IsStandardised(const data::DataSpec& spec, const data::Column& column);

/// What a noisy sum of all records, which comes before the steps, is charged, if a record moves it by
/// kStatisticsNorm at most: with noise multiplier `sigma`, or the least that takes `share` of privacy.epsilon
/// by itself. Throws ConfigError where none does, or noise is out of the sampler's domain. Pre: `sigma` or
/// privacy.epsilon.
[[nodiscard]] dp::GaussianReleases SumEvent(const DpsgdSettings& job, mpc::Index coordinates,
                                            std::optional<double> sigma, double share);

/// What the sum is charged: with the job's noise multiplier, or the least that takes its share of
/// privacy.epsilon by itself. Throws ConfigError where none does, or noise is out of the sampler's domain.
/// Pre: features.standardise.
[[nodiscard]] dp::GaussianReleases StandardisationEvent(const DpsgdSettings& job);

/// Records are read more than once where columns are standardised: a table that changes in between would have
/// records in the training that are in no ledger's hash. Of files SameData sees to it; throws ConfigError for
/// a query.
void RequireFiles(const data::DataFiles& files, const std::string& party_file);

/// What the records of a file add to the sum of columns, as many at most as the job declares for `party`:
/// StandardisationEvent().coordinates x 1, in units in which a record adds kStatisticsNorm at most. Throws
/// DataError as data::Load. Pre: features.standardise, not IsOfExtracted, and ranges that are known.
[[nodiscard]] mpc::RingMatrix SumOfMoments(const DpsgdSettings& job, const data::DataFiles& files, int party);

/// The same of extracted rows, before any mean is subtracted: of each feature the sum, and last how many rows
/// there are. A row and the 1 that counts it are one vector on the lattice; a row that is longer than
/// `row_norm` counts as a shorter one.
[[nodiscard]] mpc::RingMatrix SumOfRows(const data::Matrix& rows, double row_norm);

/// Scales of columns by the variances that a noisy sum has of them, both in parts of each column's range. The
/// less the variances are apart beyond the noise that each has for itself, the more the mean of all says of
/// each: so each is drawn towards it, but by twice its noise at most (James and Stein 1961; Efron and Morris
/// 1972 and 1975; docs/explanation/privacy.md, "Standardised features"). A scale is the root of that, or of
/// the noise that would be left on it if the columns' noises were independent, whichever is more. Without
/// noise, and of fewer than four columns, no variance moves. Only operations that IEEE 754 rounds correctly:
/// the same numbers from all x86-64 builds of this repository.
[[nodiscard]] std::vector<double> ScalesOf(const std::vector<NoisyVariance>& variances);

/// The job with the means and scales that an opened sum gives its columns, by which records are read from
/// here on, and without features.standardise: a mean lies within its column's range, a scale is that of
/// ScalesOf, but at least kLeastScale of the range, and at most half of it. Of sums of zeros the middle of
/// the range, and half of it. Of extracted features the means are features.means, shortened to row_norm where
/// noise has made them longer than any mean of rows is; of sums of zeros zeros. `sigma`: the sum's noise
/// multiplier; 0: it has no noise. Pre: features.standardise.
[[nodiscard]] DpsgdSettings Standardised(const DpsgdSettings& job, const mpc::RingMatrix& sum, double sigma);

/// Standardised() by the sum of all parties' `own` (SumOfMoments) and noise, which opens to all three, and is
/// charged `event`. `stream` is RandomStream::FromSystem() but in tests. Cost: ml::NoisySumCost, then
/// protocols::RequireSameEverywhereCost. Throws NetworkError, ProtocolError; ConfigError where the parties
/// come to different numbers.
[[nodiscard]] DpsgdSettings OpenMoments(mpc::Context& party, const DpsgdSettings& job,
                                        const dp::GaussianReleases& event, const mpc::RingMatrix& own,
                                        RandomStream stream);

/// A line where the noise on the means of extracted features is long beside a row, by public numbers alone;
/// else none. `event`: StandardisationEvent().
[[nodiscard]] std::vector<std::string> MeansAdvice(const DpsgdSettings& job,
                                                   const dp::GaussianReleases& event);

/// What the columns of a job of Standardised() were standardised by, for the session log and for the summary;
/// of extracted features, whose means are in the model, the SHA-256 of these as the model's job has them, and
/// how many there are.
[[nodiscard]] std::vector<ReleasedValue> OpenedMoments(const DpsgdSettings& standardised);
[[nodiscard]] nlohmann::ordered_json StandardisationJson(const DpsgdSettings& standardised, double sigma);

}  // namespace trefoil::jobs
