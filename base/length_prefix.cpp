#include "base/length_prefix.h"

#include "base/error.h"

namespace trefoil {

std::string WithLength(std::string_view text) {
  std::string bytes;
  for (std::size_t k = 0; k < kLengthBytes; ++k)
    bytes.push_back(static_cast<char>(std::uint64_t{text.size()} >> (8 * k) & 0xFF));
  return bytes.append(text);
}

std::uint64_t LengthIn(std::string_view bytes) {
  Require(bytes.size() >= kLengthBytes, "LengthIn: a length of eight bytes");
  std::uint64_t length = 0;
  for (std::size_t k = 0; k < kLengthBytes; ++k)
    length |= std::uint64_t{static_cast<unsigned char>(bytes[k])} << (8 * k);
  return length;
}

}  // namespace trefoil
