#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "base/random.h"
#include "data/formats/npy.h"
#include "jobs/config/party_file.h"
#include "jobs/sum/settings.h"
#include "mpc/ring.h"

namespace trefoil::jobs {

/// The keys that such a job has in the party file's [data].
void SumInputs(FieldVisitor& v, InputPaths& inputs);

/// The file of a call that `path` names: `path` itself of a job of one call, else "WHAT-2.npy" of that folder.
[[nodiscard]] std::filesystem::path FileOfCall(const std::filesystem::path& path, const char* what,
                                               std::int64_t calls, std::int64_t call);

/// What a party adds to each call's sum, and what its owner alone may know of that.
struct OwnSums {
  std::vector<mpc::RingMatrix> of_calls;  ///< dimension x 1 each
  std::int64_t rows = 0;                  ///< of all calls together
};

/// Reads all files of this party and sums them on the job's lattice, with coins of `coins` where the job samples. What a
/// file holds but who is sampled does not show in how long it takes. Throws ConfigError where the party file names other
/// files than the job asks for; DataError naming file, record and number for another shape, for what is not finite, for a
/// key with too many rows, and for an owner's sum that no declared records can have.
[[nodiscard]] OwnSums LoadOwnSums(const SumSettings& job, const PartyFile& party,
                                  const std::string& party_file, RandomStream& coins);

/// A file of a call: NPY, rows x dimension. Throws DataError for another shape and more rows than `most`.
[[nodiscard]] data::NpyArray ReadVectors(const std::filesystem::path& file, std::int64_t dimension,
                                         std::int64_t most);

}  // namespace trefoil::jobs
