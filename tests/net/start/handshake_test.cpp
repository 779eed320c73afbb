#include "net/start/handshake.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace trefoil::net {
namespace {

Hello ExampleHello() {
  Hello hello{
      .sender = 2, .receiver = 1, .purpose = Purpose::kCheck, .clock_milliseconds = 1'700'000'000'123};
  hello.nonce[5] = 55;
  hello.job = HashJob("{}");
  hello.pins[1][31] = 0xAB;
  return hello;
}

TEST(Hello, DecodesWhatItEncoded) {
  const Hello decoded = DecodeHello(EncodeHello(ExampleHello()));

  EXPECT_EQ(decoded.version, kProtocolVersion);
  EXPECT_EQ(decoded.sender, 2);
  EXPECT_EQ(decoded.receiver, 1);
  EXPECT_EQ(decoded.purpose, Purpose::kCheck);
  EXPECT_EQ(decoded.nonce, ExampleHello().nonce);
  EXPECT_EQ(decoded.job, ExampleHello().job);
  EXPECT_EQ(decoded.clock_milliseconds, ExampleHello().clock_milliseconds);
  EXPECT_EQ(decoded.pins, ExampleHello().pins);
}

TEST(Hello, RefusesEveryOtherLength) {
  Bytes bytes = EncodeHello(ExampleHello());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW((void)DecodeHello(std::span(bytes).first(size)), ProtocolError) << size;
  }
  bytes.push_back(std::byte{0});
  EXPECT_THROW((void)DecodeHello(bytes), ProtocolError);
}

TEST(Hello, OfSeveralRanksSaysWhichItIs) {
  auto hello = ExampleHello();
  hello.ranks = 4;
  hello.rank = 3;
  const auto bytes = EncodeHello(hello);
  EXPECT_EQ(bytes.size(), EncodeHello(ExampleHello()).size() + 4);
  EXPECT_EQ(DecodeHello(bytes).ranks, 4);
  EXPECT_EQ(DecodeHello(bytes).rank, 3);
  EXPECT_EQ(DecodeHello(EncodeHello(ExampleHello())).ranks, 1);
}

TEST(Hello, RefusesARankThatThereIsNot) {
  auto hello = ExampleHello();
  hello.ranks = 4;
  hello.rank = 4;
  EXPECT_THROW((void)DecodeHello(EncodeHello(hello)), ProtocolError);
  auto bytes = EncodeHello(ExampleHello());
  for (const int of_one : {1, 0, 0, 0}) bytes.push_back(static_cast<std::byte>(of_one));
  EXPECT_THROW((void)DecodeHello(bytes), ProtocolError);  // there are no two greetings of one machine
}

TEST(Hello, RefusesAnUnknownPurpose) {
  Bytes bytes = EncodeHello(ExampleHello());
  bytes[6] = std::byte{9};

  EXPECT_THROW((void)DecodeHello(bytes), ProtocolError);
}

TEST(Hello, OfAnotherVersionIsReadAsFarAsItsVersion) {
  const Bytes bytes{std::byte{7}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{99}};

  EXPECT_EQ(DecodeHello(bytes).version, 7U);
}

struct Mismatch {
  std::string name;
  Hello theirs;
  std::string text;
};

class GreetingMismatch : public testing::TestWithParam<Mismatch> {};

TEST_P(GreetingMismatch, IsNamed) {
  const Hello mine{.sender = 0, .receiver = 1};
  try {
    CheckGreeting(mine, GetParam().theirs, 1);
    FAIL() << "not noticed";
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find(GetParam().text), std::string::npos) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, GreetingMismatch,
    testing::Values(Mismatch{"Version",
                             {.version = 9, .sender = 1, .receiver = 0},
                             "speaks protocol version 9, this party version 2"},
                    Mismatch{"Sender", {.sender = 2, .receiver = 0}, "says that it is party 2"},
                    Mismatch{"Ranks",
                             {.sender = 1, .receiver = 0, .ranks = 2},
                             "party 1: found 2 ranks, expected 1; compare party.ranks"},
                    Mismatch{"Receiver", {.sender = 1, .receiver = 2}, "takes this party for party 2"}),
    [](const auto& test) { return test.param.name; });

TEST(Greeting, NamesThePartyThatTheOtherKnowsByAnotherCertificate) {
  for (std::size_t party = 0; party < kParties; ++party) {
    for (const std::size_t byte : {std::size_t{0}, std::size_t{31}}) {
      const Hello mine{.sender = 0, .receiver = 1};
      Hello theirs{.sender = 1, .receiver = 0};
      CheckGreeting(mine, theirs, 1);
      theirs.pins[party][byte] = 0xAB;
      try {
        CheckGreeting(mine, theirs, 1);
        FAIL() << "not noticed";
      } catch (const ConfigError& error) {
        const std::string text = error.what();
        const std::string whose = "party " + std::to_string(party);
        EXPECT_EQ(text.find("party 1: knows " + (party == 0 ? "this party" : whose) + " by the certificate "),
                  0U)
            << text;
        EXPECT_NE(text.find(byte == 0 ? " AB:00:" : ":00:AB, here it is 00:00:"), std::string::npos) << text;
        EXPECT_NE(text.find("compare both with " + whose + " itself"), std::string::npos) << text;
      }
    }
  }
}

TEST(Jobs, DifferByHashUnlessACheckHasNone) {
  const Hello with{.job = HashJob("{\"a\":1}")};
  const Hello other{.job = HashJob("{\"a\":2}")};
  const Hello check_without{.purpose = Purpose::kCheck};
  const Hello run_without{.purpose = Purpose::kRun};

  EXPECT_FALSE(JobsDiffer(with, with));
  EXPECT_TRUE(JobsDiffer(with, other));
  EXPECT_FALSE(JobsDiffer(with, check_without));
  EXPECT_FALSE(JobsDiffer(check_without, with));
  EXPECT_TRUE(JobsDiffer(with, run_without));
}

// Reference: printf '{}' | sha256sum.
TEST(Jobs, AreHashedWithSha256) {
  const JobHash hash = HashJob("{}");
  EXPECT_EQ(hash[0], 0x44);
  EXPECT_EQ(hash[1], 0x13);
  EXPECT_EQ(hash[31], 0x8a);
}

struct JobPair {
  std::string name;
  std::string mine;
  std::string theirs;
  std::string expected;
};

class JobDifference : public testing::TestWithParam<JobPair> {};

TEST_P(JobDifference, NamesTheFirstKeyAndBothValues) {
  EXPECT_EQ(DescribeJobDifference(GetParam().mine, GetParam().theirs, 1), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, JobDifference,
    testing::Values(
        JobPair{"Nested", R"({"a":1,"privacy":{"delta":1e-05,"epsilon":3.0}})",
                R"({"a":1,"privacy":{"delta":1e-05,"epsilon":1.0}})",
                "privacy.epsilon: 3.0 here, 1.0 at party 1"},
        JobPair{"FirstInSortedOrder", R"({"b":1,"a":"x"})", R"({"a":"y","b":2})",
                R"(a: "x" here, "y" at party 1)"},
        JobPair{"Missing", R"({"a":1,"b":2})", R"({"a":1})", "b: 2 here, absent at party 1"},
        JobPair{"Extra", R"({"a":1})", R"({"a":1,"b":2})", "b: absent here, 2 at party 1"},
        JobPair{"Element", R"({"rows":[1,2,3]})", R"({"rows":[1,5,3]})", "rows[1]: 2 here, 5 at party 1"},
        JobPair{"Length", R"({"rows":[1]})", R"({"rows":[1,5]})", "rows: [1] here, [1,5] at party 1"},
        JobPair{"Type", R"({"x":1})", R"({"x":1.0})", "x: 1 here, 1.0 at party 1"},
        JobPair{"Spaces", R"({"x":1})", R"({"x": 1})",
                "job: its text differs from that of party 1, its values do not"},
        JobPair{"Garbage", R"({"x":1})", "{{{",
                "job: differs from that of party 1, which sent no readable job"},
        JobPair{"ControlCharacters", R"({"x":1})", "{\"x\":1,\"\\u001b[2J\\n\":\"\\u0007\"}",
                R"("\u001b[2J\n": absent here, "\u0007" at party 1)"}),
    [](const auto& test) { return test.param.name; });

TEST(Jobs, SurviveAPeerThatNestsDeeply) {
  std::string deep = "{\"a\":";
  for (int i = 0; i < 400'000; ++i) deep += "[";

  EXPECT_NE(DescribeJobDifference("{}", deep, 2).find("party 2"), std::string::npos);
  for (int i = 0; i < 400'000; ++i) deep += "]";
  deep += "}";
  EXPECT_NE(DescribeJobDifference(deep, deep + " ", 2).find("party 2"), std::string::npos);
}

TEST(Jobs, AreShownWithLongValuesCut) {
  const std::string text =
      DescribeJobDifference(R"({"a":1})", R"({"a":")" + std::string(100'000, 'x') + "\"}", 2);

  EXPECT_LT(text.size(), 200U);
}

TEST(Session, DependsOnEveryNonceAndTheirOrder) {
  std::array<Nonce, kParties> nonces{};
  nonces[1][0] = 1;
  nonces[2][0] = 2;
  const SessionId session = MakeSession(nonces);

  EXPECT_EQ(MakeSession(nonces), session);
  std::swap(nonces[1], nonces[2]);
  EXPECT_NE(MakeSession(nonces), session);
  std::swap(nonces[1], nonces[2]);
  nonces[0][31] ^= 1;
  EXPECT_NE(MakeSession(nonces), session);
}

}  // namespace
}  // namespace trefoil::net
