#pragma once
#include <filesystem>

#include "apps/job.h"
#include "ml/training.h"

namespace trefoil::apps {

/// A released model with the job that trained it.
struct ModelFile {
  ml::LinearModel model;
  Job job;
};

/// Writes model.npz: weights (p x c) and bias (c) as float64, classes as an integer, and job (its canonical
/// JSON) as a byte string. c is 1 with two classes: the logit of class 1. With hidden layers also
/// hidden_weights_K and hidden_bias_K for K = 1, 2, ..., and p is the last one's size. Equal models give
/// equal bytes.
void SaveModel(const std::filesystem::path& file, const ml::LinearModel& model, const Job& job);

/// Throws DataError or ConfigError naming the file if it is no such model.
[[nodiscard]] ModelFile LoadModel(const std::filesystem::path& file);

}  // namespace trefoil::apps
