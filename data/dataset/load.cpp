#include "data/dataset/load.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>

#include "base/error.h"
#include "data/columns/row_values.h"
#include "data/formats/cifar.h"
#include "data/formats/csv.h"
#include "data/formats/file.h"
#include "data/formats/idx.h"
#include "data/formats/image_decoder.h"
#include "data/formats/image_file.h"
#include "data/formats/image_folder.h"
#include "data/formats/numpy/npy_header.h"
#include "data/formats/numpy/npz.h"

namespace trefoil::data {
namespace {

/// Labels as read, and the name of their file (and array) for errors.
template <typename T>
struct Values {
  const std::filesystem::path& place;
  const std::vector<std::size_t>& shape;
  std::span<const T> values;
};

template <typename T>
Matrix ToMatrix(const DataSpec& spec, const std::filesystem::path& place,
                const std::vector<std::size_t>& shape, std::span<const T> values) {
  CheckRowShape(spec, place, shape, values.size());
  Matrix matrix(static_cast<Eigen::Index>(shape.front()), static_cast<Eigen::Index>(spec.features));
  ToFeatures(spec, place, 0, values, matrix.data());
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
    if (spec.target) {
      const auto steps = StepsOf(*spec.target, value);
      if (!steps)
        ThrowDataError(y.place, "row " + std::to_string(i + 1), "target " + NumberText(value),
                       ExpectedTarget(*spec.target));
      labels.push_back(*steps);
      continue;
    }
    if (!(value >= 0 && value < spec.classes) || value != std::floor(value)) {
      ThrowDataError(y.place, "row " + std::to_string(i + 1), "label " + NumberText(value),
                     "a class of 0 to " + std::to_string(spec.classes - 1));
    }
    labels.push_back(static_cast<int>(value));
  }
  return labels;
}

[[noreturn]] void RefuseLabels(const std::filesystem::path& place, std::size_t labels, std::size_t rows,
                               const std::filesystem::path& x_place) {
  ThrowDataError(place, "", std::to_string(labels) + " labels",
                 std::to_string(rows) + ", the rows of " + x_place.string());
}

/// A byte string may be as long as it likes; a number is of eight bytes at most.
void RequireNumbers(const std::filesystem::path& place, std::size_t item) {
  if (item > sizeof(double))
    ThrowDataError(place, "header", "elements of " + std::to_string(item) + " bytes", "numbers");
}

void CheckCapacity(std::size_t rows, std::optional<std::int64_t> capacity, const DataFiles& files) {
  if (!capacity || static_cast<std::int64_t>(rows) <= *capacity) return;
  ThrowDataError(files.place(), "", std::to_string(rows) + " rows",
                 "at most the " + std::to_string(*capacity) + " that the job declares");
}

/// The labels of IDX, NPY and NPZ for `rows` rows of `x_place`.
std::vector<int> ReadLabels(const DataSpec& spec, const DataFiles& files, std::size_t rows,
                            const std::filesystem::path& x_place) {
  std::filesystem::path place = files.y;
  std::vector<int> labels;
  const ShapeCheck check = [&](const std::vector<std::size_t>& shape, std::size_t item) {
    RequireNumbers(place, item);
    if (!shape.empty() && shape.front() > rows) RefuseLabels(place, shape.front(), rows, x_place);
  };
  if (spec.format == Format::kIdx) {
    const IdxArray y = ReadIdx(files.y, check);
    labels = ToLabels<std::uint8_t>(spec, {place, y.shape, y.values});
  } else {
    const bool packed = spec.format == Format::kNpz;
    if (packed) place = files.file / "y.npy";
    const auto y = packed ? ReadNpz(files.file, "y", check) : ReadNpy(files.y, check);
    labels = ToLabels<double>(spec, {place, y.shape, NpyToDoubles(y, place)});
  }
  if (labels.size() != rows) RefuseLabels(place, labels.size(), rows, x_place);
  return labels;
}

Table LoadArrays(const DataSpec& spec, const DataFiles& files, std::optional<std::int64_t> capacity,
                 LabelUse labels) {
  std::filesystem::path place = files.x;
  Table table;
  const ShapeCheck check = [&](const std::vector<std::size_t>& shape, std::size_t item) {
    RequireNumbers(place, item);
    if (!shape.empty()) CheckCapacity(shape.front(), capacity, files);
    CheckRowShape(spec, place, shape, CountElements(shape, 1, kMaxArrayBytes).value_or(kMaxArrayBytes));
  };
  if (spec.format == Format::kIdx) {
    const IdxArray x = ReadIdx(files.x, check);
    table.x = ToMatrix<std::uint8_t>(spec, place, x.shape, x.values);
  } else {
    const bool packed = spec.format == Format::kNpz;
    if (packed) place = files.file / "x.npy";
    const auto x = packed ? ReadNpz(files.file, "x", check) : ReadNpy(files.x, check);
    table.x = ToMatrix<double>(spec, place, x.shape, NpyToDoubles(x, place));
  }
  if (labels == LabelUse::kRead)
    table.y = ReadLabels(spec, files, static_cast<std::size_t>(table.x.rows()), place);
  return table;
}

Table LoadCifar(const DataSpec& spec, const DataFiles& files, std::optional<std::int64_t> capacity,
                LabelUse labels) {
  const CifarRows source = ReadCifar(files.file);
  const std::size_t rows = source.rows();
  CheckCapacity(rows, capacity, files);
  Table table;
  table.x.resize(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(spec.features));
  for (std::size_t i = 0; i < rows; ++i) {
    ToFeatures<std::uint8_t>(spec, files.file, i * kCifarValues, source.Pixels(i),
                             table.x.row(static_cast<Eigen::Index>(i)).data());
  }
  if (labels == LabelUse::kRead)
    table.y = ToLabels<std::uint8_t>(spec, {files.file, {rows}, source.Labels()});
  return table;
}

Table LoadImages(const DataSpec& spec, const DataFiles& files, std::optional<std::int64_t> capacity,
                 LabelUse labels) {
  RequireImages();
  const auto& classes = spec.label.values;
  const auto images = ListImages(files.file, labels == LabelUse::kRead ? &classes : nullptr);
  CheckCapacity(images.size(), capacity, files);
  Table table;
  table.x.resize(static_cast<Eigen::Index>(images.size()), static_cast<Eigen::Index>(spec.features));
  for (Eigen::Index i = 0; i < table.x.rows(); ++i) {
    const auto& [folder, path] = images[static_cast<std::size_t>(i)];
    const auto pixels = DecodeImage(ReadImageFile(path, spec.image), spec.image, path);
    ToFeatures<std::uint8_t>(spec, path, 0, pixels, table.x.row(i).data());
    if (labels == LabelUse::kRead)
      table.y.push_back(
          static_cast<int>(std::find(classes.begin(), classes.end(), folder) - classes.begin()));
  }
  return table;
}

/// Parties name their files by themselves, and a job its format.
void RequireNames(const DataSpec& spec, const DataFiles& files) {
  const bool two = HasLabelFile(spec.format);
  if (!files.query.empty() && spec.format != Format::kCsv)
    throw ConfigError("found a query, expected files, as the job's data.format is not csv");
  if (!files.more.empty() && spec.format != Format::kCsv)
    throw ConfigError("found several files, expected one, as the job's data.format is not csv");
  if (!(two ? files.x : files.file).empty()) return;
  throw ConfigError(
      two ? "the party file names data by file, expected x and y, which the job's data.format has"
          : "the party file names data by x and y, expected file, which the job's data.format has");
}

}  // namespace

Table Load(const DataSpec& spec, const DataFiles& files, std::optional<std::int64_t> capacity,
           LabelUse labels) {
  ValidateSpec(spec);
  RequireNames(spec, files);
  Table table = spec.format == Format::kCsv      ? ReadCsv(files, spec, labels)
                : spec.format == Format::kCifar  ? LoadCifar(spec, files, capacity, labels)
                : spec.format == Format::kImages ? LoadImages(spec, files, capacity, labels)
                                                 : LoadArrays(spec, files, capacity, labels);
  CheckCapacity(static_cast<std::size_t>(table.x.rows()), capacity, files);
  return table;
}

std::optional<StoredTable> LoadStored(const DataSpec& spec, const DataFiles& files, std::uintmax_t max_bytes,
                                      std::optional<std::int64_t> capacity) {
  ValidateSpec(spec);
  RequireNames(spec, files);
  auto rows = StoredRows::Open(spec, files.x);
  if (!rows || rows->rows() * rows->columns() * sizeof(float) <= max_bytes) return std::nullopt;
  CheckCapacity(rows->rows(), capacity, files);
  rows->Check();
  auto labels = ReadLabels(spec, files, rows->rows(), files.x);
  return StoredTable{.x = *std::move(rows), .y = std::move(labels)};
}

}  // namespace trefoil::data
