#pragma once
#include "dp/mechanisms/discrete_gaussian.h"
#include "ml/dpsgd/dp_sgd.h"
#include "ml/noise/noise_source.h"
#include "mpc/cost.h"
#include "mpc/fixed_point.h"

namespace trefoil::ml {

/// Logits of rows at 2f bits, 3-of-3: x W of a linear model, or what comes out of a network's layers.
/// `x` is a batch's, `weights` of ShapeOfWeights. Nothing is opened.
/// Cost: LogitsCost, nothing for a linear model.
[[nodiscard]] mpc::AdditiveShare Logits(mpc::Context& party, const StepPlan& plan, const mpc::FixedShare& x,
                                        const mpc::FixedShare& weights);
[[nodiscard]] mpc::Cost LogitsCost(const StepPlan& plan, mpc::Index rows);

/// The logit above which a record is taken for class 1 of two, on the lattice of logits, 2f bits; 0 for more
/// classes.
[[nodiscard]] mpc::Word DecisionWord(const StepPlan& plan);

/// Logits such that the class is where they are above zero: less DecisionWord. Local.
[[nodiscard]] mpc::AdditiveShare AboveDecision(const mpc::Context& party, const StepPlan& plan,
                                               const mpc::AdditiveShare& logits);

/// For PredictClasses and CorrectCounts: any logits below 2^62.
inline constexpr int kClassifiedWidth = 64;

/// The class of each row of N x c logits: 1 in its column and 0 elsewhere, N x max(c, 2). It is that of the
/// largest logit, the first of equal ones; with one column class 1 where the logit is above zero.
/// Pre:  two logits of a row differ by less than 2^(logit_width - 1).
/// Cost: PredictClassesCost. Source: PEA, Protocol 4, line 3.
[[nodiscard]] mpc::ArithShare PredictClasses(mpc::Context& party, const mpc::ArithShare& logits,
                                             int logit_width);
[[nodiscard]] mpc::Cost PredictClassesCost(mpc::Index rows, mpc::Index columns, int logit_width);

/// How many rows of `batch` each of K models classifies correctly, in units of 2^-f, exactly: a row for each
/// model, 3-of-3. `logits` is N x K c, model k's in columns k c to k c + c - 1. A padding row counts for
/// none. Nothing is opened. Cost: CorrectCountsCost. Source: PEA, Protocol 4, lines 3 and 6.
[[nodiscard]] mpc::AdditiveShare CorrectCounts(mpc::Context& party, const Batch& batch,
                                               const mpc::AdditiveShare& logits, int logit_width);
[[nodiscard]] mpc::Cost CorrectCountsCost(mpc::Index rows, mpc::Index columns, mpc::Index models,
                                          int logit_width);

/// How many rows of `batch` are of which class and taken for which, in units of 2^-f, exactly: c'^2 x 1, c' =
/// max(c, 2), 3-of-3. First those of class 0, by the class that they are taken for, then those of class 1,
/// and so on. `logits` is N x c, of one column above zero for class 1. A padding row counts for none. Nothing
/// is opened.
/// Pre: as PredictClasses. Cost: ConfusionCountsCost.
[[nodiscard]] mpc::AdditiveShare ConfusionCounts(mpc::Context& party, const Batch& batch,
                                                 const mpc::AdditiveShare& logits, int logit_width);
[[nodiscard]] mpc::Cost ConfusionCountsCost(mpc::Index rows, mpc::Index columns, int logit_width);

/// The variance of each party's noise for a count: sigma^2 sensitivity^2 / 2, with the sensitivity on the
/// count's lattice; sigma is rounded up as OnSigmaLattice does.
[[nodiscard]] dp::Uint256 CountVariance(double sigma, std::uint64_t sensitivity);

/// The deviation of that noise in lattice units, rounded down: what a record of it says.
[[nodiscard]] double CountDeviation(double sigma, std::uint64_t sensitivity);

/// This party's discrete Gaussian noise of CountVariance for `counts` counts, counts x 1. `stream` is
/// RandomStream::FromSystem() but in tests.
[[nodiscard]] StepNoise CountNoise(RandomStream stream, double sigma, std::uint64_t sensitivity,
                                   mpc::Index counts);

}  // namespace trefoil::ml
