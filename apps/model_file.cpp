#include "apps/model_file.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "data/npy.h"
#include "data/npz.h"

namespace trefoil::apps {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// An array of float64 of this shape, all finite.
std::vector<double> ReadArray(const std::filesystem::path& file, const std::string& name,
                              const std::vector<std::size_t>& shape) {
  const auto array = data::ReadNpz(file, name);
  if (array.shape != shape) {
    throw DataError(fmt::format("{}: {}: found shape ({}), expected ({}) for its job", file.string(), name,
                                fmt::join(array.shape, ", "), fmt::join(shape, ", ")));
  }
  auto values = data::NpyToDoubles(array, file);
  if (!std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); })) {
    throw DataError(fmt::format("{}: {}: found a value that is not finite", file.string(), name));
  }
  return values;
}

std::size_t ColumnsOf(const Job& job) {
  return job.data.classes == 2 ? 1 : static_cast<std::size_t>(job.data.classes);
}

}  // namespace

void SaveModel(const std::filesystem::path& file, const ml::LinearModel& model, const Job& job) {
  const RowMajor weights = model.weights;
  const auto rows = static_cast<std::size_t>(weights.rows());
  const auto columns = static_cast<std::size_t>(weights.cols());
  const std::int64_t classes = job.data.classes;
  data::WriteNpz(file, {{"weights", data::NpyFromDoubles({rows, columns}, {weights.data(), rows * columns})},
                        {"bias", data::NpyFromDoubles({columns}, {model.bias.data(), columns})},
                        {"classes", data::NpyFromIntegers({}, {&classes, 1})},
                        {"job", data::NpyFromText(JobJson(job))}});
}

ModelFile LoadModel(const std::filesystem::path& file) {
  const auto text = data::NpyToText(data::ReadNpz(file, "job"), file);
  ModelFile loaded{.model = {}, .job = ParseJobJson(text, file.string())};
  const auto rows = static_cast<std::size_t>(TrainedFeatures(loaded.job));
  const auto columns = ColumnsOf(loaded.job);
  const auto weights = ReadArray(file, "weights", {rows, columns});
  const auto bias = ReadArray(file, "bias", {columns});
  const auto p = static_cast<Eigen::Index>(rows);
  const auto c = static_cast<Eigen::Index>(columns);
  loaded.model.weights = Eigen::Map<const RowMajor>(weights.data(), p, c);
  loaded.model.bias = Eigen::Map<const Eigen::VectorXd>(bias.data(), c);
  return loaded;
}

}  // namespace trefoil::apps
