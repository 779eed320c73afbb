#include "mpc/narrow/packed_matrix.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/error.h"

namespace trefoil::mpc {
namespace {

// Of a word the first bytes are the low ones.
static_assert(std::endian::native == std::endian::little);

}  // namespace

PackedMatrix::PackedMatrix(Index rows, Index cols, int width) : rows_(rows), cols_(cols), width_(width) {
  Require(rows >= 0 && cols >= 0 && width >= 1 && width <= 64, "PackedMatrix: a width of 1 to 64 bits");
  bytes_.resize(size() * bytes() + PackedRows::kReadBeyond);
  bytes_.tail(PackedRows::kReadBeyond) = 0;
}

void PackedMatrix::PutRows(Index first, Index count, ConstRows words) {
  Require(first >= 0 && count >= 0 && first + count <= rows_, "PackedMatrix::PutRows: rows of the matrix");
  const Word low = ~Word{0} >> (64 - width_);
  const Index step = bytes();
  // A number is written as a whole word where what lies behind it is of the same row, and is written next.
  const Index whole = std::max<Index>(0, cols_ - static_cast<Index>(sizeof(Word)));
  for (Index row = 0; row < count; ++row) {
    const Word* from = words.data + row * words.stride;
    std::uint8_t* to = bytes_.data() + (first + row) * cols_ * step;
    Index k = 0;
    for (; k < whole; ++k, to += step) {
      const Word number = from[k] & low;
      std::memcpy(to, &number, sizeof(Word));
    }
    for (; k < cols_; ++k, to += step) {
      const Word number = from[k] & low;
      std::memcpy(to, &number, static_cast<std::size_t>(step));
    }
  }
}

void PackedMatrix::CopyRow(Index row, const PackedMatrix& from, Index of) {
  Require(row >= 0 && row < rows_, "PackedMatrix::CopyRow: a row of the matrix");
  const Index of_row = cols_ * bytes();
  std::uint8_t* const out = bytes_.data() + row * of_row;
  if (from.size() == 0) {
    std::fill_n(out, of_row, std::uint8_t{0});
    return;
  }
  Require(of >= 0 && of < from.rows_ && from.cols_ == cols_ && from.width_ == width_,
          "PackedMatrix::CopyRow: a row as wide");
  std::copy_n(from.bytes_.data() + of * of_row, of_row, out);
}

PackedRows PackedMatrix::From(Index row, Index col) const {
  const auto* data = reinterpret_cast<const std::byte*>(bytes_.data());
  return {.data = data + (row * cols_ + col) * bytes(), .stride = cols_ * bytes(), .bytes = bytes()};
}

RingMatrix Widened(const PackedMatrix& x) {
  RingMatrix out = RingMatrix::Zero(x.rows(), x.cols());
  const PackedRows from = x.From(0, 0);
  for (Index k = 0; k < out.size(); ++k)
    std::memcpy(out.data() + k, from.data + k * from.bytes, static_cast<std::size_t>(from.bytes));
  return out;
}

}  // namespace trefoil::mpc
