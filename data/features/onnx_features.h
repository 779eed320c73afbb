#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/threads/thread_pool.h"
#include "data/dataset/table.h"
#include "data/features/image.h"

namespace trefoil::data {

/// What is public of features from a neural network in ONNX format.
struct OnnxSpec {
  std::string
      model_sha256{};  ///< of the model file, in lower-case hexadecimal: the same model at all parties
  std::vector<int>
      input{};  ///< shape of one record as the model's input has it, without the batch: 1, 28, 28
  std::int64_t outputs = 0;  ///< numbers that the model gives for a record
};

/// Whether this build can run models.
[[nodiscard]] bool OnnxIsAvailable();

/// Throws ConfigError "features.KEY: found X, expected Y" unless the hash is 64 hexadecimal digits, the input
/// has one to four dimensions whose product is `columns`, and outputs is 1 ... 10^6; where rows are known to
/// be images (`image` is given) the input is [channels, height, width], [height, width, channels], of grey
/// [height, width], or [columns].
void ValidateOnnx(const OnnxSpec& spec, std::int64_t columns, const ImageSize& image = {});

/// Where rows are such images, the channels of a pixel side by side, and the input has one channel behind the
/// other, as most networks do, puts each row's values in that order. Pre: ValidateOnnx() passes.
void PutInOrderOf(const OnnxSpec& spec, const ImageSize& image, Matrix& x);

/// The model's (first) output for each row, one record at a time, as a row. The model is run by OpenCV in
/// single precision; features may differ in their last bits between machines. The file is read once, and may
/// be replaced from then on; tensors that it leaves in other files are not read. Memory: the file, and the
/// model once a thread. Pre: ValidateOnnx(spec, x.cols()) passes. Throws ConfigError naming the build option
/// if this build has no OpenCV; DataError naming the file if its hash is another one, it is no model that
/// OpenCV reads or runs on such an input, or it gives another number of outputs or one that is not finite.
/// Source: https://onnx.ai (the format), OpenCV 4, module dnn (which operators).
[[nodiscard]] Matrix ExtractOnnx(const Matrix& x, const OnnxSpec& spec, const std::filesystem::path& model,
                                 ThreadPool& pool);

}  // namespace trefoil::data
