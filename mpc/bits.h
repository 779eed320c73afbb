#pragma once
#include <array>
#include <span>

#include "mpc/ring.h"
#include "net/transport.h"

namespace trefoil::mpc {

/// `planes()` rows of `count` bits each, 64 to a word, lowest bit first; the unused bits of a row's last word
/// are zero. The planes of a number are its bits, plane 0 the least significant.
class BitMatrix {
 public:
  BitMatrix() = default;
  /// All zeros.
  BitMatrix(Index planes, Index count);
  /// Not initialised: for those who write every word.
  [[nodiscard]] static BitMatrix ToBeWritten(Index planes, Index count);

  [[nodiscard]] Index planes() const { return words_.rows(); }
  [[nodiscard]] Index count() const { return count_; }
  [[nodiscard]] Index bits() const { return planes() * count_; }
  [[nodiscard]] const RingMatrix& words() const { return words_; }
  [[nodiscard]] RingMatrix& words() { return words_; }
  [[nodiscard]] bool bit(Index plane, Index item) const {
    return ((words_(plane, item / 64) >> (item % 64)) & 1U) != 0;
  }
  [[nodiscard]] Index words_per_plane() const { return words_.cols(); }
  /// The words of one plane. Pre: 0 <= k < planes().
  [[nodiscard]] const Word* plane(Index k) const { return words_.data() + k * words_per_plane(); }
  [[nodiscard]] Word* plane(Index k) { return words_.data() + k * words_per_plane(); }
  void set(Index plane, Index item) { words_(plane, item / 64) |= Word{1} << (item % 64); }

  /// Zeroes the unused bits of each row's last word: to be called after writing whole words.
  void ClearTail();

  friend BitMatrix operator^(const BitMatrix& a, const BitMatrix& b);
  /// In the memory of `a`.
  friend BitMatrix operator^(BitMatrix&& a, const BitMatrix& b);
  friend BitMatrix operator&(const BitMatrix& a, const BitMatrix& b);

 private:
  RingMatrix words_;
  Index count_ = 0;
};

/// Rows [first, first + planes) of `bits`.
[[nodiscard]] BitMatrix Planes(const BitMatrix& bits, Index first, Index planes);
/// The rows of `top`, then those of `bottom`. Pre: the same count.
[[nodiscard]] BitMatrix Stacked(const BitMatrix& top, const BitMatrix& bottom);

/// The bits of all parts, plane by plane one part after the other. Pre: the same planes; every count is a
/// multiple of 64, except that of the last part that has any.
[[nodiscard]] BitMatrix SideBySide(const std::array<BitMatrix, 3>& parts);

/// The low `width` bits of every element (row by row) as planes: plane t holds bit t of each.
[[nodiscard]] BitMatrix ToPlanes(const RingMatrix& x, int width);

/// Writes the low `width` bits of the words of `x` as bits [first, first + x.size()) of planes 0 to width - 1
/// of `to`. Pre: width <= to.planes(); `first` is a multiple of 64, and so is x.size(), unless `to` ends
/// there.
void PutPlanes(std::span<const Word> x, int width, Index first, BitMatrix& to);

/// The inverse of PutPlanes: elements [first, first + x.size()) as words. Pre: at most 64 planes; `first`
/// and x.size() as for PutPlanes.
void TakePlanes(const BitMatrix& from, Index first, std::span<Word> x);

/// The inverse of ToPlanes: elements of planes() bits, in the given shape. Pre: planes() <= 64, rows * cols
/// == count().
[[nodiscard]] RingMatrix FromPlanes(const BitMatrix& bits, Index rows, Index cols);

/// Every bit of `bits` as a 0/1 word: planes() rows, count() columns.
[[nodiscard]] RingMatrix ToWords(const BitMatrix& bits);

/// Writes the planes of `bits` into a message of as many planes of `count` bits, as bits [first, first +
/// bits.count()) of each. Pre: PackedBytes(bits.planes(), count) bytes, zero where nothing was written yet.
void PutPacked(const BitMatrix& bits, Index first, Index count, net::Bytes& message);

/// Bytes that planes * count bits take on the wire, rounded up to a byte.
[[nodiscard]] std::uint64_t PackedBytes(Index planes, Index count);
[[nodiscard]] net::Bytes Pack(const BitMatrix& bits);
/// Pre: PackedBytes(planes, count) bytes.
[[nodiscard]] BitMatrix Unpack(const net::Bytes& bytes, Index planes, Index count);

}  // namespace trefoil::mpc
