#include "data/formats/numpy/npy_numbers.h"

#include <utility>

#include "base/secrets/sha256.h"
#include "data/formats/file.h"
#include "data/formats/numpy/npy.h"

namespace trefoil::data {

NpyNumbers::NpyNumbers(const std::filesystem::path& path, const ShapeCheck& check) : file_(path) {
  auto header = ReadNpyHeader(file_);
  if (!header)
    ThrowDataError(path, "", "a packed file", "it unpacked, so that each machine can read its part");
  item_ = *NpyItemSize(header->descr);
  if (check) check(header->shape, item_);
  if (header->fortran_order && header->shape.size() > 1)
    ThrowDataError(path, "header", "column-major order",
                   "row-major order, so that each machine can read its part");
  start_ = header->length;
  descr_ = std::move(header->descr);
  shape_ = std::move(header->shape);
}

std::string NpyNumbers::Sample() const { return Sha256Hex(ShapeText(shape_) + file_.Sample()); }

std::vector<double> NpyNumbers::Read(std::size_t first, std::size_t count) const {
  std::string bytes(count * item_, '\0');
  file_.Read(start_ + first * item_, bytes);
  return NpyToDoubles(descr_, bytes, file_.path());
}

}  // namespace trefoil::data
