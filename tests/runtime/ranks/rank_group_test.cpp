#include "runtime/ranks/rank_group.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <utility>

#include "base/error.h"
#include "runtime/abort_reason.h"

namespace trefoil::runtime {
namespace {

// By exit codes: 3 is a loss of the network.
TEST(CauseAmong, IsTheFirstUnlessItFollowsFromTheOther) {
  const RankFailure stopped{.rank = 0, .code = 143};
  const RankFailure lost{.rank = 1, .code = 3};
  const RankFailure lost_here{.rank = 0, .code = 3};
  const RankFailure bad_data{.rank = 1, .code = 4};
  EXPECT_EQ(CauseAmong(stopped, {}).rank, 0);
  EXPECT_EQ(CauseAmong(stopped, lost).rank, 0);  // the peers ended, since rank 0 told them of the signal
  EXPECT_EQ(CauseAmong(lost_here, lost).rank, 1);
  EXPECT_EQ(CauseAmong(lost_here, bad_data).rank, 1);
  EXPECT_EQ(CauseAmong(stopped, bad_data).rank, 1);
}

RankFailure LossOf(int peer, int rank, bool heard, int milliseconds) {
  return {.rank = rank,
          .code = 3,
          .reason = {.code = net::AbortCode::kPeerLost, .about = peer},
          .heard = heard,
          .lost_at = std::chrono::steady_clock::time_point(std::chrono::milliseconds(milliseconds))};
}

TEST(CauseAmong, OfAPeersMachinesIsTheOneWhoseLinkEndedFirst) {
  constexpr bool kHeard = true;
  constexpr bool kSeen = false;
  EXPECT_EQ(CauseAmong(LossOf(2, 1, kSeen, 5), LossOf(2, 0, kHeard, 5)).rank, 1);
  EXPECT_EQ(CauseAmong(LossOf(2, 1, kSeen, 400), LossOf(2, 0, kHeard, 5)).rank, 1) << "it was seen late";
  EXPECT_EQ(CauseAmong(LossOf(2, 1, kSeen, 900), LossOf(2, 0, kHeard, 5)).rank, 0)
      << "of a party that was told to stop, a rank that mpirun killed then";
  EXPECT_EQ(CauseAmong(LossOf(2, 1, kHeard, 4), LossOf(2, 0, kSeen, 5)).rank, 0);
  EXPECT_EQ(CauseAmong(LossOf(2, 1, kSeen, 5), LossOf(2, 0, kSeen, 6)).rank, 1);
  EXPECT_EQ(CauseAmong(LossOf(2, 1, kSeen, 6), LossOf(2, 0, kSeen, 5)).rank, 0);
  EXPECT_EQ(CauseAmong(LossOf(2, 1, kHeard, 4), LossOf(2, 0, kHeard, 5)).rank, 0);
  EXPECT_EQ(CauseAmong(LossOf(1, 1, kSeen, 5), LossOf(2, 0, kHeard, 6)).rank, 0);  // another party's
  RankFailure full_disk = LossOf(2, 0, kSeen, 6);  // that party has told so of itself
  full_disk.lost_at.reset();
  EXPECT_EQ(CauseAmong(LossOf(2, 1, kSeen, 5), full_disk).rank, 0);
}

/// Links that know of a loss of party 2.
class LostMesh : public net::MeshTransport {
 public:
  explicit LostMesh(net::PeerLoss loss) : MeshTransport(0), loss_(std::move(loss)) {}
  [[nodiscard]] const net::SessionId& session() const override { return session_; }
  [[nodiscard]] const net::JobHash& job() const override { return job_; }
  [[nodiscard]] std::chrono::milliseconds WaitingFor(int) const override { return {}; }
  [[nodiscard]] std::optional<net::PeerLoss> Loss() const override { return loss_; }
  void Abort(net::AbortReason) noexcept override {}
  void Interrupt() noexcept override {}
  void Finish() override {}

 protected:
  void Write(int, net::Message) override {}
  net::Message Read(int, net::Lane) override { return {}; }

 private:
  net::PeerLoss loss_;
  net::SessionId session_{};
  net::JobHash job_{};
};

RankFailure Explain(const std::exception& error) {
  return {.code = 3, .reason = ReasonFor(error), .cause = error.what()};
}

TEST(ExplainByLinks, IsOfTheLossThatTheRanksOwnLinkHasShown) {
  const auto now = std::chrono::steady_clock::now();
  const LostMesh seen({.peer = 2, .cause = "closed the connection", .link_ended = true, .at = now});
  const LostMesh heard({.peer = 2, .cause = "aborted: it was told to stop"});
  const RanksEnded ended(0, "rank 1 of this party has failed");
  const NetworkError lost(2, "aborted: it was told to stop");

  const auto own = ExplainByLinks(ended, &seen, &Explain);
  EXPECT_EQ(own.cause, "party 2: closed the connection");
  EXPECT_EQ(own.lost_at, now);
  EXPECT_FALSE(own.heard);
  EXPECT_EQ(ExplainByLinks(ended, &heard, &Explain).cause, ended.what());
  EXPECT_FALSE(ExplainByLinks(ended, &heard, &Explain).may_follow());
  EXPECT_TRUE(ExplainByLinks(lost, &heard, &Explain).heard);
  EXPECT_FALSE(ExplainByLinks(lost, nullptr, &Explain).may_follow());
  EXPECT_FALSE(ExplainByLinks(NetworkError(1, "lost"), &heard, &Explain).may_follow());
  EXPECT_FALSE(ExplainByLinks(DataError("a value out of range"), &seen, &Explain).may_follow());
}

}  // namespace
}  // namespace trefoil::runtime
