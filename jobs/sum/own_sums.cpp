#include "jobs/sum/own_sums.h"

#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <span>

#include "base/error.h"
#include "data/dealing/groups.h"
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
  const std::size_t bytes = array.shape.back() * array.item_size();
  auto numbers =
      data::NpyToDoubles(array.descr, std::string_view(array.bytes).substr(row * bytes, bytes), file);
  RequireFinite(numbers, row, file);
  return numbers;
}

/// Of one call: every row is shortened, rounded and added, those that are not taken as zeros.
RingMatrix SumOfVectors(const SumSettings& job, const data::NpyArray& vectors, const fs::path& file,
                        const std::vector<Word>& taken) {
  VectorSum sum(job);
  for (std::size_t row = 0; row < taken.size(); ++row) sum.Add(RowOf(vectors, row, file), taken[row]);
  return sum.TakeSum();
}

RingMatrix OwnersSum(const SumSettings& job, const fs::path& file, std::int64_t records) {
  const auto array = data::ReadNpy(file, OwnersSumShape(file, job.dimension));
  return RoundedOwnersSum(job, RowOf(array, 0, file), records, file);
}

/// The files that data.KEY names, one a call, where the job wants any. Throws ConfigError where the key is
/// there and is not wanted, or the other way round.
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

VectorSum::VectorSum(const SumSettings& job)
    : fraction_bits_(job.fraction_bits),
      norm_(NormInUnits(job)),
      encoded_(static_cast<std::size_t>(job.dimension)),
      sum_(RingMatrix::Zero(job.dimension, 1)) {}

void VectorSum::Add(std::span<const double> vector, Word taken) {
  ml::EncodeBounded(vector, fraction_bits_, norm_, encoded_);
  for (std::size_t k = 0; k < encoded_.size(); ++k) sum_.data()[k] += static_cast<Word>(encoded_[k]) & taken;
}

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

std::vector<std::int64_t> GroupsOf(const SumSettings& job, const std::vector<std::int64_t>& keys,
                                   const fs::path& file) {
  return data::GroupNumbers(keys, job.max_group_rows, file);
}

std::vector<std::int64_t> ReadGroups(const SumSettings& job, const fs::path& file, std::size_t rows) {
  const auto array = data::ReadNpy(file, [&](const std::vector<std::size_t>& shape, std::size_t) {
    if (shape != std::vector<std::size_t>{rows})
      data::ThrowDataError(file, "", "shape " + data::ShapeText(shape),
                           fmt::format("{} keys, one a row", rows));
  });
  constexpr double kMaxKey = 0x1p53;  // beyond it different whole numbers are one double
  std::vector<std::int64_t> keys;
  keys.reserve(rows);
  for (const double key : data::NpyToDoubles(array, file)) {
    if (!(std::abs(key) < kMaxKey) || key != std::floor(key))
      data::ThrowDataError(file, fmt::format("record {}", keys.size() + 1), "another key",
                           "a whole number of magnitude below 2^53");
    keys.push_back(static_cast<std::int64_t>(key));
  }
  return GroupsOf(job, keys, file);
}

RingMatrix RoundedOwnersSum(const SumSettings& job, std::span<const double> numbers, std::int64_t records,
                            const fs::path& file, std::size_t first) {
  const double most = static_cast<double>(records) * (job.norm_bound + job.allowance);
  RingMatrix sum(static_cast<Index>(numbers.size()), 1);
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    if (std::abs(numbers[k]) > most)
      data::ThrowDataError(file, fmt::format("number {}", first + k + 1), "a number of larger magnitude",
                           fmt::format("at most {}, as {} records of norm {} may have",
                                       data::NumberText(most), records, job.norm_bound));
    // A power of two: nothing is lost but below the lattice.
    const double units = std::ldexp(numbers[k], job.fraction_bits);
    sum.data()[k] = static_cast<Word>(static_cast<std::int64_t>(units));
  }
  return sum;
}

void RequireFinite(std::span<const double> vector, std::size_t row, const fs::path& file, std::size_t first) {
  for (std::size_t k = 0; k < vector.size(); ++k) {
    if (!std::isfinite(vector[k]))
      data::ThrowDataError(file, fmt::format("record {}, number {}", row + 1, first + k + 1),
                           data::NumberText(vector[k]), "a finite number");
  }
}

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

void RefuseFiles(const PartyFile& party, const std::string& party_file) {
  for (const char* what : {"vectors", "vector", "keys"}) {
    const auto key = fmt::format("data.{}", what);
    if (!party.inputs[key].empty())
      throw ConfigError(fmt::format("{}: {}: found a path, expected none, as a program brings the vectors",
                                    party_file, key));
  }
}

data::ShapeCheck VectorsShape(const fs::path& file, std::int64_t dimension, std::int64_t most) {
  return [=](const std::vector<std::size_t>& shape, std::size_t) {
    if (shape.size() != 2 || shape[1] != static_cast<std::size_t>(dimension))
      data::ThrowDataError(file, "", "shape " + data::ShapeText(shape),
                           fmt::format("vectors of {} numbers, a row each", dimension));
    if (shape[0] > static_cast<std::size_t>(most))
      data::ThrowDataError(file, "", fmt::format("{} records", shape[0]),
                           fmt::format("at most the {} that the job declares", most));
  };
}

data::ShapeCheck OwnersSumShape(const fs::path& file, std::int64_t dimension) {
  return [=](const std::vector<std::size_t>& shape, std::size_t) {
    if (shape != std::vector{static_cast<std::size_t>(dimension)})
      data::ThrowDataError(file, "", "shape " + data::ShapeText(shape),
                           fmt::format("one vector of {} numbers", dimension));
  };
}

data::NpyArray ReadVectors(const fs::path& file, std::int64_t dimension, std::int64_t most) {
  return data::ReadNpy(file, VectorsShape(file, dimension, most));
}

SumFiles FilesOfSums(const SumSettings& job, const PartyFile& party, const std::string& party_file) {
  const bool any = job.rows.at(static_cast<std::size_t>(party.id)) > 0;
  const auto files = [&](const char* what, bool wanted) {
    return FilesOf(party, what, job.calls, wanted && any, party_file);
  };
  return {.vectors = files("vectors", !job.owners_sum),
          .summed = files("vector", job.owners_sum),
          .keys = files("keys", job.groups())};
}

OwnSums LoadOwnSums(const SumSettings& job, const PartyFile& party, const std::string& party_file,
                    RandomStream& coins) {
  const auto records = job.rows.at(static_cast<std::size_t>(party.id));
  const auto [vectors, summed, keys] = FilesOfSums(job, party, party_file);
  OwnSums own;
  for (const auto& file : summed) own.of_calls.push_back(OwnersSum(job, file, records));
  for (std::size_t call = 0; call < vectors.size(); ++call) {
    const auto array = ReadVectors(vectors[call], job.dimension, records);
    const auto groups =
        job.groups() ? ReadGroups(job, keys[call], array.shape[0]) : std::vector<std::int64_t>();
    own.of_calls.push_back(
        SumOfVectors(job, array, vectors[call], DrawTaken(job, groups, array.shape[0], coins)));
    own.rows += static_cast<std::int64_t>(array.shape[0]);
  }
  own.of_calls.resize(static_cast<std::size_t>(job.calls), RingMatrix::Zero(job.dimension, 1));
  return own;
}

}  // namespace trefoil::jobs
