#include "data/load.h"

#include <cmath>
#include <span>
#include <string>

#include "data/csv.h"
#include "data/file.h"
#include "data/idx.h"
#include "data/npz.h"

namespace trefoil::data {
namespace {

/// Values of x or y as read, and the name of their file (and array) for errors.
template <typename T>
struct Values {
  const std::filesystem::path& place;
  const std::vector<std::size_t>& shape;
  std::span<const T> values;
};

std::string RowText(std::size_t row) { return "row " + std::to_string(row + 1); }

template <typename T>
Matrix ToMatrix(const DataSpec& spec, const Values<T>& x) {
  std::size_t columns = x.shape.size() < 2 ? 0 : 1;
  for (std::size_t k = 1; k < x.shape.size(); ++k) columns *= x.shape[k];
  const auto features = static_cast<std::size_t>(spec.features);
  // With no rows the product can overflow, but then the number of values is 0 whatever the shape.
  if (columns != features || x.values.size() != x.shape.front() * features) {
    ThrowDataError(x.place, "", std::to_string(columns) + " features in a row", std::to_string(features));
  }
  const auto& image = spec.image;
  if (image.given() && x.shape.size() == 3 && x.shape[1] != static_cast<std::size_t>(image.height)) {
    ThrowDataError(x.place, "", std::to_string(x.shape[1]) + " x " + std::to_string(x.shape[2]) + " images",
                   std::to_string(image.height) + " x " + std::to_string(image.width));
  }
  Matrix matrix(static_cast<Eigen::Index>(x.shape.front()), static_cast<Eigen::Index>(features));
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    const double value = static_cast<double>(x.values[i]) / spec.scale;
    if (!(std::abs(value) <= kLargestValue)) {
      ThrowDataError(x.place, RowText(i / features) + ", column " + std::to_string(i % features + 1),
                     NumberText(value),
                     "a finite number of magnitude at most 1e+09 after division by the scale");
    }
    matrix.data()[i] = static_cast<float>(value);
  }
  return matrix;
}

template <typename T>
std::vector<int> ToLabels(const DataSpec& spec, const Values<T>& y) {
  if (y.shape.size() != 1) {
    ThrowDataError(y.place, "", std::to_string(y.shape.size()) + " dimensions", "one, a label for each row");
  }
  std::vector<int> labels;
  labels.reserve(y.values.size());
  for (std::size_t i = 0; i < y.values.size(); ++i) {
    const auto value = static_cast<double>(y.values[i]);
    if (!(value >= 0 && value < spec.classes) || value != std::floor(value)) {
      ThrowDataError(y.place, RowText(i), "label " + NumberText(value),
                     "a class of 0 to " + std::to_string(spec.classes - 1));
    }
    labels.push_back(static_cast<int>(value));
  }
  return labels;
}

/// Labels of a table that has its rows; `x_place` is where those are from.
template <typename T>
void AddLabels(const DataSpec& spec, const Values<T>& y, const std::filesystem::path& x_place, Table& table) {
  table.y = ToLabels(spec, y);
  if (table.y.size() != static_cast<std::size_t>(table.x.rows())) {
    ThrowDataError(y.place, "", std::to_string(table.y.size()) + " labels",
                   std::to_string(table.x.rows()) + ", the rows of " + x_place.string());
  }
}

Table LoadIdx(const DataSpec& spec, const DataFiles& files, LabelUse labels) {
  const IdxArray x = ReadIdx(files.x);
  Table table{.x = ToMatrix<std::uint8_t>(spec, {files.x, x.shape, x.values}), .y = {}};
  if (labels == LabelUse::kIgnored) return table;
  const IdxArray y = ReadIdx(files.y);
  AddLabels<std::uint8_t>(spec, {files.y, y.shape, y.values}, files.x, table);
  return table;
}

/// NPY and NPZ.
Table LoadArrays(const DataSpec& spec, const DataFiles& files, LabelUse labels) {
  const bool packed = spec.format == Format::kNpz;
  const auto x_place = packed ? files.file / "x.npy" : files.x;
  const auto x = packed ? ReadNpz(files.file, "x") : ReadNpy(files.x);
  const auto x_values = NpyToDoubles(x, x_place);
  Table table{.x = ToMatrix<double>(spec, {x_place, x.shape, x_values}), .y = {}};
  if (labels == LabelUse::kIgnored) return table;
  const auto y_place = packed ? files.file / "y.npy" : files.y;
  const auto y = packed ? ReadNpz(files.file, "y") : ReadNpy(files.y);
  const auto y_values = NpyToDoubles(y, y_place);
  AddLabels<double>(spec, {y_place, y.shape, y_values}, x_place, table);
  return table;
}

Table Dispatch(const DataSpec& spec, const DataFiles& files, LabelUse labels) {
  if (spec.format == Format::kIdx) return LoadIdx(spec, files, labels);
  if (spec.format == Format::kCsv) return ReadCsv(files.file, spec, labels);
  return LoadArrays(spec, files, labels);
}

}  // namespace

Table Load(const DataSpec& spec, const DataFiles& files, std::optional<std::int64_t> capacity,
           LabelUse labels) {
  ValidateSpec(spec);
  Table table = Dispatch(spec, files, labels);
  if (capacity && table.x.rows() > *capacity) {
    ThrowDataError(files.rows(), "", std::to_string(table.x.rows()) + " rows",
                   "at most the " + std::to_string(*capacity) + " that the job declares");
  }
  return table;
}

}  // namespace trefoil::data
