#include "runtime/ranks/same_build.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "base/error.h"
#include "tests/support/error_text.h"
#include "tests/support/thread_ranks.h"

namespace trefoil::runtime {
namespace {

using testing::HasSubstr;
using testing_support::ErrorText;
using Message = std::array<char, 128>;

/// What rank 1 says where each of two ranks does its part.
std::string ErrorOfRank1(const std::function<void(mpc::Ranks&)>& rank_0,
                         const std::function<void(mpc::Ranks&)>& rank_1) {
  const auto ends = testing_support::EndsOfRanks(2, {1}, [&](mpc::Context& party, mpc::Ranks& ranks) {
    if (party.self() == 0) (ranks.rank() == 0 ? rank_0 : rank_1)(ranks);
  });
  return ErrorText<ConfigError>([&] {
    if (ends[1][0]) std::rethrow_exception(ends[1][0]);
  });
}

std::function<void(mpc::Ranks&)> Build(std::string name) {
  return [name = std::move(name)](mpc::Ranks& ranks) { RequireSameBuild(ranks, name); };
}

/// The bytes that programs of all versions send and expect.
TEST(RequireSameBuild, KeepsItsMessage) {
  const std::string name = "version 8";
  Message sent{};
  std::copy(name.begin(), name.end(), sent.begin());
  const auto send = [&](mpc::Ranks& ranks) { ranks.Broadcast(std::as_writable_bytes(std::span(sent))); };
  EXPECT_EQ(ErrorOfRank1(send, Build(name)), "");
  EXPECT_THAT(ErrorOfRank1(send, Build("version 9")),
              HasSubstr("found the program of version 9, expected that of rank 0, version 8: all machines"));
  Message received{};
  received.fill('x');
  EXPECT_EQ(
      ErrorOfRank1(Build(name),
                   [&](mpc::Ranks& ranks) { ranks.Broadcast(std::as_writable_bytes(std::span(received))); }),
      "");
  EXPECT_EQ(received, sent);
}

TEST(RequireSameBuild, ComparesThe127BytesThatAreSent) {
  const std::string name(127, 'a');
  EXPECT_EQ(ErrorOfRank1(Build(name + "b"), Build(name + "c")), "");
  EXPECT_THAT(ErrorOfRank1(Build(name), Build(name.substr(1))), HasSubstr("found the program of"));
}

}  // namespace
}  // namespace trefoil::runtime
