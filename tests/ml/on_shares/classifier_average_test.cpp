#include "ml/on_shares/classifier_average.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "base/error.h"
#include "protocols/arithmetic/reveal.h"
#include "tests/support/ml_test.h"

namespace trefoil::ml {
namespace {

using mpc::ArithShare;
using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

constexpr Index kWeights = 7;

using OwnAverages = std::array<OwnAverage, 3>;
using Operation = ArithShare (*)(mpc::Context&, const AverageShape&, const OwnAverage&);

/// Random sizes from 100 to 163, weights and noise; `noise_rows` of it, or one for each owner.
OwnAverages RandomInputs(std::uint64_t seed, const AverageShape& shape, Index noise_rows) {
  std::mt19937_64 generator(seed);
  OwnAverages inputs;
  for (std::size_t j = 0; j < inputs.size(); ++j) {
    const Index owners = shape.owners.at(j);
    inputs.at(j).sizes = RingMatrix(owners, 1);
    for (Index k = 0; k < owners; ++k) inputs.at(j).sizes(k, 0) = 100 + generator() % 64;
    inputs.at(j).weights = RandomSigned(generator(), 1, kWeights, 40);
    inputs.at(j).noise.values() =
        RandomSigned(generator(), noise_rows > 0 ? noise_rows : owners, kWeights, 50);
    if (shape.noisy_size) inputs.at(j).size_noise.values() = RandomSigned(generator(), 1, 1, 5);
  }
  return inputs;
}

std::vector<std::int64_t> AllSizes(const OwnAverages& inputs) {
  std::vector<std::int64_t> sizes;
  for (const auto& one : inputs)
    for (Index k = 0; k < one.sizes.rows(); ++k) sizes.push_back(mpc::Signed(one.sizes(k, 0)));
  return sizes;
}

/// In the clear, from the definition.
RingMatrix PlainNoisySum(const AverageShape& shape, const OwnAverages& inputs) {
  const auto sizes = AllSizes(inputs);
  auto smallest = *std::min_element(sizes.begin(), sizes.end()) - shape.margin;
  RingMatrix sum = RingMatrix::Zero(1, kWeights);
  for (const auto& one : inputs) {
    sum += one.weights;
    if (shape.noisy_size) smallest += mpc::Signed(one.size_noise.values()(0, 0));
  }
  Index chosen = 0;
  for (std::size_t g = 0; g < shape.min_sizes.size(); ++g)
    if (shape.min_sizes[g] <= smallest) chosen = static_cast<Index>(g);
  for (const auto& one : inputs) sum += one.noise.values().row(chosen);
  return sum;
}

RingMatrix PlainPublishedSum(const AverageShape&, const OwnAverages& inputs) {
  const auto sizes = AllSizes(inputs);
  auto owner = std::min_element(sizes.begin(), sizes.end()) - sizes.begin();
  RingMatrix sum = RingMatrix::Zero(1, kWeights);
  for (const auto& one : inputs) {
    sum += one.weights;
    if (owner >= 0 && owner < one.noise.values().rows()) sum += one.noise.values().row(owner);
    owner -= one.noise.values().rows();
  }
  return sum;
}

std::array<MeasuredPart<RingMatrix>, 3> RunSum(Operation operation, const AverageShape& shape,
                                               const OwnAverages& inputs) {
  return RunParties(Seed{5}, [&](mpc::Context& party) {
    ArithShare sum;
    MeasuredPart<RingMatrix> part;
    part.measured = protocols::Measure(
        party, [&] { sum = operation(party, shape, inputs.at(static_cast<std::size_t>(party.self()))); });
    part.value = protocols::Reveal(party, sum, protocols::ReleaseReason::kTest);
    return part;
  });
}

const AverageShape kShapes[] = {
    {.owners = {2, 1, 2}, .weights = kWeights, .min_sizes = {100, 110, 120, 130, 140}, .width = 24},
    {.owners = {0, 3, 1},
     .weights = kWeights,
     .min_sizes = {100, 128},
     .margin = 9,
     .noisy_size = true,
     .width = 24},
    {.owners = {0, 0, 1}, .weights = kWeights, .min_sizes = {1, 120, 140}, .width = 24},
    {.owners = {1, 1, 1}, .weights = kWeights, .min_sizes = {100}, .width = 24},
};

TEST(NoisyClassifierSum, IsThePlainOneGivenTheSameNoiseOverAThousandRandomInputs) {
  for (const auto& shape : kShapes) {
    for (std::uint64_t trial = 0; trial < 250; ++trial) {
      const auto inputs = RandomInputs(trial, shape, static_cast<Index>(shape.min_sizes.size()));
      const auto parts = RunSum(NoisyClassifierSum, shape, inputs);
      ASSERT_TRUE((parts[0].value == PlainNoisySum(shape, inputs)).all()) << "trial " << trial;
      ASSERT_EQ(Figures(parts), Figures(NoisyClassifierSumCost(shape)));
    }
  }
}

TEST(PublishedClassifierSum, IsThePlainOneGivenTheSameNoiseOverAThousandRandomInputs) {
  for (const auto& shape : kShapes) {
    for (std::uint64_t trial = 0; trial < 250; ++trial) {
      const auto inputs = RandomInputs(trial, shape, 0);
      const auto parts = RunSum(PublishedClassifierSum, shape, inputs);
      ASSERT_TRUE((parts[1].value == PlainPublishedSum(shape, inputs)).all()) << "trial " << trial;
      ASSERT_EQ(Figures(parts), Figures(PublishedClassifierSumCost(shape)));
    }
  }
}

TEST(NoisyClassifierSum, TakesEachNoiseFromItsLeastSizeOn) {
  const AverageShape shape{.owners = {1, 1, 0}, .weights = kWeights, .min_sizes = {10, 20, 30}, .width = 24};
  for (const std::int64_t smallest : {10, 19, 20, 29, 30, 31, 5000}) {
    auto inputs = RandomInputs(1, shape, 3);
    inputs[0].sizes(0, 0) = 6000;
    inputs[1].sizes(0, 0) = static_cast<Word>(smallest);
    const auto parts = RunSum(NoisyClassifierSum, shape, inputs);
    EXPECT_TRUE((parts[2].value == PlainNoisySum(shape, inputs)).all()) << smallest;
  }
}

TEST(PublishedClassifierSum, TakesTheFirstOfEqualSizes) {
  const AverageShape shape{.owners = {1, 2, 1}, .weights = kWeights, .min_sizes = {}, .width = 24};
  auto inputs = RandomInputs(2, shape, 0);
  for (auto& one : inputs) one.sizes.setConstant(77);
  const auto parts = RunSum(PublishedClassifierSum, shape, inputs);
  EXPECT_TRUE((parts[0].value == PlainPublishedSum(shape, inputs)).all());
}

TEST(AverageOfSum, DividesByTheNumberOfOwnersWithinAUnitAndAFraction) {
  for (const Index owners : {1, 2, 3, 5, 64, 10'000}) {
    const AverageShape shape{.owners = {owners, 0, 0}, .weights = 500, .min_sizes = {}, .width = 24};
    for (const int bits : {2, 30, kMaxSumBits}) {
      const RingMatrix sum = RandomSigned(static_cast<std::uint64_t>(bits), 1, 500, bits);
      const auto parts = RunParties(Seed{5}, [&](mpc::Context& party) {
        const ArithShare shared = InsecureDeal(party, sum);
        ArithShare average;
        MeasuredPart<RingMatrix> part;
        part.measured =
            protocols::Measure(party, [&] { average = AverageOfSum(party, shape, shared, bits); });
        part.value = protocols::Reveal(party, average, protocols::ReleaseReason::kTest);
        return part;
      });
      EXPECT_EQ(Figures(parts), Figures(AverageOfSumCost(shape)));
      for (Index k = 0; k < sum.size(); ++k) {
        const double exact = static_cast<double>(mpc::Signed(sum.data()[k])) / static_cast<double>(owners);
        ASSERT_NEAR(static_cast<double>(mpc::Signed(parts[0].value.data()[k])), exact,
                    1.001 + std::abs(exact) * 0x1p-12)
            << owners << " owners, " << bits << " bits";
      }
    }
  }
  EXPECT_THROW(RunParties(Seed{5},
                          [](mpc::Context& party) {
                            (void)AverageOfSum(party, {.owners = {1, 1, 1}, .weights = 2, .min_sizes = {}},
                                               ArithShare::Zero(1, 2), kMaxSumBits + 1);
                            return 0;
                          }),
               ContractError);
}

TEST(ClassifierSums, RefuseOtherShapesBeforeSending) {
  const auto& shape = kShapes[0];
  const auto run = [&](auto spoil) {
    auto inputs = RandomInputs(3, shape, static_cast<Index>(shape.min_sizes.size()));
    for (auto& one : inputs) spoil(one);
    (void)RunSum(NoisyClassifierSum, shape, inputs);
  };
  EXPECT_THROW(run([](OwnAverage& own) { own.sizes = RingMatrix::Zero(7, 1); }), ContractError);
  EXPECT_THROW(run([](OwnAverage& own) { own.weights = RingMatrix::Zero(1, 3); }), ContractError);
  EXPECT_THROW(run([](OwnAverage& own) { own.noise.values() = RingMatrix::Zero(4, kWeights); }),
               ContractError);
}

}  // namespace
}  // namespace trefoil::ml
