#pragma once
#include <cstdint>
#include <string>

#include "tests/data/temporary_folder.h"

namespace trefoil::data {

/// Pixel i, row by row, of a colour of the image that CifarRow() makes.
inline std::uint8_t CifarValue(int start, std::size_t colour, std::size_t i) {
  return static_cast<std::uint8_t>(static_cast<std::size_t>(start) + 7 * i + 50 * colour);
}

/// A row of CIFAR-10's binary files.
inline std::string CifarRow(int label, int start) {
  std::string row(1, static_cast<char>(label));
  for (std::size_t colour = 0; colour < 3; ++colour) {
    for (std::size_t i = 0; i < 1024; ++i) row += static_cast<char>(CifarValue(start, colour, i));
  }
  return row;
}

}  // namespace trefoil::data
