#include "mpc/bits.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace trefoil::mpc {
namespace {

constexpr int kWordBits = 64;

Index WordsFor(Index count) { return (count + kWordBits - 1) / kWordBits; }

/// Transposes 64 x 64 bits in place: bit j of row i becomes bit i of row j. (Hacker's Delight, 7-3, for 64
/// bits.)
void Transpose(std::array<Word, 64>& rows) {
  Word mask = 0x00000000FFFFFFFFULL;
  for (std::size_t j = 32; j != 0; j >>= 1, mask ^= mask << j) {
    for (std::size_t k = 0; k < 64; k = ((k | j) + 1) & ~j) {
      const Word swap = ((rows[k] >> j) ^ rows[k | j]) & mask;
      rows[k] ^= swap << j;
      rows[k | j] ^= swap;
    }
  }
}

// Words are copied to and from the wire as they lie in memory.
static_assert(std::endian::native == std::endian::little);

/// Appends runs of bits to a byte string, lowest bit first.
class BitWriter {
 public:
  explicit BitWriter(std::uint64_t bytes) : out_(bytes) {}

  /// Pre: bits from `count` upwards are zero; 1 <= count <= 64; there is room.
  void Append(Word bits, int count) {
    pending_ |= bits << filled_;
    if (filled_ + count < kWordBits) {
      filled_ += count;
      return;
    }
    std::memcpy(out_.data() + at_, &pending_, sizeof(Word));
    at_ += sizeof(Word);
    pending_ = filled_ == 0 ? 0 : bits >> (kWordBits - filled_);
    filled_ += count - kWordBits;
  }

  net::Bytes Finish() {
    if (at_ < out_.size()) std::memcpy(out_.data() + at_, &pending_, out_.size() - at_);
    return std::move(out_);
  }

 private:
  net::Bytes out_;
  std::size_t at_ = 0;
  Word pending_ = 0;
  int filled_ = 0;
};

class BitReader {
 public:
  explicit BitReader(const net::Bytes& bytes) : bytes_(bytes) {}

  /// Pre: 1 <= count <= 64, and as many bits are left.
  Word Take(int count) {
    const std::size_t word = at_ / kWordBits;
    const int shift = static_cast<int>(at_ % kWordBits);
    Word bits = Load(word) >> shift;
    if (shift + count > kWordBits) bits |= Load(word + 1) << (kWordBits - shift);
    at_ += static_cast<std::size_t>(count);
    return count == kWordBits ? bits : bits & ((Word{1} << count) - 1);
  }

 private:
  [[nodiscard]] Word Load(std::size_t word) const {
    const std::size_t first = word * sizeof(Word);
    Word out = 0;
    if (first + sizeof(Word) <= bytes_.size()) {
      std::memcpy(&out, bytes_.data() + first, sizeof(Word));
    } else {
      std::memcpy(&out, bytes_.data() + first, bytes_.size() - first);
    }
    return out;
  }

  const net::Bytes& bytes_;
  std::size_t at_ = 0;
};

int BitsOfWord(Index word, Index count) {
  return static_cast<int>(std::min<Index>(kWordBits, count - word * kWordBits));
}

}  // namespace

BitMatrix::BitMatrix(Index planes, Index count)
    : words_(RingMatrix::Zero(planes, WordsFor(count))), count_(count) {}

BitMatrix BitMatrix::ToBeWritten(Index planes, Index count) {
  BitMatrix out;
  out.words_.resize(planes, WordsFor(count));
  out.count_ = count;
  return out;
}

void BitMatrix::ClearTail() {
  const Index used = count_ % kWordBits;
  if (used != 0)
    words_.col(words_.cols() - 1) =
        words_.col(words_.cols() - 1).unaryExpr([used](Word word) { return word & ((Word{1} << used) - 1); });
}

BitMatrix operator^(const BitMatrix& a, const BitMatrix& b) {
  Require(a.planes() == b.planes() && a.count() == b.count(), "BitMatrix: shapes differ");
  BitMatrix out;
  out.count_ = a.count_;
  out.words_ = a.words_.binaryExpr(b.words_, [](Word u, Word v) { return u ^ v; });
  return out;
}

BitMatrix operator&(const BitMatrix& a, const BitMatrix& b) {
  Require(a.planes() == b.planes() && a.count() == b.count(), "BitMatrix: shapes differ");
  BitMatrix out;
  out.count_ = a.count_;
  out.words_ = a.words_.binaryExpr(b.words_, [](Word u, Word v) { return u & v; });
  return out;
}

BitMatrix Planes(const BitMatrix& bits, Index first, Index planes) {
  Require(first >= 0 && planes >= 0 && first + planes <= bits.planes(), "Planes: out of range");
  BitMatrix out = BitMatrix::ToBeWritten(planes, bits.count());
  out.words() = bits.words().middleRows(first, planes);
  return out;
}

BitMatrix SideBySide(const std::array<BitMatrix, 3>& parts) {
  Index count = 0;
  for (const BitMatrix& part : parts) {
    Require(part.planes() == parts[0].planes() && (count % kWordBits == 0 || part.count() == 0),
            "SideBySide: parts of the same planes, of whole words but for the last");
    count += part.count();
  }
  BitMatrix out = BitMatrix::ToBeWritten(parts[0].planes(), count);
  Index first = 0;
  for (const BitMatrix& part : parts) {
    out.words().middleCols(first, part.words().cols()) = part.words();
    first += part.words().cols();
  }
  return out;
}

BitMatrix Stacked(const BitMatrix& top, const BitMatrix& bottom) {
  Require(top.count() == bottom.count(), "Stacked: the same number of bits a plane");
  BitMatrix out = BitMatrix::ToBeWritten(top.planes() + bottom.planes(), top.count());
  out.words().topRows(top.planes()) = top.words();
  out.words().bottomRows(bottom.planes()) = bottom.words();
  return out;
}

BitMatrix ToPlanes(const RingMatrix& x, int width) {
  Require(width >= 1 && width <= kWordBits, "ToPlanes: a width of 1 to 64 bits");
  BitMatrix out = BitMatrix::ToBeWritten(width, x.size());
  std::array<Word, 64> block{};
  for (Index word = 0; word < out.words().cols(); ++word) {
    const int used = BitsOfWord(word, x.size());
    block.fill(0);
    std::copy_n(x.data() + word * kWordBits, used, block.begin());
    Transpose(block);
    for (Index plane = 0; plane < width; ++plane)
      out.words()(plane, word) = block[static_cast<std::size_t>(plane)];
  }
  return out;
}

RingMatrix FromPlanes(const BitMatrix& bits, Index rows, Index cols) {
  Require(bits.planes() <= kWordBits && rows * cols == bits.count(),
          "FromPlanes: at most 64 planes, and a shape that fits");
  RingMatrix out(rows, cols);
  std::array<Word, 64> block{};
  for (Index word = 0; word < bits.words().cols(); ++word) {
    block.fill(0);
    for (Index plane = 0; plane < bits.planes(); ++plane)
      block[static_cast<std::size_t>(plane)] = bits.words()(plane, word);
    Transpose(block);
    std::copy_n(block.begin(), BitsOfWord(word, bits.count()), out.data() + word * kWordBits);
  }
  return out;
}

RingMatrix ToWords(const BitMatrix& bits) {
  RingMatrix out(bits.planes(), bits.count());
  for (Index plane = 0; plane < bits.planes(); ++plane) {
    for (Index item = 0; item < bits.count(); ++item) out(plane, item) = bits.bit(plane, item) ? 1 : 0;
  }
  return out;
}

std::uint64_t PackedBytes(Index planes, Index count) {
  return static_cast<std::uint64_t>((planes * count + 7) / 8);
}

net::Bytes Pack(const BitMatrix& bits) {
  BitWriter writer(PackedBytes(bits.planes(), bits.count()));
  for (Index plane = 0; plane < bits.planes(); ++plane) {
    for (Index word = 0; word < bits.words().cols(); ++word) {
      writer.Append(bits.words()(plane, word), BitsOfWord(word, bits.count()));
    }
  }
  return writer.Finish();
}

BitMatrix Unpack(const net::Bytes& bytes, Index planes, Index count) {
  Require(bytes.size() == PackedBytes(planes, count), "Unpack: wrong number of bytes");
  BitMatrix out = BitMatrix::ToBeWritten(planes, count);
  BitReader reader(bytes);
  for (Index plane = 0; plane < planes; ++plane) {
    for (Index word = 0; word < out.words().cols(); ++word) {
      out.words()(plane, word) = reader.Take(BitsOfWord(word, count));
    }
  }
  return out;
}

}  // namespace trefoil::mpc
