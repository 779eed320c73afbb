#include "jobs/sum/shared_sums.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "data/formats/numpy/npy_numbers.h"
#include "jobs/ranks/of_rank0.h"
#include "jobs/ranks/same_files.h"
#include "ml/ranks/rank_sums.h"

namespace trefoil::jobs {
namespace {

namespace fs = std::filesystem;
using data::NpyNumbers;
using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;

constexpr std::size_t kNumbersAtOnce = std::size_t{1} << 17;

/// Of `all` one behind the other, as many at each rank but for the last ones: those of this rank.
struct RankPart {
  RankPart(std::size_t all, const mpc::Ranks& ranks)
      : height(static_cast<std::size_t>(ml::SliceOf(static_cast<Index>(all), ranks.count()))),
        first(std::min(all, height * static_cast<std::size_t>(ranks.rank()))),
        count(std::min(height, all - first)) {}
  std::size_t height;  ///< of every rank at most
  std::size_t first;
  std::size_t count;
};

/// DrawTaken of all rows by rank 0's coins, of which each rank gets its own.
std::vector<Word> DealTaken(const SumSettings& job, const fs::path& keys, std::size_t rows,
                            const RankPart& part, RandomStream& coins, mpc::Ranks& ranks) {
  const bool first = ranks.rank() == 0;
  std::vector<std::int64_t> groups;
  if (first && job.groups()) groups = ReadGroups(job, keys, rows);
  if (job.sampling_rate == 1) return std::vector<Word>(part.count, ~Word{0});
  std::vector<std::byte> all;
  if (first) {
    for (const Word taken : DrawTaken(job, groups, rows, coins))
      all.push_back(static_cast<std::byte>(taken & 1U));
    all.resize(part.height * static_cast<std::size_t>(ranks.count()));
  }
  std::vector<std::byte> own(part.height);
  ranks.Scatter(all, own);
  std::vector<Word> taken;
  for (std::size_t k = 0; k < part.count; ++k) taken.push_back(Word{0} - static_cast<Word>(own[k]));
  return taken;
}

/// Of the rows from `first` on, one for each of `taken`.
RingMatrix SumOfPart(const SumSettings& job, const NpyNumbers& vectors, const fs::path& file,
                     std::size_t first, const std::vector<Word>& taken) {
  const auto dimension = static_cast<std::size_t>(job.dimension);
  const std::size_t at_once = std::max<std::size_t>(1, kNumbersAtOnce / dimension);
  VectorSum sum(job);
  for (std::size_t done = 0; done < taken.size(); done += at_once) {
    const std::size_t count = std::min(at_once, taken.size() - done);
    const auto numbers = vectors.Read((first + done) * dimension, count * dimension);
    for (std::size_t k = 0; k < count; ++k) {
      const auto row = std::span(numbers).subspan(k * dimension, dimension);
      RequireFinite(row, first + done + k, file);
      sum.Add(row, taken[done + k]);
    }
  }
  return sum.TakeSum();
}

/// An array of which every rank reads a part. What holds of it holds of the file that is open here, though
/// another one may come in its place.
class SharedNumbers {
 public:
  /// Every rank calls it. Throws DataError as NpyNumbers, and at a rank that has another array than rank 0.
  SharedNumbers(const fs::path& file, const data::ShapeCheck& check, mpc::Ranks& ranks)
      : file_(file), numbers_(file, check), sample_(OfRank0(numbers_.Sample(), ranks)) {
    RequireUnchanged();
  }
  /// For after the reading.
  void RequireUnchanged() const { RequireSameFile(file_, numbers_.Sample(), sample_); }
  [[nodiscard]] const NpyNumbers& numbers() const { return numbers_; }

 private:
  fs::path file_;
  NpyNumbers numbers_;
  std::string sample_;  ///< rank 0's
};

/// This rank's slice of what the owner has summed.
RingMatrix SliceOfOwnersSum(const SumSettings& job, const fs::path& file, std::int64_t records,
                            mpc::Ranks& ranks) {
  const RankPart part(static_cast<std::size_t>(job.dimension), ranks);
  const SharedNumbers shared(file, OwnersSumShape(file, job.dimension), ranks);
  const auto numbers = shared.numbers().Read(part.first, part.count);
  shared.RequireUnchanged();
  RequireFinite(numbers, 0, file, part.first);
  RingMatrix slice = RingMatrix::Zero(static_cast<Index>(part.height), 1);
  slice.topRows(static_cast<Index>(part.count)) = RoundedOwnersSum(job, numbers, records, file, part.first);
  return slice;
}

std::int64_t DeclaredRecords(const SumSettings& job, const PartyFile& party) {
  return job.rows.at(static_cast<std::size_t>(party.id));
}

/// Throws as LoadOwnSums by the party file and the heads of the files, and DataError for a file of which no
/// part can be read alone.
void RequireParts(const SumSettings& job, const PartyFile& party, const SumFiles& files) {
  for (const auto& file : files.vectors)
    (void)NpyNumbers(file, VectorsShape(file, job.dimension, DeclaredRecords(job, party)));
  for (const auto& file : files.summed) (void)NpyNumbers(file, OwnersSumShape(file, job.dimension));
}

}  // namespace

std::int64_t CheckSharedSums(const SumSettings& job, const PartyFile& party, const std::string& party_file) {
  const auto files = FilesOfSums(job, party, party_file);
  const auto declared = DeclaredRecords(job, party);
  RequireParts(job, party, files);
  for (const auto& file : files.summed) {
    const auto numbers = NpyNumbers(file, OwnersSumShape(file, job.dimension))
                             .Read(0, static_cast<std::size_t>(job.dimension));
    RequireFinite(numbers, 0, file);
    (void)RoundedOwnersSum(job, numbers, declared, file);
  }
  std::int64_t all = 0;
  for (std::size_t call = 0; call < files.vectors.size(); ++call) {
    const auto& file = files.vectors[call];
    const NpyNumbers vectors(file, VectorsShape(file, job.dimension, declared));
    const std::size_t rows = vectors.shape()[0];
    if (job.groups()) (void)ReadGroups(job, files.keys[call], rows);
    (void)SumOfPart(job, vectors, file, 0, std::vector<Word>(rows, 0));
    all += static_cast<std::int64_t>(rows);
  }
  return all;
}

double MemoryOfSharedSums(const SumSettings& job) {
  const auto numbers = static_cast<double>(job.dimension);
  // Rows that are read together as bytes and as numbers; a row rounded, and the sum; then this and the parts
  // of all ranks.
  return sizeof(double) *
         std::max(2 * std::max(numbers, static_cast<double>(kNumbersAtOnce)) + 2 * numbers, 3 * numbers);
}

OwnSums LoadSharedSums(const SumSettings& job, const PartyFile& party, const std::string& party_file,
                       RandomStream& coins, mpc::Ranks& ranks) {
  const auto files = FilesOfSums(job, party, party_file);
  // What is wrong at all machines is for the first of them to find.
  if (ranks.rank() == 0) RequireParts(job, party, files);
  ranks.Barrier();
  OwnSums own;
  for (const auto& file : files.summed)
    own.of_calls.push_back(SliceOfOwnersSum(job, file, DeclaredRecords(job, party), ranks));
  for (std::size_t call = 0; call < files.vectors.size(); ++call) {
    const auto& file = files.vectors[call];
    const SharedNumbers shared(file, VectorsShape(file, job.dimension, DeclaredRecords(job, party)), ranks);
    const std::size_t rows = shared.numbers().shape()[0];
    const RankPart part(rows, ranks);
    const auto taken = DealTaken(job, job.groups() ? files.keys[call] : fs::path(), rows, part, coins, ranks);
    auto sum = SumOfPart(job, shared.numbers(), file, part.first, taken);
    shared.RequireUnchanged();
    own.of_calls.push_back(ml::SliceOfSum(sum, ranks));
    own.rows += static_cast<std::int64_t>(rows);
  }
  own.of_calls.resize(static_cast<std::size_t>(job.calls),
                      RingMatrix::Zero(ml::SliceOf(job.dimension, ranks.count()), 1));
  return own;
}

}  // namespace trefoil::jobs
