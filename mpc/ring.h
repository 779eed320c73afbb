#pragma once
#include <Eigen/Core>
#include <cstdint>

namespace trefoil::mpc {

/// An element of Z_2^64. Read as a signed number it is two's complement.
using Word = std::uint64_t;
using Index = Eigen::Index;

/// Public (or locally known) ring elements: a matrix, or a vector as a matrix of one column. Arithmetic is
/// element-wise and modulo 2^64.
using RingMatrix = Eigen::Array<Word, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// An element of Z_2^32: what is needed of a word where no more than 32 bits are opened of what is made of
/// it.
using HalfWord = std::uint32_t;
/// The same as RingMatrix, modulo 2^32.
using HalfMatrix = Eigen::Array<HalfWord, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// The signed number that a word stands for.
[[nodiscard]] inline std::int64_t Signed(Word word) { return static_cast<std::int64_t>(word); }

/// The same elements, row by row, in another shape. Pre: rows * cols is the number of elements.
[[nodiscard]] RingMatrix Reshaped(const RingMatrix& x, Index rows, Index cols);

/// The low bits of each element. Pre: 0 <= bits < 64.
[[nodiscard]] RingMatrix LowBits(const RingMatrix& x, int bits);

/// One below the other. Pre: the same number of columns (a matrix without rows fits everything).
[[nodiscard]] RingMatrix Stacked(const RingMatrix& top, const RingMatrix& bottom);
/// One to the right of the other. Pre: the same number of rows.
[[nodiscard]] RingMatrix SideBySide(const RingMatrix& left, const RingMatrix& right);

}  // namespace trefoil::mpc
