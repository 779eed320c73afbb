#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "data/dataset/spec.h"
#include "data/formats/positioned_file.h"

namespace trefoil::data {

/// The rows of a data set that is larger than memory: read from its file one by one, as they are asked for.
/// The system keeps in memory what it has room for. May be read by several threads at once.
class StoredRows {
 public:
  /// The rows of a plain IDX or NPY file. Nothing for another format, a packed file, column-major order and
  /// strings: these are for Load(). Throws DataError as Load() for the file's head and shape.
  [[nodiscard]] static std::optional<StoredRows> Open(const DataSpec& spec,
                                                      const std::filesystem::path& path);

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t columns() const { return static_cast<std::size_t>(spec_.features); }

  /// Reads one row, divided by the spec's scale. Throws DataError naming row and column for a value that
  /// Load() refuses, and where the file has been cut or cannot be read. Pre: row < rows(); `out` has
  /// columns().
  void Read(std::size_t row, std::span<float> out) const;
  /// Reads every row once, but for those of bytes, which hold nothing that could be refused. Throws as
  /// Read().
  void Check() const;

 private:
  StoredRows(const DataSpec& spec, std::shared_ptr<const PositionedFile> file)
      : spec_(spec), file_(std::move(file)) {}

  DataSpec spec_;
  std::shared_ptr<const PositionedFile> file_;
  std::string descr_;  ///< of NPY; empty: unsigned bytes
  std::size_t item_ = 1;
  std::size_t start_ = 0;  ///< where the rows begin in the file
  std::size_t rows_ = 0;
};

}  // namespace trefoil::data
