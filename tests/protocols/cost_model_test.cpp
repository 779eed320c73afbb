#include "protocols/cost_model.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "protocols/functions/clip_factor.h"
#include "protocols/functions/inverse_sqrt.h"
#include "tests/support/protocol_test.h"

namespace trefoil::protocols {
namespace {

using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

TEST(MeasureLink, GivesEveryPartyTheSameFiguresAtItsDeclaredCost) {
  const auto parts = RunParties(Seed{1}, [](mpc::Context& party) {
    Link link;
    const auto measured = Measure(party, [&] { link = MeasureLink(party); });
    return std::pair{measured, link};
  });
  EXPECT_EQ(Figures({parts[0].first, parts[1].first, parts[2].first}), Figures(MeasureLinkCost()));
  for (const auto& part : parts) {
    EXPECT_EQ(part.second.message_seconds, parts[0].second.message_seconds);
    EXPECT_EQ(part.second.bytes_per_second, parts[0].second.bytes_per_second);
    EXPECT_EQ(part.second.slowness, parts[0].second.slowness);
    EXPECT_GT(part.second.slowness, 0);
  }
}

/// MeasureLink's messages, with figures that are no times.
void MeasureNothing(mpc::Context& party) {
  for (int k = 0; k < 20; ++k) {
    party.transport().Send(party.previous(), {});
    (void)party.transport().Receive(party.next(), 0);
  }
  const std::array figures{std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                           -1.0};
  net::Bytes said(sizeof figures);
  std::memcpy(said.data(), figures.data(), said.size());
  const net::Bytes probe(std::size_t{1} << 20);
  for (const auto& bytes : {probe, probe, probe, said}) {
    for (const int peer : {party.next(), party.previous()}) party.transport().Send(peer, bytes);
    for (const int peer : {party.next(), party.previous()})
      (void)party.transport().Receive(peer, bytes.size());
  }
}

TEST(MeasureLink, TakesNoFigureThatIsNoTime) {
  const auto links = RunParties(Seed{1}, [](mpc::Context& party) {
    if (party.self() != 2) return MeasureLink(party);
    MeasureNothing(party);
    return Link{};
  });
  for (const double figure : {links[0].message_seconds, links[0].bytes_per_second, links[0].slowness}) {
    EXPECT_TRUE(std::isfinite(figure));
    EXPECT_GT(figure, 0);
  }
  EXPECT_EQ(links[0].message_seconds, links[1].message_seconds);
  EXPECT_EQ(links[0].bytes_per_second, links[1].bytes_per_second);
  EXPECT_EQ(links[0].slowness, links[1].slowness);
}

TEST(ExpectedSeconds, CountsRoundsTheMostBytesAndComputation) {
  const mpc::Cost cost =
      Then(mpc::Cost::Offline({{2, 1, 3000}}), mpc::Cost::Round({{0, 1, 500}, {1, 0, 1000}}));
  const Link link{.message_seconds = 0.25, .bytes_per_second = 1000, .slowness = 3};
  EXPECT_DOUBLE_EQ(ExpectedSeconds(cost, 0.5, link), 0.25 + 3 + 1.5);
}

TEST(ExpectedSeconds, PrefersFewRoundsWhereLatencyIsLong) {
  const auto seconds = [](Form form, const Link& link) {
    return ExpectedSeconds(InverseSqrtCost(128, 13, form), LeadingBitSeconds(form, 128, 62, 64), link);
  };
  const Link near{.message_seconds = 20e-6, .bytes_per_second = 1e9};
  const Link far{.message_seconds = 20e-3, .bytes_per_second = 12.5e6};
  EXPECT_LT(seconds(Form::kBulk, near), seconds(Form::kLatency, near));
  EXPECT_LT(seconds(Form::kLatency, far), seconds(Form::kBulk, far));
}

TEST(ExpectedSeconds, PrefersLittleHashingWhereItIsSlow) {
  constexpr int kBits = 26;
  constexpr mpc::Index kCount = 128;
  const auto seconds = [](Form form, const Link& link) {
    const ClipTable table = MakeClipTable(0.5, 20.2, kBits, form);
    const auto thresholds = static_cast<std::int64_t>(table.pieces.thresholds.size());
    return ExpectedSeconds(ClipFactorCost(table, kCount),
                           ComparisonSeconds(form, kCount, thresholds, table.pieces.width), link);
  };
  const Link fast{.message_seconds = 60e-6, .bytes_per_second = 1.5e9, .slowness = 0.6};
  const Link slow{.message_seconds = 60e-6, .bytes_per_second = 1.5e9, .slowness = 1.5};
  EXPECT_LT(seconds(Form::kLatency, fast), seconds(Form::kBulk, fast));
  EXPECT_LT(seconds(Form::kBulk, slow), seconds(Form::kLatency, slow));
}

}  // namespace
}  // namespace trefoil::protocols
