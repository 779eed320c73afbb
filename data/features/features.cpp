#include "data/features/features.h"

#include <string>

#include "base/error.h"

namespace trefoil::data {
namespace {

void CheckImage(const ImageSize& image, std::int64_t columns) {
  if (image.given() && image.values() == columns) return;
  throw ConfigError("features.image: found " + SizeText(image) + " pixels, expected height x width" +
                    (image.channels == 1 ? "" : " x channels") + " of " + std::to_string(columns) +
                    " features");
}

Matrix HashBeside(const HashTextSpec& spec, const Table& table, ThreadPool& pool) {
  Require(table.texts.size() == static_cast<std::size_t>(table.x.rows()), "Extract: texts of every record");
  const Matrix hashed = HashText(table.texts, spec, pool);
  Matrix x(table.x.rows(), table.x.cols() + hashed.cols());
  x.leftCols(table.x.cols()) = table.x;
  x.rightCols(hashed.cols()) = hashed;
  return x;
}

}  // namespace

std::int64_t ExtractedColumns(const FeatureSpec& spec, std::int64_t columns) {
  switch (spec.method) {
    case FeatureMethod::kNone:
      break;
    case FeatureMethod::kHog:
      CheckImage(spec.image, columns);
      return HogFeatures(spec.image, spec.hog);
    case FeatureMethod::kScatter:
      CheckImage(spec.image, columns);
      return ScatteringFeatures(spec.image, spec.scatter);
    case FeatureMethod::kHashText:
      ValidateHashText(spec.hash_text);
      return columns + spec.hash_text.dimension;
    case FeatureMethod::kOnnx:
      ValidateOnnx(spec.onnx, columns, spec.image);
      return spec.onnx.outputs;
  }
  return columns;
}

void Extract(const FeatureSpec& spec, Table& table, ThreadPool& pool, const std::filesystem::path& model) {
  (void)ExtractedColumns(spec, table.x.cols());
  switch (spec.method) {
    case FeatureMethod::kNone:
      break;
    case FeatureMethod::kHog:
      table.x = ExtractHog(table.x, spec.image, spec.hog, pool);
      break;
    case FeatureMethod::kScatter:
      table.x = ExtractScattering(table.x, spec.image, spec.scatter, pool);
      break;
    case FeatureMethod::kHashText:
      table.x = HashBeside(spec.hash_text, table, pool);
      table.texts.clear();
      break;
    case FeatureMethod::kOnnx:
      PutInOrderOf(spec.onnx, spec.image, table.x);
      table.x = ExtractOnnx(table.x, spec.onnx, model, pool);
      break;
  }
}

}  // namespace trefoil::data
