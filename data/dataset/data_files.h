#pragma once
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace trefoil::data {

/// Where one data set lies: `x` and `y` for IDX and NPY, `file` for CSV, CIFAR and NPZ (arrays x and y),
/// and the folder of images. Where labels are ignored, no `y` is needed.
struct DataFiles {
  std::filesystem::path x;
  std::filesystem::path y;
  std::filesystem::path file;
  /// CSV: further files of the table that begins in `file`, in order.
  std::vector<std::filesystem::path> more{};
  /// Not empty: `file` is an SQLite database, and the table is what this SELECT gives of it.
  std::string query{};
  bool postgres =
      false;  ///< with a query: `file` is no file but says which PostgreSQL database, without a password

  /// Whether no files are named.
  [[nodiscard]] bool empty() const { return x.empty() && file.empty(); }
  /// The file that the rows are in, or the first of them.
  [[nodiscard]] const std::filesystem::path& rows() const { return file.empty() ? x : file; }
  /// `file` and `more`, or nothing.
  [[nodiscard]] std::vector<std::filesystem::path> table() const;
  void SetTable(const std::vector<std::filesystem::path>& files);
  /// What errors call the data set: rows(), and how many more files there are.
  [[nodiscard]] std::filesystem::path place() const;
};

/// A data set that lies in one file.
[[nodiscard]] inline DataFiles OneFile(std::filesystem::path file) {
  return {.x = {}, .y = {}, .file = std::move(file)};
}

}  // namespace trefoil::data
