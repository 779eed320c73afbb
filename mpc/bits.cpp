#include "mpc/bits.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "mpc/simd/bit_kernels.h"
#include "mpc/simd/transposition_kernels.h"

namespace trefoil::mpc {
namespace {

constexpr int kWordBits = 64;

Index WordsFor(Index count) { return (count + kWordBits - 1) / kWordBits; }

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

  /// The same for whole words.
  void AppendWords(const Word* words, Index count) {
    pending_ = BitsBehind(pending_, filled_, words, count, out_.data() + at_);
    at_ += static_cast<std::size_t>(count) * sizeof(Word);
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

  void TakeWords(Index count, Word* out) {
    BitsFrom(bytes_.data() + at_ / 8, static_cast<int>(at_ % 8), count, out);
    at_ += static_cast<std::size_t>(count) * kWordBits;
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

/// Adds a word's bits to bits that are zero, from bit `first` on; those beyond the end are zero.
void AddBits(Word bits, std::size_t first, net::Bytes& to) {
  const auto shift = static_cast<int>(first % 8);
  std::byte* const at = to.data() + first / 8;
  const std::size_t left = to.size() - first / 8;
  const std::size_t low = std::min(left, sizeof(Word));
  Word word = 0;
  std::memcpy(&word, at, low);
  word |= bits << shift;
  std::memcpy(at, &word, low);
  if (shift > 0 && left > sizeof(Word))
    at[sizeof(Word)] |= static_cast<std::byte>(bits >> (kWordBits - shift));
}

void RequireSameShape(const BitMatrix& a, const BitMatrix& b) {
  Require(a.planes() == b.planes() && a.count() == b.count(), "BitMatrix: shapes differ");
}

void RequireWholeWords(const BitMatrix& planes, Index first, Index count) {
  Require(first >= 0 && first % kWordBits == 0 && first + count <= planes.count() &&
              (count % kWordBits == 0 || first + count == planes.count()),
          "BitMatrix: whole words of planes, within them");
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
  RequireSameShape(a, b);
  BitMatrix out = BitMatrix::ToBeWritten(a.planes(), a.count());
  ExclusiveOr(a.words_.data(), b.words_.data(), out.words_.size(), out.words_.data());
  return out;
}

BitMatrix operator^(BitMatrix&& a, const BitMatrix& b) {
  RequireSameShape(a, b);
  ExclusiveOr(a.words_.data(), b.words_.data(), a.words_.size(), a.words_.data());
  return std::move(a);
}

BitMatrix operator&(const BitMatrix& a, const BitMatrix& b) {
  RequireSameShape(a, b);
  BitMatrix out = BitMatrix::ToBeWritten(a.planes(), a.count());
  BitwiseAnd(a.words_.data(), b.words_.data(), out.words_.size(), out.words_.data());
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
    for (Index plane = 0; plane < part.planes(); ++plane)
      std::copy_n(part.plane(plane), part.words_per_plane(), out.plane(plane) + first);
    first += part.words_per_plane();
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
  WordsToPlanes(x.data(), x.size(), width, {.data = out.words().data(), .stride = out.words_per_plane()});
  return out;
}

void PutPlanes(std::span<const Word> x, int width, Index first, BitMatrix& to) {
  const auto count = static_cast<Index>(x.size());
  Require(width >= 1 && width <= kWordBits && width <= to.planes(),
          "PutPlanes: a width of 1 to 64 bits, and as many planes");
  RequireWholeWords(to, first, count);
  WordsToPlanes(x.data(), count, width,
                {.data = to.words().data() + first / kWordBits, .stride = to.words_per_plane()});
}

void TakePlanes(const BitMatrix& from, Index first, std::span<Word> x) {
  const auto count = static_cast<Index>(x.size());
  Require(from.planes() <= kWordBits, "TakePlanes: at most 64 planes");
  RequireWholeWords(from, first, count);
  PlanesToWords({.data = from.words().data() + first / kWordBits, .stride = from.words_per_plane()},
                from.planes(), count, x.data());
}

RingMatrix FromPlanes(const BitMatrix& bits, Index rows, Index cols) {
  Require(bits.planes() <= kWordBits && rows * cols == bits.count(),
          "FromPlanes: at most 64 planes, and a shape that fits");
  RingMatrix out(rows, cols);
  PlanesToWords({.data = bits.words().data(), .stride = bits.words_per_plane()}, bits.planes(), bits.count(),
                out.data());
  return out;
}

RingMatrix ToWords(const BitMatrix& bits) {
  RingMatrix out(bits.planes(), bits.count());
  for (Index plane = 0; plane < bits.planes(); ++plane)
    BitsToWords(bits.plane(plane), bits.count(), out.data() + plane * bits.count());
  return out;
}

std::uint64_t PackedBytes(Index planes, Index count) {
  return static_cast<std::uint64_t>((planes * count + 7) / 8);
}

net::Bytes Pack(const BitMatrix& bits) {
  BitWriter writer(PackedBytes(bits.planes(), bits.count()));
  const Index whole = bits.count() / kWordBits;
  const auto rest = static_cast<int>(bits.count() % kWordBits);
  for (Index plane = 0; plane < bits.planes(); ++plane) {
    const Word* words = bits.plane(plane);
    writer.AppendWords(words, whole);
    if (rest > 0) writer.Append(words[whole], rest);
  }
  return writer.Finish();
}

void PutPacked(const BitMatrix& bits, Index first, Index count, net::Bytes& message) {
  Require(first >= 0 && first + bits.count() <= count && message.size() == PackedBytes(bits.planes(), count),
          "PutPacked: within the planes of the message");
  if (bits.count() == 0) return;
  // Parts come in any order, so that what stands behind a part may have been put there: of its last word bits
  // are added. All words before that one end within the part.
  const Index whole = bits.words_per_plane() - 1;
  for (Index plane = 0; plane < bits.planes(); ++plane) {
    const auto begin = static_cast<std::size_t>(plane * count + first);
    const auto last = begin + static_cast<std::size_t>(kWordBits * whole);
    if (whole > 0) {
      std::byte* const at = message.data() + begin / 8;
      const Word behind =
          BitsBehind(std::to_integer<Word>(*at), static_cast<int>(begin % 8), bits.plane(plane), whole, at);
      message[last / 8] |= static_cast<std::byte>(behind);
    }
    AddBits(bits.plane(plane)[whole], last, message);
  }
}

BitMatrix Unpack(const net::Bytes& bytes, Index planes, Index count) {
  Require(bytes.size() == PackedBytes(planes, count), "Unpack: wrong number of bytes");
  BitMatrix out = BitMatrix::ToBeWritten(planes, count);
  BitReader reader(bytes);
  const Index whole = count / kWordBits;
  const auto rest = static_cast<int>(count % kWordBits);
  for (Index plane = 0; plane < planes; ++plane) {
    Word* words = out.plane(plane);
    reader.TakeWords(whole, words);
    if (rest > 0) words[whole] = reader.Take(rest);
  }
  return out;
}

}  // namespace trefoil::mpc
