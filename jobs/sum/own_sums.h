#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/secrets/random.h"
#include "data/formats/numpy/npy.h"
#include "jobs/config/party_file.h"
#include "jobs/sum/settings.h"
#include "mpc/ring.h"

namespace trefoil::jobs {

/// The keys that such a job has in the party file's [data].
void SumInputs(FieldVisitor& v, InputPaths& inputs);

/// The file of a call that `path` names: `path` itself of a job of one call, else "WHAT-2.npy" of that
/// folder.
[[nodiscard]] std::filesystem::path FileOfCall(const std::filesystem::path& path, const char* what,
                                               std::int64_t calls, std::int64_t call);

/// Throws ConfigError where the party file names files for such a job: a program brings the vectors.
void RefuseFiles(const PartyFile& party, const std::string& party_file);

/// What a party adds to each call's sum, and what its owner alone may know of that.
struct OwnSums {
  std::vector<mpc::RingMatrix> of_calls;  ///< dimension x 1 each
  std::int64_t rows = 0;                  ///< of all calls together
};

/// Reads all files of this party and sums them on the job's lattice, with coins of `coins` where the job
/// samples. What a file holds but who is sampled does not show in how long it takes. Throws ConfigError where
/// the party file names other files than the job asks for; DataError naming file, record and number for
/// another shape, for what is not finite, for a key with too many rows, and for an owner's sum that no
/// declared records can have.
[[nodiscard]] OwnSums LoadOwnSums(const SumSettings& job, const PartyFile& party,
                                  const std::string& party_file, RandomStream& coins);

/// Sums vectors of records on the job's lattice, each shortened to its bound.
class VectorSum {
 public:
  explicit VectorSum(const SumSettings& job);
  /// `taken`: a word of ones; or zeros for a record that the sum leaves out, which takes as long. Pre: finite
  /// numbers, job.dimension of them.
  void Add(std::span<const double> vector, mpc::Word taken);
  /// What has been added. Nothing is added after it.
  [[nodiscard]] mpc::RingMatrix TakeSum() { return std::move(sum_); }

 private:
  int fraction_bits_;
  std::uint64_t norm_;
  std::vector<std::int64_t> encoded_;
  mpc::RingMatrix sum_;
};

/// A word of ones for each of `rows` records that takes part in a call, by a coin for each unit of privacy;
/// else zeros. `groups`: of each record, where the job has groups.
[[nodiscard]] std::vector<mpc::Word> DrawTaken(const SumSettings& job,
                                               const std::vector<std::int64_t>& groups, std::size_t rows,
                                               RandomStream& coins);

/// Of each record its group. Throws DataError naming `file` and the record where a key has more than the job
/// allows.
[[nodiscard]] std::vector<std::int64_t> GroupsOf(const SumSettings& job,
                                                 const std::vector<std::int64_t>& keys,
                                                 const std::filesystem::path& file);

/// What an owner has summed by itself, rounded to the lattice: the numbers from `first` on. Throws DataError
/// naming `file` and which number it is, not what it says, for what `records` records cannot have. Pre:
/// finite numbers.
[[nodiscard]] mpc::RingMatrix RoundedOwnersSum(const SumSettings& job, std::span<const double> numbers,
                                               std::int64_t records, const std::filesystem::path& file,
                                               std::size_t first = 0);

/// Throws DataError naming `file`, record `row` (from 0) and the number for what is not finite; `first`:
/// which of the record's numbers is the vector's first.
void RequireFinite(std::span<const double> vector, std::size_t row, const std::filesystem::path& file,
                   std::size_t first = 0);

/// The files of a party, one a call, of the kinds that the job asks for.
struct SumFiles {
  std::vector<std::filesystem::path> vectors{};
  std::vector<std::filesystem::path> summed{};  ///< by their owner
  std::vector<std::filesystem::path> keys{};    ///< of the rows of `vectors`
};

/// Throws ConfigError as LoadOwnSums.
[[nodiscard]] SumFiles FilesOfSums(const SumSettings& job, const PartyFile& party,
                                   const std::string& party_file);

/// Of each of `rows` records the group that its key in `file` says. Throws DataError for another number of
/// keys, and as GroupsOf.
[[nodiscard]] std::vector<std::int64_t> ReadGroups(const SumSettings& job, const std::filesystem::path& file,
                                                   std::size_t rows);

/// Of a file of a call: throws DataError unless it is `dimension` numbers a row, and at most `most` rows; or,
/// of what an owner has summed, `dimension` numbers.
[[nodiscard]] data::ShapeCheck VectorsShape(const std::filesystem::path& file, std::int64_t dimension,
                                            std::int64_t most);
[[nodiscard]] data::ShapeCheck OwnersSumShape(const std::filesystem::path& file, std::int64_t dimension);

/// A file of a call: NPY, rows x dimension. Throws DataError as VectorsShape.
[[nodiscard]] data::NpyArray ReadVectors(const std::filesystem::path& file, std::int64_t dimension,
                                         std::int64_t most);

}  // namespace trefoil::jobs
