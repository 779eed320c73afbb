#include "mpc/bits.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/support/protocol_test.h"

namespace trefoil::mpc {
namespace {

using testing_support::RandomWords;

RingMatrix LowBits(const RingMatrix& x, int width) {
  const Word mask = width == 64 ? ~Word{0} : (Word{1} << width) - 1;
  return x.unaryExpr([mask](Word word) { return word & mask; });
}

bool Same(const BitMatrix& a, const BitMatrix& b) {
  return a.planes() == b.planes() && a.count() == b.count() && (a.words() == b.words()).all();
}

TEST(ToPlanes, IsUndoneByFromPlanesForEveryCountAndWidth) {
  for (Index count = 1; count <= 130; ++count) {
    const RingMatrix x = RandomWords(static_cast<std::uint64_t>(count), count, 1);
    for (int width = 1; width <= 64; ++width) {
      const BitMatrix planes = ToPlanes(x, width);
      ASSERT_EQ(planes.planes(), width);
      ASSERT_EQ(planes.count(), count);
      ASSERT_TRUE((FromPlanes(planes, count, 1) == LowBits(x, width)).all())
          << count << " of " << width << " bits";
    }
  }
}

TEST(ToPlanes, PutsBitTOfElementKIntoPlaneT) {
  const RingMatrix x = RandomWords(5, 9, 11);
  const BitMatrix planes = ToPlanes(x, 64);
  for (Index item = 0; item < x.size(); ++item) {
    for (Index t = 0; t < 64; ++t) ASSERT_EQ(planes.bit(t, item), ((x.data()[item] >> t) & 1) != 0);
  }
}

TEST(ToPlanes, RefusesWidthsOutsideAWord) {
  EXPECT_THROW((void)ToPlanes(RingMatrix::Zero(3, 1), 0), ContractError);
  EXPECT_THROW((void)ToPlanes(RingMatrix::Zero(3, 1), 65), ContractError);
  EXPECT_THROW((void)FromPlanes(BitMatrix(65, 3), 3, 1), ContractError);
  EXPECT_THROW((void)FromPlanes(BitMatrix(4, 3), 2, 2), ContractError);
}

/// The wire format, bit by bit: bit `item` of plane `plane` is bit number plane * count + item of the
/// message.
net::Bytes SlowlyPacked(const BitMatrix& bits) {
  net::Bytes out(static_cast<std::size_t>((bits.bits() + 7) / 8));
  for (Index plane = 0; plane < bits.planes(); ++plane) {
    for (Index item = 0; item < bits.count(); ++item) {
      const auto at = static_cast<std::size_t>(plane * bits.count() + item);
      if (bits.bit(plane, item)) out[at / 8] |= std::byte{1} << (at % 8);
    }
  }
  return out;
}

TEST(Pack, IsTheWireFormatAndUndoneByUnpackForEveryCountAndWidth) {
  for (Index count = 1; count <= 130; ++count) {
    const RingMatrix x = RandomWords(static_cast<std::uint64_t>(count), count, 1);
    for (const int width : {1, 2, 3, 7, 8, 31, 63, 64}) {
      const BitMatrix bits = ToPlanes(x, width);
      const net::Bytes packed = Pack(bits);
      ASSERT_EQ(packed.size(), PackedBytes(width, count));
      ASSERT_EQ(packed, SlowlyPacked(bits)) << count << " of " << width << " bits";
      ASSERT_TRUE(Same(Unpack(packed, width, count), bits)) << count << " of " << width << " bits";
    }
  }
}

TEST(Pack, KeepsTheFormatOfASmallExample) {
  BitMatrix bits(2, 5);
  bits.set(0, 0);
  bits.set(0, 2);
  bits.set(1, 1);
  bits.set(1, 4);
  // Planes 10100 and 01001, lowest bit first: 10100010 01.
  EXPECT_EQ(Pack(bits), (net::Bytes{std::byte{0x45}, std::byte{0x02}}));
}

TEST(Unpack, IgnoresThePaddingOfTheLastByte) {
  const BitMatrix bits = Unpack({std::byte{0xFF}}, 1, 3);
  EXPECT_EQ(bits.words()(0, 0), 7U);
}

TEST(Unpack, RefusesAWrongNumberOfBytes) {
  EXPECT_THROW((void)Unpack(net::Bytes(2), 1, 8), ContractError);
  EXPECT_THROW((void)Unpack(net::Bytes(0), 1, 8), ContractError);
}

TEST(PackedBytes, RoundsUpToAByteOverAllPlanes) {
  EXPECT_EQ(PackedBytes(0, 100), 0U);
  EXPECT_EQ(PackedBytes(64, 0), 0U);
  EXPECT_EQ(PackedBytes(1, 1), 1U);
  EXPECT_EQ(PackedBytes(5, 77), 49U);
  EXPECT_EQ(PackedBytes(3, 8), 3U);
  EXPECT_EQ(PackedBytes(64, Index{1} << 31), std::uint64_t{1} << 34);
}

TEST(BitMatrix, WorksWithoutBits) {
  EXPECT_TRUE(Pack(BitMatrix(3, 0)).empty());
  EXPECT_EQ(ToPlanes(RingMatrix(0, 7), 9).count(), 0);
  EXPECT_EQ(FromPlanes(BitMatrix(9, 0), 0, 7).cols(), 7);
  BitMatrix none(4, 0);
  none.ClearTail();
  EXPECT_EQ(ToWords(none).rows(), 4);
}

TEST(BitMatrix, XorAndAndAreBitwiseAndRefuseOtherShapes) {
  const BitMatrix a = ToPlanes(RandomWords(1, 70, 1), 9);
  const BitMatrix b = ToPlanes(RandomWords(2, 70, 1), 9);
  for (Index plane = 0; plane < 9; ++plane) {
    for (Index item = 0; item < 70; ++item) {
      ASSERT_EQ((a ^ b).bit(plane, item), a.bit(plane, item) != b.bit(plane, item));
      ASSERT_EQ((a & b).bit(plane, item), a.bit(plane, item) && b.bit(plane, item));
    }
  }
  EXPECT_THROW((void)(a ^ BitMatrix(9, 71)), ContractError);
  EXPECT_THROW((void)(a & BitMatrix(8, 70)), ContractError);
}

TEST(BitMatrix, ClearTailLeavesTheBitsAndZeroesTheRest) {
  for (const Index count : {1, 63, 64, 65, 128}) {
    BitMatrix bits(2, count);
    bits.words().setConstant(~Word{0});
    bits.ClearTail();
    Index ones = 0;
    for (Index k = 0; k < bits.words().size(); ++k) ones += std::popcount(bits.words().data()[k]);
    EXPECT_EQ(ones, 2 * count);
    EXPECT_TRUE(bits.bit(1, count - 1));
  }
}

TEST(SideBySide, PutsTheBitsOfEachPlaneTogether) {
  const RingMatrix words = RandomWords(4, 200, 1);
  const auto part = [&](Index first, Index count) { return ToPlanes(words.middleRows(first, count), 9); };
  EXPECT_TRUE(Same(SideBySide({part(0, 64), part(64, 128), part(192, 8)}), ToPlanes(words, 9)));
  EXPECT_TRUE(Same(SideBySide({part(0, 70), part(0, 0), part(0, 0)}), part(0, 70)));
  EXPECT_THROW((void)SideBySide({part(0, 70), part(70, 10), part(0, 0)}), ContractError);
  EXPECT_THROW((void)SideBySide({part(0, 64), BitMatrix(8, 64), BitMatrix(9, 0)}), ContractError);
}

std::span<const Word> Part(const RingMatrix& words, Index first, std::size_t count) {
  return {words.data() + first, count};
}

TEST(PutPlanes, WritesAPartOfSomePlanes) {
  const RingMatrix words = RandomWords(4, 200, 1);
  BitMatrix to(11, 200);
  PutPlanes(Part(words, 64, 128), 9, 64, to);
  PutPlanes(Part(words, 192, 8), 9, 192, to);
  PutPlanes(Part(words, 0, 64), 9, 0, to);
  EXPECT_TRUE(Same(to, Stacked(ToPlanes(words, 9), BitMatrix(2, 200))));
}

TEST(PutPlanes, RefusesWhatIsNotWholeWordsWithinThePlanes) {
  const RingMatrix words = RandomWords(4, 200, 1);
  BitMatrix to(11, 200);
  EXPECT_THROW(PutPlanes(Part(words, 0, 64), 9, 1, to), ContractError);
  EXPECT_THROW(PutPlanes(Part(words, 0, 63), 9, 0, to), ContractError);
  EXPECT_THROW(PutPlanes(Part(words, 0, 128), 9, 128, to), ContractError);
  EXPECT_THROW(PutPlanes(Part(words, 0, 64), 12, 0, to), ContractError);
  EXPECT_THROW(PutPlanes(Part(words, 0, 64), 0, 0, to), ContractError);
}

TEST(TakePlanes, GivesAPartAsWords) {
  const RingMatrix words = LowBits(RandomWords(4, 200, 1), 9);
  const BitMatrix from = ToPlanes(words, 9);
  for (const auto& [first, count] : {std::pair<Index, Index>{64, 128}, {192, 8}, {0, 200}, {128, 0}}) {
    RingMatrix part(count, 1);
    TakePlanes(from, first, {part.data(), static_cast<std::size_t>(count)});
    EXPECT_TRUE((part == words.middleRows(first, count)).all());
  }
  RingMatrix part(200, 1);
  EXPECT_THROW(TakePlanes(from, 1, {part.data(), 64}), ContractError);
  EXPECT_THROW(TakePlanes(from, 0, {part.data(), 63}), ContractError);
  EXPECT_THROW(TakePlanes(from, 128, {part.data(), 128}), ContractError);
}

// At every place within a byte.
TEST(PutPacked, PutsPartsWhereTheWholeHasThem) {
  for (const Index count : {1, 63, 64, 65, 127, 200, 203, 2500, 2501}) {
    const RingMatrix words = RandomWords(5, count, 1);
    const Index part = count < 1000 ? 64 : 640;  // a word of each plane, or words that vectors take
    for (const int width : {1, 9, 40, 64}) {
      net::Bytes message(PackedBytes(width, count));
      for (const Index k : {2, 0, 1, 3}) {
        const Index here = std::min(part, count - k * part);
        if (here > 0) PutPacked(ToPlanes(words.middleRows(k * part, here), width), k * part, count, message);
      }
      EXPECT_EQ(message, Pack(ToPlanes(words, width))) << count << " of " << width << " bits";
    }
  }
  net::Bytes message(PackedBytes(9, 20));
  const BitMatrix bits = ToPlanes(RandomWords(5, 20, 1), 9);
  EXPECT_THROW(PutPacked(bits, 1, 20, message), ContractError);
  EXPECT_THROW(PutPacked(bits, 0, 21, message), ContractError);
}

TEST(BitMatrix, XorMayTakeTheMemoryOfItsLeftOperand) {
  const BitMatrix a = ToPlanes(RandomWords(1, 70, 1), 9);
  const BitMatrix b = ToPlanes(RandomWords(2, 70, 1), 9);
  EXPECT_TRUE(Same(BitMatrix(a) ^ b, a ^ b));
  EXPECT_THROW((void)(BitMatrix(a) ^ BitMatrix(9, 71)), ContractError);
}

TEST(Planes, AndStackedTakeApartAndPutTogether) {
  const BitMatrix bits = ToPlanes(RandomWords(3, 70, 1), 9);
  EXPECT_TRUE(Same(Stacked(Planes(bits, 0, 4), Planes(bits, 4, 5)), bits));
  EXPECT_THROW((void)Planes(bits, 5, 5), ContractError);
  EXPECT_THROW((void)Planes(bits, -1, 5), ContractError);
  EXPECT_THROW((void)Stacked(bits, BitMatrix(1, 69)), ContractError);
}

TEST(ToWords, GivesZeroOrOne) {
  const BitMatrix bits = ToPlanes(RandomWords(4, 70, 1), 3);
  const RingMatrix words = ToWords(bits);
  for (Index plane = 0; plane < 3; ++plane) {
    for (Index item = 0; item < 70; ++item) ASSERT_EQ(words(plane, item), bits.bit(plane, item) ? 1U : 0U);
  }
}

}  // namespace
}  // namespace trefoil::mpc
