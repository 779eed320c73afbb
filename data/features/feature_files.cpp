#include "data/features/feature_files.h"

#include <cmath>
#include <string>
#include <string_view>

#include "base/error.h"
#include "data/formats/csv_reader.h"
#include "data/formats/file.h"
#include "data/formats/idx.h"
#include "data/formats/numpy/npy.h"
#include "data/formats/numpy/npz.h"

namespace trefoil::data {
namespace {

namespace fs = std::filesystem;

/// An array as read, whatever it was stored as.
struct Array {
  std::vector<std::size_t> shape;
  std::vector<double> values;
};

Array FromNpy(const NpyArray& array, const fs::path& place) {
  return {array.shape, NpyToDoubles(array, place)};
}

Array FromIdx(const fs::path& file) {
  const IdxArray array = ReadIdx(file);
  return {array.shape, {array.values.begin(), array.values.end()}};
}

/// An IDX or NPY file.
Array ReadArray(const fs::path& file) {
  constexpr std::string_view kNpyMagic = "\x93NUMPY";
  if (ReadHead(file, kNpyMagic.size()) == kNpyMagic) return FromNpy(ReadNpy(file), file);
  return FromIdx(file);
}

bool IsZip(const fs::path& file) { return ReadHead(file, 2) == "PK"; }

void FillRecords(const Array& array, const fs::path& file, double scale, FeatureInput& input) {
  const auto& shape = array.shape;
  if (shape.size() < 2 || array.values.empty()) {
    ThrowDataError(file, "",
                   "an array of " + std::to_string(shape.size()) + " dimensions and " +
                       std::to_string(array.values.size()) + " values",
                   "records in two or more dimensions");
  }
  if (shape.size() == 3 || shape.size() == 4) {
    input.image = {static_cast<int>(shape[1]), static_cast<int>(shape[2])};
    if (shape.size() == 4) input.image.channels = static_cast<int>(shape[3]);
  }
  const auto rows = static_cast<Eigen::Index>(shape[0]);
  input.x.resize(rows, static_cast<Eigen::Index>(array.values.size()) / rows);
  for (std::size_t i = 0; i < array.values.size(); ++i) {
    const double value = array.values[i] / scale;
    if (!(std::abs(value) <= kLargestValue)) {
      ThrowDataError(file, "value " + std::to_string(i + 1), NumberText(value),
                     "a finite number of magnitude at most 1e+09 after division by the scale");
    }
    input.x.data()[i] = static_cast<float>(value);
  }
}

void FillLabels(const Array& array, const fs::path& file, FeatureInput& input) {
  if (array.shape.size() != 1)
    ThrowDataError(file, "", std::to_string(array.shape.size()) + " dimensions",
                   "one, a label for each record");
  for (const double value : array.values) {
    if (value != std::floor(value) || std::abs(value) > std::ldexp(1.0, 53))
      ThrowDataError(file, "", "label " + NumberText(value), "whole numbers");
    input.labels.push_back(static_cast<std::int64_t>(value));
  }
}

void FillTexts(const fs::path& file, FeatureInput& input) {
  const std::string content = ReadFile(file);
  std::string_view rest = content;
  if (rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    auto line = rest.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    input.texts.push_back({std::string(line)});
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  input.x.resize(static_cast<Eigen::Index>(input.texts.size()), 0);
}

NpyArray FromMatrix(const Matrix& x) {
  return {
      .descr = "<f4",
      .shape = {static_cast<std::size_t>(x.rows()), static_cast<std::size_t>(x.cols())},
      .bytes = {reinterpret_cast<const char*>(x.data()), static_cast<std::size_t>(x.size()) * sizeof(float)}};
}

}  // namespace

FeatureInput ReadFeatureInput(const fs::path& file, bool as_text, const fs::path& labels, double scale) {
  Require(std::isfinite(scale) && scale > 0, "ReadFeatureInput: a finite scale above 0");
  FeatureInput input;
  if (as_text) {
    FillTexts(file, input);
  } else if (IsZip(file)) {
    FillRecords(FromNpy(ReadNpz(file, "x"), file), file, scale, input);
    if (labels.empty() && HasNpzArray(file, "y")) FillLabels(FromNpy(ReadNpz(file, "y"), file), file, input);
  } else {
    FillRecords(ReadArray(file), file, scale, input);
  }
  if (!labels.empty()) FillLabels(ReadArray(labels), labels, input);
  if (!input.labels.empty() && input.labels.size() != static_cast<std::size_t>(input.x.rows())) {
    ThrowDataError(labels.empty() ? file : labels, "", std::to_string(input.labels.size()) + " labels",
                   std::to_string(input.x.rows()) + ", one for each record");
  }
  return input;
}

void CheckFeatureFileName(const fs::path& file, bool labels) {
  if (file.extension() == ".npz" || (file.extension() == ".npy" && !labels)) return;
  throw ConfigError(
      "--out: found " + file.string() +
      (labels ? ", expected a name in .npz, which keeps the labels" : ", expected a name in .npz or .npy"));
}

void WriteFeatures(const fs::path& file, const Matrix& x, const std::vector<std::int64_t>& labels) {
  CheckFeatureFileName(file, !labels.empty());
  if (file.extension() == ".npy") return WriteNpy(file, FromMatrix(x));
  std::vector<std::pair<std::string, NpyArray>> arrays{{"x", FromMatrix(x)}};
  if (!labels.empty()) arrays.emplace_back("y", NpyFromIntegers({labels.size()}, labels));
  WriteNpz(file, arrays);
}

}  // namespace trefoil::data
