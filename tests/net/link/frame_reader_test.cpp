#include "net/link/frame_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "base/error.h"

namespace trefoil::net {
namespace {

Bytes Encode(FrameHeader header, const Bytes& payload) {
  header.length = payload.size();
  const auto head = EncodeHeader(header);
  Bytes out(head.size() + payload.size());
  std::copy(payload.begin(), payload.end(), std::copy(head.begin(), head.end(), out.begin()));
  return out;
}

Bytes Pattern(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 31 + i / 251);
  return bytes;
}

// Feeds a stream in pieces of at most `piece` bytes.
std::vector<Frame> ReadAll(FrameReader& reader, std::span<const std::byte> stream, std::size_t piece) {
  std::vector<Frame> frames;
  while (!stream.empty()) {
    const auto space = reader.Space();
    EXPECT_FALSE(space.empty());
    const std::size_t count = std::min({space.size(), stream.size(), piece});
    std::copy_n(stream.begin(), count, space.begin());
    stream = stream.subspan(count);
    if (auto frame = reader.Filled(count)) frames.push_back(*std::move(frame));
  }
  return frames;
}

class FrameReaderPieces : public testing::TestWithParam<std::size_t> {};

TEST_P(FrameReaderPieces, FindsTheSameFramesHoweverTheStreamIsCut) {
  Bytes stream = Encode({.sequence = 0}, Pattern(100));
  for (const auto& more : {Encode({.depth = 9, .sequence = 1}, {}), Encode({.sequence = 2}, Pattern(1))}) {
    stream.insert(stream.end(), more.begin(), more.end());
  }
  FrameReader reader;

  const auto frames = ReadAll(reader, stream, GetParam());

  ASSERT_EQ(frames.size(), 3U);
  EXPECT_EQ(frames[0].payload, Pattern(100));
  EXPECT_EQ(frames[1].header.depth, 9U);
  EXPECT_TRUE(frames[1].payload.empty());
  EXPECT_EQ(frames[2].payload, Pattern(1));
  EXPECT_TRUE(reader.between_frames());
}

INSTANTIATE_TEST_SUITE_P(Sizes, FrameReaderPieces, testing::Values(1, 2, 36, 37, 38, 1000),
                         [](const auto& test) { return "Of" + std::to_string(test.param); });

TEST(FrameReader, KnowsEveryTruncation) {
  const Bytes stream = Encode({}, Pattern(50));

  for (std::size_t size = 1; size < stream.size(); ++size) {
    FrameReader reader;
    EXPECT_TRUE(ReadAll(reader, std::span(stream).first(size), size).empty()) << size;
    EXPECT_FALSE(reader.between_frames()) << size;
  }
}

TEST(FrameReader, ReadsALongPayload) {
  const Bytes payload = Pattern(20'000'000);
  FrameReader reader;
  reader.LimitPayload(kMaxPayloadBytes);

  const auto frames = ReadAll(reader, Encode({}, payload), 16'384);

  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].payload, payload);
}

TEST(FrameReader, DoesNotTakeMemoryForALengthThatIsOnlyAnnounced) {
  FrameHeader header;
  header.length = kMaxPayloadBytes;
  const auto head = EncodeHeader(header);
  FrameReader reader;
  reader.LimitPayload(kMaxPayloadBytes);

  EXPECT_TRUE(ReadAll(reader, Bytes(head.begin(), head.end()), head.size()).empty());

  EXPECT_LE(reader.Space().size(), std::size_t{1} << 20);
}

TEST(FrameReader, RefusesLongPayloadsBeforeTheLimitIsLifted) {
  FrameHeader header;
  header.length = FrameReader::kGreetingPayloadBytes + 1;
  const auto head = EncodeHeader(header);
  FrameReader reader;

  EXPECT_THROW((void)ReadAll(reader, Bytes(head.begin(), head.end()), head.size()), ProtocolError);
}

TEST(FrameReader, TakesTheSessionFromTheReadyFrame) {
  SessionId session{};
  session[3] = 77;
  FrameReader reader;
  (void)ReadAll(reader, Encode({.type = FrameType::kHello, .sequence = 0}, {}), 64);
  (void)ReadAll(reader, Encode({.type = FrameType::kReady, .sequence = 1, .session = session}, {}), 64);

  EXPECT_EQ(ReadAll(reader, Encode({.sequence = 2, .session = session}, {}), 64).size(), 1U);
  EXPECT_THROW((void)ReadAll(reader, Encode({.sequence = 3}, {}), 64), ProtocolError);
}

TEST(FrameReader, RefusesAReplayedFrame) {
  FrameReader reader;
  const Bytes frame = Encode({.sequence = 0}, Pattern(3));
  (void)ReadAll(reader, frame, 64);

  EXPECT_THROW((void)ReadAll(reader, frame, 64), ProtocolError);
}

// Seeded garbage: a header is accepted by chance only if its first byte, length, sequence and session all
// fit, so never.
TEST(FrameReader, RefusesGarbage) {
  std::mt19937_64 random(11);
  for (int trial = 0; trial < 1000; ++trial) {
    Bytes garbage(kFrameHeaderBytes);
    for (auto& byte : garbage) byte = static_cast<std::byte>(random());
    FrameReader reader;
    EXPECT_THROW((void)ReadAll(reader, garbage, 5), ProtocolError) << trial;
  }
}

}  // namespace
}  // namespace trefoil::net
