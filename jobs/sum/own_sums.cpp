#include "jobs/sum/own_sums.h"

#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <span>

#include "base/error.h"
#include "data/dataset/groups.h"
#include "data/formats/file.h"
#include "jobs/config/fields.h"
#include "ml/records.h"

namespace trefoil::jobs {
namespace {

namespace fs = std::filesystem;
using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;

/// One row of an array of two dimensions. Throws DataError for what is not finite.
std::vector<double> RowOf(const data::NpyArray& array, std::size_t row, const fs::path& file) {
  const std::size_t columns = array.shape.back();
  const std::size_t bytes = columns * array.item_size();
  auto numbers =
      data::NpyToDoubles(array.descr, std::string_view(array.bytes).substr(row * bytes, bytes), file);
  for (std::size_t k = 0; k < columns; ++k) {
    if (!std::isfinite(numbers[k]))
      data::ThrowDataError(file, fmt::format("record {}, number {}", row + 1, k + 1),
                           data::NumberText(numbers[k]), "a finite number");
  }
  return numbers;
}

/// Of each row its group. Throws DataError for another number of keys than `rows`.
std::vector<std::int64_t> ReadGroups(const fs::path& file, std::size_t rows, std::int64_t most) {
  const auto array = data::ReadNpy(file, [&](const std::vector<std::size_t>& shape, std::size_t) {
    if (shape != std::vector<std::size_t>{rows})
      data::ThrowDataError(file, "", "shape " + data::ShapeText(shape),
                           fmt::format("{} keys, one a row", rows));
  });
  constexpr double kMaxKey = 0x1p53;  // beyond it different whole numbers are one double
  std::vector<std::string> keys;
  for (const double key : data::NpyToDoubles(array, file)) {
    if (!(std::abs(key) < kMaxKey) || key != std::floor(key))
      data::ThrowDataError(file, fmt::format("record {}", keys.size() + 1), "another key",
                           "a whole number of magnitude below 2^53");
    keys.push_back(fmt::format("{}", static_cast<std::int64_t>(key)));
  }
  return data::GroupNumbers(keys, most, file);
}

/// A word of ones for each row that takes part in a call, by a coin for each unit of privacy; else of zeros.
std::vector<Word> DrawTaken(const SumSettings& job, const std::vector<std::int64_t>& groups, std::size_t rows,
                            RandomStream& coins) {
  const auto count = static_cast<std::int64_t>(rows);
  std::vector<Word> taken(rows, job.sampling_rate == 1 ? ~Word{0} : Word{0});
  if (job.sampling_rate == 1) return taken;
  const auto drawn = job.groups() ? ml::DrawGroups(coins, groups, job.sampling_rate, count)
                                  : ml::DrawRows(coins, count, job.sampling_rate, count);
  for (const auto row : drawn) taken[static_cast<std::size_t>(row)] = ~Word{0};
  return taken;
}

/// Of one call: every row is shortened, rounded and added, those that are not taken as zeros.
RingMatrix SumOfVectors(const SumSettings& job, const data::NpyArray& vectors, const fs::path& file,
                        const std::vector<Word>& taken) {
  const auto norm = NormInUnits(job);
  std::vector<std::int64_t> encoded(static_cast<std::size_t>(job.dimension));
  RingMatrix sum = RingMatrix::Zero(job.dimension, 1);
  for (std::size_t row = 0; row < taken.size(); ++row) {
    ml::EncodeBounded(RowOf(vectors, row, file), job.fraction_bits, norm, encoded);
    for (std::size_t k = 0; k < encoded.size(); ++k)
      sum.data()[k] += static_cast<Word>(encoded[k]) & taken[row];
  }
  return sum;
}

/// What an owner has summed by itself, rounded to the lattice.
RingMatrix OwnersSum(const SumSettings& job, const fs::path& file, std::int64_t records) {
  const auto dimension = static_cast<std::size_t>(job.dimension);
  const auto array = data::ReadNpy(file, [&](const std::vector<std::size_t>& shape, std::size_t) {
    if (shape != std::vector<std::size_t>{dimension})
      data::ThrowDataError(file, "", "shape " + data::ShapeText(shape),
                           fmt::format("one vector of {} numbers", dimension));
  });
  const double most = static_cast<double>(records) * (job.norm_bound + job.allowance);
  const auto numbers = RowOf(array, 0, file);
  RingMatrix sum(job.dimension, 1);
  for (std::size_t k = 0; k < dimension; ++k) {
    if (std::abs(numbers[k]) > most)
      data::ThrowDataError(file, fmt::format("number {}", k + 1), data::NumberText(numbers[k]),
                           fmt::format("at most {}, as {} records of norm {} may have",
                                       data::NumberText(most), records, job.norm_bound));
    // A power of two: nothing is lost but below the lattice.
    const double units = std::ldexp(numbers[k], job.fraction_bits);
    sum.data()[k] = static_cast<Word>(static_cast<std::int64_t>(units));
  }
  return sum;
}

/// The files that data.KEY names, one a call, where the job wants any. Throws ConfigError where the key is there and is not
/// wanted, or the other way round.
std::vector<fs::path> FilesOf(const PartyFile& party, const char* what, std::int64_t calls, bool wanted,
                              const std::string& party_file) {
  const auto key = fmt::format("data.{}", what);
  const auto& path = party.inputs[key];
  if (wanted == path.empty())
    throw ConfigError(fmt::format(
        "{}: {}: found {}, expected {}", party_file, key, wanted ? "nothing" : "a path",
        wanted ? (calls == 1 ? "this party's NPY file" : "the folder of this party's NPY files, one a call")
               : "none, as the job wants none here"));
  std::vector<fs::path> files;
  for (std::int64_t call = 0; call < (wanted ? calls : 0); ++call)
    files.push_back(FileOfCall(path, what, calls, call));
  return files;
}

}  // namespace

void SumInputs(FieldVisitor& v, InputPaths& inputs) {
  v.Table("data", "", [&] {
    PathField(v, "vectors", inputs["data.vectors"],
              "`sum`: required where the job declares records here and the program sums: an NPY file, rows × "
              "dimension; with several calls a folder of them, `vectors-1.npy` …");
    PathField(v, "vector", inputs["data.vector"],
              "`sum`: the same where owners sum: dimension numbers; or a folder, `vector-1.npy` …");
    PathField(v, "keys", inputs["data.keys"],
              "`sum`: required with groups: a whole number a row of `vectors`, the same for rows of one "
              "group; or a folder, `keys-1.npy` …");
  });
}

fs::path FileOfCall(const fs::path& path, const char* what, std::int64_t calls, std::int64_t call) {
  return calls == 1 ? path : path / fmt::format("{}-{}.npy", what, call + 1);
}

data::NpyArray ReadVectors(const fs::path& file, std::int64_t dimension, std::int64_t most) {
  return data::ReadNpy(file, [&](const std::vector<std::size_t>& shape, std::size_t) {
    if (shape.size() != 2 || shape[1] != static_cast<std::size_t>(dimension))
      data::ThrowDataError(file, "", "shape " + data::ShapeText(shape),
                           fmt::format("vectors of {} numbers, a row each", dimension));
    if (shape[0] > static_cast<std::size_t>(most))
      data::ThrowDataError(file, "", fmt::format("{} records", shape[0]),
                           fmt::format("at most the {} that the job declares", most));
  });
}

OwnSums LoadOwnSums(const SumSettings& job, const PartyFile& party, const std::string& party_file,
                    RandomStream& coins) {
  const auto records = job.rows.at(static_cast<std::size_t>(party.id));
  const auto files = [&](const char* what, bool wanted) {
    return FilesOf(party, what, job.calls, wanted && records > 0, party_file);
  };
  const auto vectors = files("vectors", !job.owners_sum);
  const auto summed = files("vector", job.owners_sum);
  const auto keys = files("keys", job.groups());
  OwnSums own;
  for (const auto& file : summed) own.of_calls.push_back(OwnersSum(job, file, records));
  for (std::size_t call = 0; call < vectors.size(); ++call) {
    const auto array = ReadVectors(vectors[call], job.dimension, records);
    const auto groups = job.groups() ? ReadGroups(keys[call], array.shape[0], job.max_group_rows)
                                     : std::vector<std::int64_t>();
    own.of_calls.push_back(
        SumOfVectors(job, array, vectors[call], DrawTaken(job, groups, array.shape[0], coins)));
    own.rows += static_cast<std::int64_t>(array.shape[0]);
  }
  own.of_calls.resize(static_cast<std::size_t>(job.calls), RingMatrix::Zero(job.dimension, 1));
  return own;
}

}  // namespace trefoil::jobs
