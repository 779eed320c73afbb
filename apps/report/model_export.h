#pragma once
#include <filesystem>
#include <string>

#include "data/features/onnx_writer.h"
#include "jobs/files/model_file.h"

namespace trefoil::apps {

// A released model for other programs. All three hold the same numbers: weights, and the constants of
// prediction, so that nobody has to read the job for them.

/// An ONNX file is less than 2 GiB: all but the job and its names.
inline constexpr std::size_t kMaxOnnxArrays = data::kLargestOnnx - (std::size_t{64} << 20);

/// model.npz with three more float64 scalars: scale and row_norm of the job, and with hidden layers
/// activation_bound. LoadModel() reads it. Throws std::runtime_error if it cannot be written.
void ExportNpz(const std::filesystem::path& file, const jobs::ModelFile& model);

/// A safetensors file: weights and biases as float64 by their names in model.npz; metadata classes, labels (a
/// JSON array of the classes' names), scale, row_norm, activation_bound and job.
[[nodiscard]] std::string SafetensorsOf(const jobs::ModelFile& model);

/// An ONNX model that computes all of a prediction in float32. Input x, N rows: without extraction a record's
/// values as they are before data.scale or its columns' means and scales (a category as 0/1 columns), else
/// its extracted features. Output scores, N rows of logits as Logits(). In between scaling, row norm and
/// layers. Metadata as SafetensorsOf(). Throws ConfigError if its arrays take more than `most` bytes.
[[nodiscard]] std::string OnnxOf(const jobs::ModelFile& model, std::size_t most = kMaxOnnxArrays);

}  // namespace trefoil::apps
