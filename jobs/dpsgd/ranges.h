#pragma once
#include <span>
#include <string>
#include <vector>

#include "base/secrets/random.h"
#include "data/dataset/data_files.h"
#include "dp/record/record.h"
#include "jobs/dpsgd/settings/settings.h"
#include "jobs/job.h"
#include "mpc/context.h"
#include "mpc/ring.h"

/// Ranges of columns of numbers that nobody has to know: how many records lie in each cell of one grid, which
/// is the same for all columns of all jobs, with noise, before the moments of the columns are summed
/// (docs/explanation/privacy.md, "Ranges that are found").
namespace trefoil::jobs {

/// The grid: powers of two, from 2^-64 to 2^64, of each sign, and around zero a cell of what is smaller. What
/// is larger than 2^64 is in the outermost cells.
inline constexpr mpc::Index kGridOctaves = 128;
inline constexpr mpc::Index kGridCells = 2 * kGridOctaves + 1;

/// Where cell `border` begins, and the one before it ends. Pre: from 0 to kGridCells.
[[nodiscard]] double GridBorder(mpc::Index border);

struct GridRange {
  double low = 0;
  double high = 0;
  bool above_noise = false;  ///< whether what it was chosen by is more than noise makes up
};

/// A column's range by the counts of its cells, each with noise of deviation `noise`, in records: from the
/// first to the last cell that belongs to a stretch of cells whose counts are clearly above their noise, less
/// cells at either end that have a hundredth of such records at most. Where no stretch is, the one that comes
/// next to it; where no count is above twice its noise, the cell around zero. Always low < high. Only
/// operations that IEEE 754 rounds correctly. Pre: kGridCells counts.
[[nodiscard]] GridRange RangeOf(std::span<const double> counts, double noise);

/// All numbers of all sums: kGridCells for each column of range "private"; 0 where there is none.
[[nodiscard]] mpc::Index CountedCells(const DpsgdSettings& job);

/// What the counts are charged: with the job's noise multiplier, or the least that takes its share of
/// privacy.epsilon by itself. Throws ConfigError where none does, noise is out of the sampler's domain, or
/// there are more than a million cells: the other functions are for fewer. Pre: CountedCells() above 0.
[[nodiscard]] dp::GaussianReleases RangesEvent(const DpsgdSettings& job);

/// What the records of a file add to the counts, as many at most as the job declares for `party`:
/// CountedCells() x 1. A record adds UnitOfCount() in one cell of each column in which it has a value, and so
/// no more than kStatisticsNorm in all. Throws DataError as data::Load. Reads nothing where no column is
/// counted.
[[nodiscard]] mpc::RingMatrix CountCells(const DpsgdSettings& job, const data::DataFiles& files, int party);

/// What one record adds to a cell: the largest u with columns u^2 <= kStatisticsNorm^2. Pre: columns above
/// 0, and no more than RangesEvent() takes.
[[nodiscard]] std::uint64_t UnitOfCount(mpc::Index columns);

/// The job with the ranges that counts give, in place of range "private".
struct FoundRanges {
  DpsgdSettings job;
  std::vector<std::string> unsure{};  ///< columns whose range is not above_noise
};

/// By RangeOf() of each column; `sigma`: the noise multiplier of the counts; 0: they have no noise. A job
/// without such columns stays as it is. Pre: `counts` is CountedCells(job) x 1.
[[nodiscard]] FoundRanges WithRanges(const DpsgdSettings& job, const mpc::RingMatrix& counts, double sigma);

/// WithRanges() by the sum of all parties' `own` (CountCells) and noise, which opens to all three, and is
/// charged `event`. `stream` is RandomStream::FromSystem() but in tests. Cost: ml::NoisySumCost, then
/// protocols::RequireSameEverywhereCost. Throws NetworkError, ProtocolError; ConfigError where the parties
/// come to different numbers.
[[nodiscard]] FoundRanges OpenRanges(mpc::Context& party, const DpsgdSettings& job,
                                     const dp::GaussianReleases& event, const mpc::RingMatrix& own,
                                     RandomStream stream);

/// A line where the noise on a count is much beside the records that the job declares, by public numbers
/// alone; else none. `event`: RangesEvent().
[[nodiscard]] std::vector<std::string> RangesAdvice(const DpsgdSettings& job,
                                                    const dp::GaussianReleases& event);

/// The ranges that were found, for the session log. `job`: before they were.
[[nodiscard]] std::vector<ReleasedValue> OpenedRanges(const DpsgdSettings& job, const FoundRanges& found);

/// Adds what was found to the summary's standardisation, and a line where a range is not above its noise.
/// `job`: before the ranges were found.
void AddRanges(const DpsgdSettings& job, const FoundRanges& found, double sigma, JobResult& result);

/// Adds what the ranges do to this party's own records: of each column how many of its numbers lie in cells
/// beyond the range, where any do, a warning where it is a tenth of them at least, else a note. For the
/// owner's eyes alone; each line says what acting on it would tell the others. `job`: before the ranges were
/// found; `own`: CountCells(), by which what is beyond the grid is at its end.
void AddRangeLines(const DpsgdSettings& job, const FoundRanges& found, const mpc::RingMatrix& own,
                   OwnerLines& lines);

}  // namespace trefoil::jobs
