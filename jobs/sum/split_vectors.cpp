#include "jobs/sum/split_vectors.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/secrets/random.h"
#include "data/dealing/split.h"
#include "data/formats/numpy/npy.h"
#include "jobs/records/local_data.h"
#include "jobs/sum/own_sums.h"

namespace trefoil::jobs {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGeneratedVectors = "vectors";  // the name that stands for generated vectors
constexpr std::int64_t kMaxVectors = 3'000'000'000;

/// A call's file of a data folder: "vectors.npy" of a job of one call, else "vectors-2.npy".
fs::path SourceOf(const fs::path& folder, const char* what, const SumSettings& job, std::int64_t call) {
  return FileOfCall(job.calls == 1 ? folder / fmt::format("{}.npy", what) : folder, what, job.calls, call);
}

/// As many vectors as the job declares, about half of them longer than its bound. NOT SECRET: the same for
/// each call.
data::NpyArray DrawVectors(const SumSettings& job, std::int64_t call) {
  const std::uint8_t number = static_cast<std::uint8_t>(call);
  std::array<std::uint8_t, SecretKey::kBytes> key{number, static_cast<std::uint8_t>(call >> 8)};
  RandomStream stream{SecretKey(key)};
  const double reach = job.norm_bound * std::sqrt(3.0 / static_cast<double>(job.dimension));
  std::vector<double> values(static_cast<std::size_t>(job.records() * job.dimension));
  for (double& value : values) value = reach * (std::ldexp(static_cast<double>(stream.NextWord()), -63) - 1);
  return data::NpyFromDoubles(
      {static_cast<std::size_t>(job.records()), static_cast<std::size_t>(job.dimension)}, values);
}

/// Pairs of neighbouring rows, as far as the job allows.
data::NpyArray DrawKeys(const SumSettings& job) {
  std::vector<std::int64_t> keys(static_cast<std::size_t>(job.records()));
  for (std::size_t row = 0; row < keys.size(); ++row)
    keys[row] = static_cast<std::int64_t>(row) / std::min<std::int64_t>(job.max_group_rows, 2);
  return data::NpyFromIntegers({keys.size()}, keys);
}

/// The rows of an array that go to a party, in their order.
data::NpyArray RowsOf(const data::NpyArray& all, const std::vector<int>& party_of_row, int party) {
  data::NpyArray rows{.descr = all.descr, .shape = all.shape, .bytes = {}};
  const std::size_t bytes = all.shape[0] == 0 ? 0 : all.bytes.size() / all.shape[0];
  rows.shape[0] = 0;
  for (std::size_t row = 0; row < party_of_row.size(); ++row) {
    if (party_of_row[row] != party) continue;
    rows.bytes.append(all.bytes, row * bytes, bytes);
    ++rows.shape[0];
  }
  return rows;
}

/// What an owner's own program makes of its vectors.
data::NpyArray SummedByOwner(const SumSettings& job, const data::NpyArray& vectors, const fs::path& file) {
  const auto dimension = static_cast<std::size_t>(job.dimension);
  const auto values = data::NpyToDoubles(vectors, file);
  std::vector<double> sum(dimension);
  for (std::size_t first = 0; first < values.size(); first += dimension) {
    const Eigen::Map<const Eigen::VectorXd> vector(values.data() + first, job.dimension);
    const double norm = vector.stableNorm();
    const double factor = norm > job.norm_bound ? job.norm_bound / norm : 1;
    for (std::size_t k = 0; k < dimension; ++k) sum[k] += factor * values[first + k];
  }
  return data::NpyFromDoubles({dimension}, sum);
}

/// Deals one call's arrays; the rows that each party got.
void DealCall(const SumSettings& job, const SplitTarget& target, std::int64_t call,
              const data::NpyArray& vectors, const std::optional<data::NpyArray>& keys,
              std::array<std::int64_t, 4>& rows) {
  const auto party_of_row =
      data::AssignRows(SplitOf(job.local), std::vector<int>(vectors.shape[0]), job.rows);
  for (const int party : party_of_row) ++rows.at(static_cast<std::size_t>(party < 0 ? 3 : party));
  for (std::size_t j = 0; j < target.party_folders.size(); ++j) {
    if (job.rows.at(j) == 0) continue;
    auto& party = target.parties.at(j);
    const auto path_of = [&](const char* what) {
      return fs::path("data") / fmt::format("{}{}", what, job.calls == 1 ? ".npy" : "");
    };
    const auto write = [&](const char* what, const data::NpyArray& array) {
      const auto named = path_of(what);
      const auto file = FileOfCall(target.party_folders.at(j) / named, what, job.calls, call);
      fs::create_directories(file.parent_path());
      data::WriteNpy(file, array);
      party.inputs[fmt::format("data.{}", what)] = named;
    };
    // In a trial the first call's vectors stand for the records that a ledger is of.
    const char* first = job.owners_sum ? "vector" : "vectors";
    if (party.ledger && call == 0) party.data.file = FileOfCall(path_of(first), first, job.calls, call);
    const auto own = RowsOf(vectors, party_of_row, static_cast<int>(j));
    if (job.owners_sum) {
      write("vector", SummedByOwner(job, own, "vectors"));
    } else {
      write("vectors", own);
    }
    if (keys) write("keys", RowsOf(*keys, party_of_row, static_cast<int>(j)));
  }
}

}  // namespace

std::string SplitVectors(const SumSettings& job, const SplitTarget& target) {
  const bool generated = target.data.empty() && job.data_name == kGeneratedVectors;
  const auto folder = generated ? fs::path() : FindDataFolder(job.data_name, target.job_file, target.data);
  std::array<std::int64_t, 4> rows{};
  for (std::int64_t call = 0; call < job.calls; ++call) {
    const auto vectors =
        generated ? DrawVectors(job, call)
                  : ReadVectors(SourceOf(folder, "vectors", job, call), job.dimension, kMaxVectors);
    std::optional<data::NpyArray> keys;
    if (job.groups()) keys = generated ? DrawKeys(job) : data::ReadNpy(SourceOf(folder, "keys", job, call));
    if (keys && keys->shape != std::vector{vectors.shape[0]})
      throw DataError(fmt::format("{}: found another number of keys, expected {}, one a row",
                                  SourceOf(folder, "keys", job, call).string(), vectors.shape[0]));
    DealCall(job, target, call, vectors, keys, rows);
  }
  return fmt::format("dealing {} of {} calls to three parties: rows {}, {}, {}{}",
                     generated ? "generated vectors" : folder.lexically_normal().string(), job.calls, rows[0],
                     rows[1], rows[2],
                     rows[3] == 0 ? "" : fmt::format("; {} beyond data.rows left out", rows[3]));
}

}  // namespace trefoil::jobs
