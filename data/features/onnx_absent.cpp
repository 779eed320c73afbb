#include "base/error.h"
#include "data/features/onnx_features.h"

namespace trefoil::data {

bool OnnxIsAvailable() { return false; }

Matrix ExtractOnnx(const Matrix& /*x*/, const OnnxSpec& /*spec*/, const std::filesystem::path& /*model*/,
                   ThreadPool& /*pool*/) {
  throw ConfigError(
      "features.method: found \"onnx\", expected a build with it: install libopencv-dnn-dev and configure "
      "with -DTREFOIL_ONNX=ON");
}

}  // namespace trefoil::data
