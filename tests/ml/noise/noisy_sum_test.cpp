#include "ml/noise/noisy_sum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "base/error.h"
#include "dp/mechanisms/discrete_gaussian.h"
#include "ml/on_shares/correct_counts.h"
#include "ml/plan/step_privacy.h"
#include "tests/support/fixed_key.h"
#include "tests/support/ml_test.h"
#include "tests/support/noise_law.h"

namespace trefoil::ml {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

const std::vector<std::vector<int>> kReceivers{{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}};

/// One of the two forms: of parties' own vectors, or of a sum in shares.
using Form = std::function<std::optional<RingMatrix>(mpc::Context&, const RingMatrix& own,
                                                     const RingMatrix& noise, const std::vector<int>& to)>;

std::optional<RingMatrix> OfOwn(mpc::Context& party, const RingMatrix& own, const RingMatrix& noise,
                                const std::vector<int>& to) {
  return NoisySum(party, own, noise, to);
}

std::optional<RingMatrix> OfShares(mpc::Context& party, const RingMatrix& own, const RingMatrix& noise,
                                   const std::vector<int>& to) {
  return NoisySum(party, mpc::AdditiveShare(own), noise, to);
}

TEST(NoisySum, IsTheExactSumOfVectorsAndNoiseInTwoRoundsWhoeverGetsIt) {
  constexpr Index kInputs = 1000;
  // As large as the ring has room for: sums wrap as those of integers modulo 2^64 do.
  const std::array own{RandomSigned(1, kInputs, 1, 62), RandomSigned(2, kInputs, 1, 62),
                       RandomSigned(3, kInputs, 1, 62)};
  const std::array noise{RandomSigned(4, kInputs, 1, 50), RandomSigned(5, kInputs, 1, 3),
                         RandomSigned(6, kInputs, 1, 50)};
  const RingMatrix expected = own[0] + own[1] + own[2] + noise[0] + noise[1] + noise[2];
  for (const Form& form : {Form(OfOwn), Form(OfShares)}) {
    for (const auto& to : kReceivers) {
      const auto parts = RunParties(Seed{5}, [&](mpc::Context& party) {
        const auto self = static_cast<std::size_t>(party.self());
        MeasuredPart<std::optional<RingMatrix>> part;
        part.measured =
            protocols::Measure(party, [&] { part.value = form(party, own.at(self), noise.at(self), to); });
        return part;
      });
      for (int party = 0; party < 3; ++party) {
        const auto& opened = parts.at(static_cast<std::size_t>(party)).value;
        ASSERT_EQ(opened.has_value(), std::count(to.begin(), to.end(), party) == 1);
        if (opened) {
          EXPECT_TRUE((*opened == expected).all());
        }
      }
      const auto declared = NoisySumCost(kInputs, to);
      EXPECT_EQ(Figures(parts), Figures(declared));
      EXPECT_EQ(declared.rounds(), 2);
      EXPECT_EQ(declared.bytes_of_all(), 8 * kInputs * (3 + to.size()));
    }
  }
}

TEST(NoisySum, RefusesNoiseOfAnotherShape) {
  EXPECT_THROW(RunParties(Seed{5},
                          [](mpc::Context& party) {
                            (void)NoisySum(party, RingMatrix::Zero(3, 1), RingMatrix::Zero(2, 1), {0});
                            return 0;
                          }),
               ContractError);
}

SumSession Narrow() {
  // Each party's deviation is just above the least that is allowed, 8 units.
  return {.calls = 2, .coordinates = 100'000, .sigma = OnSigmaLattice(0.725), .sensitivity = 16};
}

RandomStream NoiseStreamOf(int party) {
  return RandomStream(FixedKey(static_cast<std::uint8_t>(40 + party)));
}

/// What the calls of a session open, of vectors of which each number is `own`.
std::vector<RingMatrix> OpenedBy(const SumSession& session, mpc::Word own) {
  return RunParties(Seed{6}, [&](mpc::Context& party) {
    NoisySums sums(session, NoiseStreamOf(party.self()));
    std::vector<RingMatrix> opened;
    for (std::int64_t call = 0; call < session.calls; ++call)
      opened.push_back(sums.Next(party, RingMatrix::Constant(session.coordinates, 1, own)).value());
    return opened;
  })[0];
}

/// The noise that a party draws for each call, drawn anew.
std::vector<RingMatrix> NoiseOf(const SumSession& session, int party) {
  const dp::DiscreteGaussian sampler(CountVariance(session.sigma, session.sensitivity));
  auto stream = NoiseStreamOf(party);
  std::vector<RingMatrix> noise;
  for (std::int64_t call = 0; call < session.calls; ++call) {
    RingMatrix& of_call = noise.emplace_back(session.coordinates, 1);
    for (Index k = 0; k < of_call.size(); ++k)
      of_call.data()[k] = static_cast<mpc::Word>(sampler.Sample(stream));
  }
  return noise;
}

/// The law itself: what an outsider, and a party that takes its own noise off, finds in either call is a sum
/// of three or of two discrete Gaussians. Four chi-square tests, each of which fails for one key in a
/// million.
TEST(NoisySums, HaveTheLawThatIsCharged) {
  const auto session = Narrow();
  const double variance = CountVariance(session.sigma, session.sensitivity).convert_to<double>();
  ASSERT_GE(2 * variance, std::pow(session.sigma * static_cast<double>(session.sensitivity), 2));
  ASSERT_LT(variance, 70);
  const auto opened = OpenedBy(session, 5);
  const auto known = NoiseOf(session, 1);
  for (std::size_t call = 0; call < opened.size(); ++call) {
    const RingMatrix noise = opened[call] - RingMatrix::Constant(session.coordinates, 1, 15);
    ExpectSumOfDiscreteGaussians(noise, variance, 3);
    ExpectSumOfDiscreteGaussians(noise - known[call], variance, 2);
  }
}

TEST(NoisySums, AreThePlainSumGivenTheSameNoiseAndNoiseIsNewInEachCall) {
  const SumSession session{.calls = 3, .coordinates = 500, .sigma = 2, .sensitivity = std::uint64_t{1} << 32};
  const auto opened = OpenedBy(session, mpc::Word{0} - 7);
  const std::array noise{NoiseOf(session, 0), NoiseOf(session, 1), NoiseOf(session, 2)};
  for (std::size_t call = 0; call < opened.size(); ++call) {
    const RingMatrix expected = noise[0][call] + noise[1][call] + noise[2][call] +
                                RingMatrix::Constant(session.coordinates, 1, mpc::Word{0} - 21);
    EXPECT_TRUE((opened[call] == expected).all());
    if (call > 0) {
      EXPECT_TRUE((opened[call] != opened[call - 1]).all());
    }
  }
}

TEST(NoisySums, RefuseACallTooManyBeforeAnythingIsSent) {
  (void)RunParties(Seed{7}, [&](mpc::Context& party) {
    NoisySums sums({.calls = 1, .coordinates = 4, .sigma = 2, .sensitivity = 64},
                   NoiseStreamOf(party.self()));
    const RingMatrix own = RingMatrix::Zero(4, 1);
    EXPECT_THROW((void)sums.Next(party, RingMatrix::Zero(3, 1)), ContractError);
    (void)sums.Next(party, own);
    const auto sent = party.transport().counters().bytes_sent;
    EXPECT_THROW((void)sums.Next(party, own), BudgetError);
    EXPECT_EQ(party.transport().counters().bytes_sent, sent);
    NoisySums none({.calls = 0, .coordinates = 4, .sigma = 2, .sensitivity = 64},
                   NoiseStreamOf(party.self()));
    EXPECT_THROW((void)none.Next(party, own), BudgetError);
    return 0;
  });
}

TEST(NoisySums, RefuseNoiseThatIsTooNarrowForTheLattice) {
  EXPECT_THROW(NoisySums({.coordinates = 4, .sigma = 1, .sensitivity = 4}, NoiseStreamOf(0)), ConfigError);
}

// ---- How much one vector adds: searched for a violation, in exact integers.

dp::Uint256 SquaresOf(const std::vector<std::int64_t>& vector) {
  dp::Uint256 squares = 0;
  for (const auto value : vector) squares += dp::Uint256(std::abs(value)) * std::abs(value);
  return squares;
}

/// Encodes a vector at a bound of `norm` units of 2^-bits, and checks all that EncodeBounded promises of it.
void ExpectBounded(const std::vector<double>& vector, int bits, std::uint64_t norm) {
  std::vector<std::int64_t> encoded(vector.size());
  EncodeBounded(vector, bits, norm, encoded);
  ASSERT_LE(SquaresOf(encoded), dp::Uint256(norm) * norm);
  double largest = 0;
  for (const double x : vector) largest = std::max(largest, std::abs(x));
  long double squares = 0;
  for (const double x : vector)
    squares += largest > 0 ? std::pow(static_cast<long double>(x) / largest, 2) : 0;
  const long double units = std::sqrt(squares) * std::ldexp(static_cast<long double>(largest), bits);
  long double kept = 0;
  for (std::size_t k = 0; k < vector.size(); ++k) {
    kept += static_cast<long double>(encoded[k]) * static_cast<long double>(encoded[k]);
    // Towards zero, never beyond the number itself.
    ASSERT_LE(static_cast<long double>(std::abs(encoded[k])),
              std::ldexp(static_cast<long double>(std::abs(vector[k])), bits));
    ASSERT_GE(static_cast<double>(encoded[k]) * vector[k], 0);
  }
  // And no shorter than rounding makes it.
  const long double wanted = std::min(units, static_cast<long double>(norm));
  ASSERT_GE(std::sqrt(kept), wanted * (1 - 0x1p-40L) - std::sqrt(static_cast<long double>(vector.size())));
}

TEST(EncodeBounded, NeverExceedsTheBoundWhateverTheVector) {
  std::mt19937_64 random(8);
  std::normal_distribution<double> normal;
  for (const Index size : {1, 2, 3, 17, 1000}) {
    for (const std::uint64_t norm :
         {std::uint64_t{1}, std::uint64_t{16}, (std::uint64_t{1} << 32) - 1, kMaxNorm}) {
      for (const int bits : {0, 20, 52}) {
        const double bound = std::ldexp(static_cast<double>(norm), -bits);
        for (const double length :
             {0.0, 0.5, 1 - 1e-16, 1.0, 1 + 3e-16, 1 + 1e-12, 1 + 1e-7, 1.5, 1e6, 1e280}) {
          std::vector<double> vector(static_cast<std::size_t>(size));
          double squares = 0;
          for (double& x : vector) squares += std::pow(x = normal(random), 2);
          for (double& x : vector) x *= bound * length / std::sqrt(squares);
          ExpectBounded(vector, bits, norm);
          // All alike, and one alone: at the edge each number's rounding falls the same way.
          std::fill(vector.begin(), vector.end(), -bound * length / std::sqrt(static_cast<double>(size)));
          ExpectBounded(vector, bits, norm);
          std::fill(vector.begin(), vector.end(), 0.0);
          vector.back() = bound * length;
          ExpectBounded(vector, bits, norm);
        }
      }
    }
  }
  constexpr double kLargest = std::numeric_limits<double>::max();
  constexpr double kMin = std::numeric_limits<double>::denorm_min();
  ExpectBounded({kLargest, -kLargest, kLargest, kMin}, 32, 1000);
  ExpectBounded({kMin, -kMin, 0, -0.0}, 32, 1000);
  ExpectBounded({kLargest, 1}, 52, kMaxNorm);
}

TEST(EncodeBounded, KeepsAVectorOnTheLatticeWithinTheBoundAsItIs) {
  std::vector<std::int64_t> encoded(3);
  EncodeBounded(std::vector<double>{3, -4, 0}, 1, 10, encoded);
  EXPECT_EQ(encoded, (std::vector<std::int64_t>{6, -8, 0}));
  EncodeBounded(std::vector<double>{0.9, -0.9, 1.49}, 1, 10, encoded);
  EXPECT_EQ(encoded, (std::vector<std::int64_t>{1, -1, 2}));
}

TEST(EncodeBounded, RefusesWhatIsNoNumber) {
  std::vector<std::int64_t> encoded(2);
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW(EncodeBounded(std::vector<double>{1, bad}, 1, 10, encoded), ContractError);
    EXPECT_THROW(EncodeBounded(std::vector<double>{bad, 1}, 1, 10, encoded), ContractError);
  }
  EXPECT_THROW(EncodeBounded(std::vector<double>{1}, 1, 10, encoded), ContractError);
  EXPECT_THROW(EncodeBounded(std::vector<double>{1, 1}, 1, kMaxNorm + 1, encoded), ContractError);
}

/// Two sums that differ by a vector of norm C, each rounded to the lattice: found to differ by nearly the
/// bound, and never by more.
TEST(SensitivityOfOwnersSum, CoversTheRoundingOfBothVectors) {
  std::mt19937_64 random(9);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (const Index size : {1, 4, 900}) {
    for (const int bits : {4, 10}) {
      const double norm = 1;
      const auto bound = SensitivityOfOwnersSum(norm, 0, bits, size);
      dp::Uint256 most = 0;
      for (int trial = 0; trial < 200; ++trial) {
        std::vector<std::int64_t> moved(static_cast<std::size_t>(size));
        for (auto& k : moved) {
          // Just below a lattice point, moved to just above another one.
          const double change = norm / std::sqrt(static_cast<double>(size));
          const double before = std::ldexp(std::floor(100 * uniform(random)), -bits) - 1e-9 * (trial % 2);
          k = static_cast<std::int64_t>(std::ldexp(before + change, bits)) -
              static_cast<std::int64_t>(std::ldexp(before, bits));
        }
        most = std::max(most, SquaresOf(moved));
      }
      EXPECT_LE(most, dp::Uint256(bound) * bound);
      EXPECT_GE(most.convert_to<double>(), 0.2 * std::pow(static_cast<double>(bound), 2));
    }
  }
  // C + allowance + sqrt(d) u, rounded up.
  EXPECT_EQ(SensitivityOfOwnersSum(1, 0.25, 10, 900), 1024U + 256 + 30 + 1);
}

}  // namespace
}  // namespace trefoil::ml
