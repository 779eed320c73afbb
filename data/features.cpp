#include "data/features.h"

#include <string>

#include "base/error.h"

namespace trefoil::data {

std::int64_t ExtractedColumns(const FeatureSpec& spec, std::int64_t columns) {
  if (spec.method == FeatureMethod::kNone) return columns;
  if (!spec.image.given() || spec.image.pixels() != columns) {
    throw ConfigError("features.image: found " + std::to_string(spec.image.height) + " x " +
                      std::to_string(spec.image.width) + " pixels, expected height x width of " +
                      std::to_string(columns) + " features");
  }
  return spec.method == FeatureMethod::kHog ? HogFeatures(spec.image, spec.hog)
                                            : ScatteringFeatures(spec.image, spec.scatter);
}

void Extract(const FeatureSpec& spec, Table& table, ThreadPool& pool) {
  (void)ExtractedColumns(spec, table.x.cols());
  if (spec.method == FeatureMethod::kHog) table.x = ExtractHog(table.x, spec.image, spec.hog, pool);
  if (spec.method == FeatureMethod::kScatter)
    table.x = ExtractScattering(table.x, spec.image, spec.scatter, pool);
}

}  // namespace trefoil::data
