#pragma once
#include <cstdint>
#include <filesystem>

#include "base/threads/thread_pool.h"
#include "data/dataset/table.h"
#include "data/features/hash_text.h"
#include "data/features/hog.h"
#include "data/features/image.h"
#include "data/features/onnx_features.h"
#include "data/features/scattering.h"

namespace trefoil::data {

enum class FeatureMethod { kNone, kHog, kScatter, kHashText, kOnnx };

/// How every party turns its own records into features before it shares them: public, and a function of one
/// record at a time.
struct FeatureSpec {
  FeatureMethod method = FeatureMethod::kNone;
  ImageSize image{};  ///< for methods of images, and where rows are images by their format
  HogSpec hog{};
  ScatterSpec scatter{};
  HashTextSpec hash_text{};
  OnnxSpec onnx{};
};

/// Columns that Extract() makes of `columns` given ones: hashed text goes beside them, all other methods
/// replace them. Throws ConfigError naming the key where the parameters are out of their domain or do not fit
/// `columns`.
[[nodiscard]] std::int64_t ExtractedColumns(const FeatureSpec& spec, std::int64_t columns);

/// Makes each record's features (and texts) the extracted ones. `model` is the file of an ONNX model, for
/// that method only, which is given images in its order (PutInOrderOf()). Throws as
/// ExtractedColumns() and ExtractOnnx().
void Extract(const FeatureSpec& spec, Table& table, ThreadPool& pool,
             const std::filesystem::path& model = {});

}  // namespace trefoil::data
