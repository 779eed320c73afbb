#include "data/features/onnx_features.h"

#include <cmath>
#include <opencv2/core.hpp>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/dnn/dnn.hpp>
#include <string>

#include "base/error.h"
#include "base/secrets/sha256.h"
#include "data/formats/file.h"

namespace trefoil::data {
namespace {

constexpr std::size_t kOnnxRowsATask = 16;  // records that one task takes at a time, at least

/// A cause in one line of moderate length.
std::string FirstLine(const std::string& text) {
  return text.substr(0, std::min(text.find('\n'), std::size_t{120}));
}

/// One copy of the model. OpenCV's networks keep state while they run, so that each task has its own.
class Network {
 public:
  /// `content`: of the file `model`, which is named in errors.
  Network(const OnnxSpec& spec, const std::filesystem::path& model, const std::string& content)
      : spec_(spec), model_(model) {
    Guard("no ONNX model that can be read",
          [&] { net_ = cv::dnn::readNetFromONNX(content.data(), content.size()); });
    if (net_.empty()) ThrowDataError(model_, "", "no ONNX model that can be read", "one");
    net_.setPreferableBackend(cv::dnn::DNN_BACKEND_OPENCV);
    std::vector<int> shape{1};
    shape.insert(shape.end(), spec.input.begin(), spec.input.end());
    input_ = cv::Mat(shape, CV_32F);
  }

  void Run(const float* record, Eigen::Index index, float* out) {
    std::copy_n(record, input_.total(), input_.ptr<float>());
    cv::Mat output;
    Guard("a model that does not run on features.input", [&] {
      net_.setInput(input_);
      output = net_.forward().clone();
    });
    if (output.type() != CV_32F || static_cast<std::int64_t>(output.total()) != spec_.outputs) {
      ThrowDataError(model_, "", std::to_string(output.total()) + " outputs",
                     std::to_string(spec_.outputs) + " (features.outputs)");
    }
    for (std::size_t k = 0; k < output.total(); ++k) {
      out[k] = output.ptr<float>()[k];
      if (!std::isfinite(out[k]))
        ThrowDataError(model_, "record " + std::to_string(index + 1), "an output that is not finite",
                       "finite ones");
    }
  }

 private:
  template <typename Call>
  void Guard(const char* found, const Call& call) const {
    try {
      call();
    } catch (const cv::Exception& error) {
      ThrowDataError(model_, "", std::string(found) + " (" + FirstLine(error.err) + ")",
                     "one that OpenCV runs");
    }
  }

  const OnnxSpec& spec_;
  const std::filesystem::path& model_;
  cv::dnn::Net net_;
  cv::Mat input_;
};

}  // namespace

bool OnnxIsAvailable() { return true; }

Matrix ExtractOnnx(const Matrix& x, const OnnxSpec& spec, const std::filesystem::path& model,
                   ThreadPool& pool) {
  ValidateOnnx(spec, x.cols());
  // Read once, as the file may be replaced meanwhile: what runs is what was hashed.
  Sha256 read;
  const std::string content = ReadFile(model, {}, &read);
  if (const auto hash = read.Hex(); hash != spec.model_sha256)
    ThrowDataError(model, "", "SHA-256 " + hash, spec.model_sha256 + " (features.model_sha256)");
  // What goes wrong is thrown; the pool's threads are all that there are.
  cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
  cv::setNumThreads(1);
  Matrix features(x.rows(), spec.outputs);
  pool.ParallelFor(static_cast<std::size_t>(x.rows()), kOnnxRowsATask,
                   [&](std::size_t begin, std::size_t end) {
                     Network network(spec, model, content);
                     for (auto i = static_cast<Eigen::Index>(begin); i < static_cast<Eigen::Index>(end); ++i)
                       network.Run(x.row(i).data(), i, features.row(i).data());
                   });
  return features;
}

}  // namespace trefoil::data
