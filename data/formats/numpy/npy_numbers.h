#pragma once
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "data/formats/bounded_content.h"
#include "data/formats/positioned_file.h"

namespace trefoil::data {

/// Numbers of an NPY file that is too large to be read whole, or of which somebody wants a part: read by
/// position.
class NpyNumbers {
 public:
  /// Throws DataError as ReadNpy of the head and the size; for a file that is packed or in column-major
  /// order, of which no part can be read alone; and what `check` throws.
  NpyNumbers(const std::filesystem::path& path, const ShapeCheck& check);

  [[nodiscard]] const std::vector<std::size_t>& shape() const { return shape_; }
  /// By which the array is told from others: its shape, and PositionedFile::Sample of its file as that is
  /// now.
  [[nodiscard]] std::string Sample() const;
  /// `count` numbers from `first` on, in the order of rows. Throws DataError where the file has been cut
  /// meanwhile, or holds strings. Pre: the shape has as many.
  [[nodiscard]] std::vector<double> Read(std::size_t first, std::size_t count) const;

 private:
  PositionedFile file_;
  std::string descr_{};
  std::vector<std::size_t> shape_{};
  std::size_t item_ = 0;
  std::size_t start_ = 0;  ///< where numbers begin in the file
};

}  // namespace trefoil::data
