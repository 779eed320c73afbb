#include "net/link/frame.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"

namespace trefoil::net {
namespace {

FrameHeader ExampleHeader() {
  FrameHeader header{.type = FrameType::kAbort,
                     .lane = 13,
                     .depth = 0x01020304,
                     .sequence = 0x1122334455667788,
                     .length = 1'000'003};
  for (std::size_t i = 0; i < header.session.size(); ++i)
    header.session[i] = static_cast<std::uint8_t>(200 + i);
  return header;
}

TEST(Frame, DecodesWhatItEncoded) {
  const FrameHeader decoded = DecodeHeader(EncodeHeader(ExampleHeader()));

  EXPECT_EQ(decoded.type, ExampleHeader().type);
  EXPECT_EQ(decoded.lane, ExampleHeader().lane);
  EXPECT_EQ(decoded.depth, ExampleHeader().depth);
  EXPECT_EQ(decoded.sequence, ExampleHeader().sequence);
  EXPECT_EQ(decoded.length, ExampleHeader().length);
  EXPECT_EQ(decoded.session, ExampleHeader().session);
}

TEST(Frame, IsLittleEndianOnTheWire) {
  const auto bytes = EncodeHeader(ExampleHeader());

  EXPECT_EQ(bytes[0], std::byte{3});
  EXPECT_EQ(bytes[1], std::byte{13});
  EXPECT_EQ(bytes[3], std::byte{0x04});
  EXPECT_EQ(bytes[7], std::byte{0x88});
  EXPECT_EQ(bytes[23], std::byte{200});
}

class FrameTypeTest : public testing::TestWithParam<int> {};

TEST_P(FrameTypeTest, RefusesAnUnknownType) {
  auto bytes = EncodeHeader(ExampleHeader());
  bytes[0] = static_cast<std::byte>(GetParam());

  EXPECT_THROW((void)DecodeHeader(bytes), ProtocolError);
}

INSTANTIATE_TEST_SUITE_P(Unknown, FrameTypeTest, testing::Values(0, 7, 128, 255),
                         [](const auto& test) { return "Type" + std::to_string(test.param); });

TEST(Frame, RefusesAnUnknownLane) {
  FrameHeader header = ExampleHeader();
  header.lane = kAllLanes - 1;
  EXPECT_NO_THROW((void)DecodeHeader(EncodeHeader(header)));

  header.lane = kAllLanes;
  EXPECT_THROW((void)DecodeHeader(EncodeHeader(header)), ProtocolError);
}

TEST(Frame, RefusesALengthAboveTheLimit) {
  FrameHeader header = ExampleHeader();
  header.length = kMaxPayloadBytes;
  EXPECT_NO_THROW((void)DecodeHeader(EncodeHeader(header)));

  header.length = kMaxPayloadBytes + 1;
  EXPECT_THROW((void)DecodeHeader(EncodeHeader(header)), ProtocolError);
}

TEST(Frame, RefusesAnotherSession) {
  SessionId other = ExampleHeader().session;
  other.back() ^= 1;

  EXPECT_NO_THROW(CheckInSequence(ExampleHeader(), ExampleHeader().session, ExampleHeader().sequence));
  EXPECT_THROW(CheckInSequence(ExampleHeader(), other, ExampleHeader().sequence), ProtocolError);
}

TEST(Frame, RefusesAReplayAndAGap) {
  EXPECT_THROW(CheckInSequence(ExampleHeader(), ExampleHeader().session, ExampleHeader().sequence + 1),
               ProtocolError);
  EXPECT_THROW(CheckInSequence(ExampleHeader(), ExampleHeader().session, ExampleHeader().sequence - 1),
               ProtocolError);
}

}  // namespace
}  // namespace trefoil::net
