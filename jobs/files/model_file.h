#pragma once
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "data/formats/numpy/npy.h"
#include "jobs/records/model_schema.h"
#include "ml/dpsgd/training.h"

namespace trefoil::jobs {

/// A released model with what applying it takes.
struct ModelFile {
  ml::Model model;
  ModelSchema schema;
};

/// A model's weights and biases as float64 by their names in model.npz, in the order of the layers.
[[nodiscard]] std::vector<std::pair<std::string, data::NpyArray>> ModelArrays(const ml::Model& model);

/// Writes model.npz: weights (p x c) and bias (c) as float64, classes as an integer, and job (the
/// schema's JSON) as a byte string. c is 1 with two classes: the logit of class 1. With hidden layers also
/// hidden_weights_K and hidden_bias_K for K = 1, 2, ..., and p is the last one's size. Then, of a model with
/// deviations, weights_deviation (p x c) and intercept_deviation (c), and `constants`. Equal
/// arguments give equal bytes.
void SaveModel(const std::filesystem::path& file, const ml::Model& model, const ModelSchema& schema,
               const std::vector<std::pair<std::string, data::NpyArray>>& constants = {});

/// Throws DataError or ConfigError naming the file if it is no such model, or of a job of none of `types`.
[[nodiscard]] ModelFile LoadModel(const std::filesystem::path& file, JobTypes types = ShippedTypes());

}  // namespace trefoil::jobs
