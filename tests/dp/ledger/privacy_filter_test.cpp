#include "dp/ledger/privacy_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "dp/accounting/analytic_gaussian.h"
#include "dp/accounting/infinity.h"
#include "dp/accounting/rdp.h"
#include "tests/dp/not_finite.h"

namespace trefoil::dp {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

/// Randomised responses: the true bit with probability e^epsilon / (1 + e^epsilon), epsilon a multiple of
/// `unit`. An analyst sees each answer before it chooses the next epsilon, or stops.
struct Responses {
  double unit = 0;
  std::vector<int> multiples;
  double cap = 0;
};

using AnswerCounts = std::vector<int>;  ///< of answers by their epsilon

/// Who may go on with so many answers.
using Rule = std::function<bool(const AnswerCounts& counts)>;

double Truth(double epsilon) { return 1 / (1 + std::exp(-epsilon)); }

/// The largest delta at epsilon = cap that any adaptive analyst reaches under a rule, exactly: the
/// expectation of max(0, 1 - e^(cap - loss)) at its end, by backward induction over all that it may know.
class BestAnalyst {
 public:
  BestAnalyst(Responses responses, Rule rule) : responses_(std::move(responses)), rule_(std::move(rule)) {}

  double Delta() { return Delta(AnswerCounts(responses_.multiples.size(), 0), 0); }

 private:
  double Delta(const AnswerCounts& counts, int loss) {
    const auto key = std::pair{counts, loss};
    if (const auto known = deltas_.find(key); known != deltas_.end()) return known->second;
    double best = std::max(0.0, 1 - std::exp(responses_.cap - loss * responses_.unit));
    for (std::size_t k = 0; k < counts.size(); ++k) {
      AnswerCounts more = counts;
      ++more[k];
      if (!Allowed(more)) continue;
      const int step = responses_.multiples[k];
      const double truth = Truth(step * responses_.unit);
      best = std::max(best, truth * Delta(more, loss + step) + (1 - truth) * Delta(more, loss - step));
    }
    return deltas_[key] = best;
  }

  bool Allowed(const AnswerCounts& counts) {
    const auto known = allowed_.find(counts);
    return known != allowed_.end() ? known->second : (allowed_[counts] = rule_(counts));
  }

  Responses responses_;
  Rule rule_;
  std::map<std::pair<AnswerCounts, int>, double> deltas_;
  std::map<AnswerCounts, bool> allowed_;
};

/// The exact delta at the cap of so many answers whose epsilons were all fixed beforehand.
double FixedDelta(const Responses& responses, const AnswerCounts& counts) {
  std::map<int, double> losses{{0, 1.0}};
  for (std::size_t k = 0; k < counts.size(); ++k) {
    for (int n = 0; n < counts[k]; ++n) {
      std::map<int, double> next;
      const int step = responses.multiples[k];
      for (const auto& [loss, mass] : losses) {
        next[loss + step] += mass * Truth(step * responses.unit);
        next[loss - step] += mass * (1 - Truth(step * responses.unit));
      }
      losses = std::move(next);
    }
  }
  double delta = 0;
  for (const auto& [loss, mass] : losses)
    delta += mass * std::max(0.0, 1 - std::exp(responses.cap - loss * responses.unit));
  return delta;
}

Rule ByFilter(const Responses& responses, const FilterTerms& terms) {
  return [=](const AnswerCounts& counts) {
    PrivacyFilter filter(terms);
    for (std::size_t k = 0; k < counts.size(); ++k)
      filter.Add(PureDp{responses.unit * responses.multiples[k], counts[k]});
    return filter.Allows(responses.cap);
  };
}

TEST(PrivacyFilter, HoldsAgainstTheBestAdaptiveAnalyst) {
  for (const auto& [responses, delta] :
       {std::pair{Responses{0.1, {1, 2}, 0.8}, 0.1}, std::pair{Responses{0.1, {1, 3}, 1.0}, 0.02},
        std::pair{Responses{0.15, {1, 2, 4}, 1.2}, 0.3}}) {
    const auto terms = MakeFilterTerms(FilterMode::kRdp, delta);
    const double reached = BestAnalyst(responses, ByFilter(responses, terms)).Delta();
    EXPECT_LE(reached, delta - terms.delta_cut);
    EXPECT_GT(reached, 0);  // it goes on beyond the pure sum
  }
}

TEST(PrivacyFilter, ExactCompositionOfFixedParametersIsNoFilter) {
  // An analyst whose every path is a list of answers that, fixed beforehand, is (cap, delta)-private exactly.
  for (const auto& [responses, delta, least] : {std::tuple{Responses{0.25, {1, 2, 5}, 1.0}, 0.05, 0.060},
                                                std::tuple{Responses{0.2, {1, 3}, 1.0}, 0.02, 0.024}}) {
    const Rule exact = [&, limit = delta](const AnswerCounts& counts) {
      return FixedDelta(responses, counts) <= limit;
    };
    EXPECT_GT(BestAnalyst(responses, exact).Delta(), least);
    EXPECT_GT(least, delta);
  }
}

TEST(PrivacyFilter, GaussiansStayWithinOneGaussianWhateverIsChosen) {
  // mu^2 = 1 to spend: half of it, then nothing, a quarter or the other half, by the loss so far.
  const double cap = 2;
  const auto delta_after = [&](double loss, double square) {  // of a Gaussian behind that loss
    if (square == 0) return std::max(0.0, 1 - std::exp(cap - loss));
    const double mu = std::sqrt(square);
    const auto tail = [](double x) { return std::erfc(x / std::sqrt(2.0)) / 2; };
    return tail((cap - loss) / mu - mu / 2) - std::exp(cap - loss) * tail((cap - loss) / mu + mu / 2);
  };
  double adaptive = 0;
  constexpr double kStep = 1e-3;
  const double first = 0.5;
  for (double z = -10; z < 10; z += kStep) {
    const double loss = first / 2 + std::sqrt(first) * z;
    double best = 0;
    for (const double square : {0.0, 0.25, 0.5}) best = std::max(best, delta_after(loss, square));
    adaptive += kStep * best * std::exp(-z * z / 2) / std::sqrt(2 * std::acos(-1.0));
  }
  const auto terms = MakeFilterTerms(FilterMode::kGdp, 2 * adaptive);
  PrivacyFilter filter(terms);
  for (int k = 0; k < 2; ++k) filter.Add(SampledGaussian{1, std::sqrt(2.0), 1});
  EXPECT_NEAR(filter.Epsilon(), cap, 1e-5);  // no more is reached than by one Gaussian of mu = 1
  EXPECT_TRUE(filter.Allows(cap + 1e-5));
  EXPECT_FALSE(filter.Allows(cap - 1e-5));
}

TEST(PrivacyFilter, DividesDeltaByItsOrders) {
  const auto one = MakeFilterTerms(FilterMode::kRdp, 1e-5, {8});
  const auto two = MakeFilterTerms(FilterMode::kRdp, 1e-5, {8, 1000});
  const auto epsilon = [](const FilterTerms& terms) {
    PrivacyFilter filter(terms);
    filter.Add(SampledGaussian{1, 4, 10});
    return filter.Epsilon();
  };
  EXPECT_NEAR(epsilon(two) - epsilon(one), std::log(2.0) / 7, 1e-9);
  const std::vector<double> curve{8.0 * 10 / 32};
  EXPECT_NEAR(epsilon(one), RdpToEpsilon(one.orders, curve, 0.5e-5).epsilon, 1e-9);
  EXPECT_GE(epsilon(one), RdpToEpsilon(one.orders, curve, 0.5e-5).epsilon);
}

TEST(PrivacyFilter, GrantsGaussiansNineTo26PercentAboveFixedParameters) {
  const auto orders = DefaultRdpOrders();
  double least = kInfinity;
  double most = 0;
  for (const double delta : {1e-6, 3e-6, 1e-5}) {
    for (int k = 0; k < 400; ++k) {
      const double sigma = 0.4 * std::pow(1.01, k);
      std::vector<double> curve;
      for (const double order : orders) curve.push_back(SampledGaussianRdp(1, sigma, order));
      const double fixed = RdpToEpsilon(orders, curve, delta).epsilon;
      if (fixed < 0.25 || fixed > 15) continue;
      PrivacyFilter filter(MakeFilterTerms(FilterMode::kRdp, delta));
      filter.Add(SampledGaussian{1, sigma, 1});
      least = std::min(least, filter.Epsilon() / fixed);
      most = std::max(most, filter.Epsilon() / fixed);
    }
  }
  // Computed apart: 9.1 and 25.3 %, at epsilons of 10.9 and 0.39.
  EXPECT_GT(least, 1.09);
  EXPECT_LT(least, 1.095);
  EXPECT_GT(most, 1.25);
  EXPECT_LT(most, 1.26);
}

TEST(PrivacyFilter, AddsPureEpsilonsWithoutAnyDelta) {
  PrivacyFilter filter(MakeFilterTerms(FilterMode::kRdp, 1e-9));
  filter.Add(PureDp{0.25, 3});
  EXPECT_NEAR(filter.Epsilon(), 0.75, 1e-12);
  EXPECT_GE(filter.Epsilon(), 0.75);
  EXPECT_FALSE(filter.Allows(0.7499));
}

TEST(PrivacyFilter, ChargesCutBatchesAtTheCapToADeltaOfTheirOwn) {
  const auto terms = MakeFilterTerms(FilterMode::kRdp, 1e-5);
  EXPECT_DOUBLE_EQ(terms.delta_cut, 5e-6);
  PrivacyFilter filter(terms);
  filter.Add(SampledGaussian{1, 10, 1});
  const double before = filter.Epsilon();
  filter.Add(TotalVariation{1e-8, 10});
  EXPECT_EQ(filter.Epsilon(), before);
  EXPECT_NEAR(filter.FailuresAt(2), (1 + std::exp(2.0)) * 1e-7, 1e-18);
  EXPECT_TRUE(filter.Allows(2));
  EXPECT_FALSE(filter.Allows(4));  // (1 + e^4) 10^-7 is above half of delta
  filter.Add(IndependentFailure{1e-8, 10});
  EXPECT_NEAR(filter.FailuresAt(2), (2 + std::exp(2.0)) * 1e-7, 1e-18);
  EXPECT_TRUE(filter.Allows(3.8));
  EXPECT_FALSE(filter.Allows(3.89));
  filter.Add(IndependentFailure{5e-6, 1});
  EXPECT_EQ(filter.Epsilon(), kInfinity);
}

TEST(PrivacyFilter, TakesPlainGaussiansAloneByGaussianPrivacy) {
  const auto epsilon = [](const Event& event) {
    PrivacyFilter filter(MakeFilterTerms(FilterMode::kGdp, 1e-5));
    filter.Add(event);
    return filter.Epsilon();
  };
  EXPECT_NEAR(epsilon(SampledGaussian{1, 2, 4}), AnalyticGaussianEpsilon(1, 0.5e-5), 1e-6);
  EXPECT_GE(epsilon(SampledGaussian{1, 2, 4}), AnalyticGaussianEpsilon(1, 0.5e-5));
  EXPECT_EQ(epsilon(SampledGaussian{0.5, 2, 4}), kInfinity);
  EXPECT_EQ(epsilon(SampledGaussian{1, 0, 1}), kInfinity);
  EXPECT_EQ(epsilon(PureDp{0.1, 1}), kInfinity);
  EXPECT_EQ(epsilon(Laplace{10, 1}), kInfinity);
  EXPECT_EQ(epsilon(MaxDivergence{1e-3, 1}), kInfinity);
  EXPECT_EQ(epsilon(SampledGaussian{0.5, 2, 0}), 0);
}

TEST(PrivacyFilter, IsExactCompositionWhereAllWasFixedBeforehand) {
  PrivacyFilter filter(MakeFilterTerms(FilterMode::kClosed, 1e-5));
  PldAccountant exact;
  for (const Event& event : {Event(SampledGaussian{0.01, 1, 500}), Event(TotalVariation{1e-9, 10})}) {
    filter.Add(event);
    exact.Add(event);
  }
  EXPECT_EQ(filter.Epsilon(), exact.Epsilon(1e-5).epsilon);
  EXPECT_TRUE(filter.Allows(filter.Epsilon()));
}

TEST(FilterTerms, AreWrittenAndReadWhole) {
  for (const auto& terms :
       {MakeFilterTerms(FilterMode::kRdp, 1e-5), MakeFilterTerms(FilterMode::kRdp, 1e-6, {4, 8.5}),
        MakeFilterTerms(FilterMode::kGdp, 1e-5), MakeFilterTerms(FilterMode::kClosed, 1e-5)})
    EXPECT_EQ(FilterTermsFromJson(ToJson(terms)), terms);
  const auto error = [](const char* key, const Json& value) -> std::string {
    auto json = ToJson(MakeFilterTerms(FilterMode::kRdp, 1e-5));
    json[key] = value;
    try {
      (void)FilterTermsFromJson(json);
    } catch (const DataError& refused) {
      return refused.what();
    }
    return "";
  };
  EXPECT_THAT(error("mode", "pld"), HasSubstr("\"rdp\", \"gdp\" or \"closed\""));
  EXPECT_THAT(error("mode", "gdp"), HasSubstr("unknown key"));
  EXPECT_THAT(error("delta", 0), HasSubstr("delta 0"));
  EXPECT_THAT(error("delta_cut", 1e-5), HasSubstr("less than delta"));
  EXPECT_THAT(error("orders", Json::array()), HasSubstr("number of orders"));
  EXPECT_THAT(error("orders", {1, 2}), HasSubstr("not above 1"));
  EXPECT_THAT(error("orders", {2, 2}), HasSubstr("twice"));
  EXPECT_THAT(error("orders", {"2"}), HasSubstr("no list of orders"));
  EXPECT_THAT(error("more", 1), HasSubstr("unknown key"));
  EXPECT_THROW((void)MakeFilterTerms(FilterMode::kGdp, 1e-5, {2}), ConfigError);
  EXPECT_THROW((void)MakeFilterTerms(FilterMode::kRdp, 1, {2}), ConfigError);
}

}  // namespace
}  // namespace trefoil::dp
