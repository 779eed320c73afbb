#include "jobs/files/model_file.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "data/formats/numpy/npy.h"
#include "data/formats/numpy/npz.h"

namespace trefoil::jobs {
namespace {

constexpr const char* kWeightsDeviation = "weights_deviation";
constexpr const char* kInterceptDeviation = "intercept_deviation";

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// An array of float64 of this shape, all finite.
std::vector<double> ReadArray(const std::filesystem::path& file, const std::string& name,
                              const std::vector<std::size_t>& shape) {
  const auto array = data::ReadNpz(file, name, [&](const std::vector<std::size_t>& found, std::size_t) {
    if (found == shape) return;
    throw DataError(fmt::format("{}: {}: found shape ({}), expected ({}) for its job", file.string(), name,
                                fmt::join(found, ", "), fmt::join(shape, ", ")));
  });
  auto values = data::NpyToDoubles(array, file);
  if (!std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); })) {
    throw DataError(fmt::format("{}: {}: found a value that is not finite", file.string(), name));
  }
  return values;
}

Eigen::MatrixXd ReadMatrix(const std::filesystem::path& file, const std::string& name, std::size_t rows,
                           std::size_t columns) {
  const auto values = ReadArray(file, name, {rows, columns});
  return Eigen::Map<const RowMajor>(values.data(), static_cast<Eigen::Index>(rows),
                                    static_cast<Eigen::Index>(columns));
}

Eigen::VectorXd ReadVector(const std::filesystem::path& file, const std::string& name, std::size_t size) {
  const auto values = ReadArray(file, name, {size});
  return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(size));
}

data::NpyArray ToNpy(const Eigen::MatrixXd& matrix) {
  const RowMajor rows = matrix;
  const auto size = static_cast<std::size_t>(rows.size());
  return data::NpyFromDoubles({static_cast<std::size_t>(rows.rows()), static_cast<std::size_t>(rows.cols())},
                              {rows.data(), size});
}

data::NpyArray ToNpy(const Eigen::VectorXd& vector) {
  const auto size = static_cast<std::size_t>(vector.size());
  return data::NpyFromDoubles({size}, {vector.data(), size});
}

/// Of hidden layer k from 0: hidden_weights_1 and so on.
std::string HiddenName(const char* what, std::size_t k) {
  return "hidden_" + std::string(what) + "_" + std::to_string(k + 1);
}

std::size_t ColumnsOf(const ModelSchema& schema) {
  const int classes = schema.records.data.classes;
  return classes == 2 ? 1 : static_cast<std::size_t>(classes);
}

}  // namespace

std::vector<std::pair<std::string, data::NpyArray>> ModelArrays(const ml::Model& model) {
  std::vector<std::pair<std::string, data::NpyArray>> arrays;
  for (std::size_t k = 0; k < model.hidden.size(); ++k) {
    arrays.emplace_back(HiddenName("weights", k), ToNpy(model.hidden[k].weights));
    arrays.emplace_back(HiddenName("bias", k), ToNpy(model.hidden[k].bias));
  }
  arrays.emplace_back("weights", ToNpy(model.weights));
  arrays.emplace_back("bias", ToNpy(model.bias));
  return arrays;
}

void SaveModel(const std::filesystem::path& file, const ml::Model& model, const ModelSchema& schema,
               const std::vector<std::pair<std::string, data::NpyArray>>& constants) {
  const std::int64_t classes = schema.records.data.classes;
  auto arrays = ModelArrays(model);
  if (!schema.records.data.target) arrays.emplace_back("classes", data::NpyFromIntegers({}, {&classes, 1}));
  arrays.emplace_back("job", data::NpyFromText(schema.json));
  if (model.deviations) {
    arrays.emplace_back(kWeightsDeviation, ToNpy(model.deviations->weights));
    arrays.emplace_back(kInterceptDeviation, ToNpy(model.deviations->intercept));
  }
  arrays.insert(arrays.end(), constants.begin(), constants.end());
  data::WriteNpz(file, arrays);
}

ModelFile LoadModel(const std::filesystem::path& file, JobTypes types) {
  if (std::filesystem::is_directory(file))
    throw ConfigError(fmt::format("{}: found a folder, expected a model's file, as {} of a run directory",
                                  file.string(), (file / "model.npz").string()));
  const auto job = data::ReadNpz(file, "job", [&](const std::vector<std::size_t>& shape, std::size_t item) {
    if (!data::CountElements(shape, item, kLargestText))
      throw DataError(
          fmt::format("{}: job: found more than {} bytes, expected a job", file.string(), kLargestText));
  });
  const auto text = data::NpyToText(job, file);
  ModelFile loaded{.model = {}, .schema = ParseModelSchema(text, file.string(), types)};
  auto inputs = static_cast<std::size_t>(TrainedFeatures(loaded.schema.records));
  const auto& sizes = loaded.schema.classifier.hidden;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    const auto size = static_cast<std::size_t>(sizes[k]);
    loaded.model.hidden.push_back({.weights = ReadMatrix(file, HiddenName("weights", k), inputs, size),
                                   .bias = ReadVector(file, HiddenName("bias", k), size)});
    inputs = size;
  }
  if (!sizes.empty()) loaded.model.activation_bound = loaded.schema.classifier.activation_bound;
  loaded.model.weights = ReadMatrix(file, "weights", inputs, ColumnsOf(loaded.schema));
  loaded.model.bias = ReadVector(file, "bias", ColumnsOf(loaded.schema));
  if (data::HasNpzArray(file, kWeightsDeviation))
    loaded.model.deviations = {
        .weights = ReadMatrix(file, kWeightsDeviation, inputs, ColumnsOf(loaded.schema)),
        .intercept = ReadVector(file, kInterceptDeviation, ColumnsOf(loaded.schema))};
  return loaded;
}

}  // namespace trefoil::jobs
