#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "mpc/cost.h"
#include "protocols/arithmetic/reveal.h"
#include "protocols/measure.h"
#include "tests/support/run_parties.h"

namespace trefoil::testing_support {

/// Rounds and bytes, declared or measured.
struct CostFigures {
  int rounds = 0;
  std::array<std::uint64_t, 3> bytes_sent{};
  std::array<std::uint64_t, 3> bytes_offline{};

  friend bool operator==(const CostFigures&, const CostFigures&) = default;
  friend void PrintTo(const CostFigures& cost, std::ostream* out) {
    *out << cost.rounds << " rounds, bytes sent";
    for (const auto bytes : cost.bytes_sent) *out << ' ' << bytes;
    *out << ", offline";
    for (const auto bytes : cost.bytes_offline) *out << ' ' << bytes;
  }
};

inline CostFigures Figures(const mpc::Cost& declared) {
  return {.rounds = declared.rounds(),
          .bytes_sent = declared.bytes_sent(),
          .bytes_offline = declared.bytes_offline()};
}

inline CostFigures Figures(const std::array<protocols::Measured, 3>& measured) {
  CostFigures figures;
  for (std::size_t party = 0; party < measured.size(); ++party) {
    figures.rounds = std::max(figures.rounds, measured[party].rounds);
    figures.bytes_sent[party] = measured[party].bytes_sent;
    figures.bytes_offline[party] = measured[party].bytes_offline;
  }
  return figures;
}

/// What an operation gave one party, and what it took.
template <typename Value>
struct MeasuredPart {
  Value value;
  protocols::Measured measured;
};

template <typename Value>
CostFigures Figures(const std::array<MeasuredPart<Value>, 3>& parts) {
  return Figures({parts[0].measured, parts[1].measured, parts[2].measured});
}

/// A column of ring elements.
inline mpc::RingMatrix Column(const std::vector<std::int64_t>& values) {
  mpc::RingMatrix out(static_cast<mpc::Index>(values.size()), 1);
  for (std::size_t k = 0; k < values.size(); ++k)
    out(static_cast<mpc::Index>(k), 0) = static_cast<mpc::Word>(values[k]);
  return out;
}

/// Uniform words from a fixed seed.
inline mpc::RingMatrix RandomWords(std::uint64_t seed, mpc::Index rows, mpc::Index cols) {
  std::mt19937_64 generator(seed);
  mpc::RingMatrix out(rows, cols);
  for (mpc::Index k = 0; k < out.size(); ++k) out.data()[k] = generator();
  return out;
}

/// Uniform signed numbers of |x| <= 2^bits - 1 from a fixed seed.
inline mpc::RingMatrix RandomSigned(std::uint64_t seed, mpc::Index rows, mpc::Index cols, int bits) {
  mpc::RingMatrix out = RandomWords(seed, rows, cols);
  for (mpc::Index k = 0; k < out.size(); ++k) {
    out.data()[k] = static_cast<mpc::Word>(mpc::Signed(out.data()[k]) >> (63 - bits));
  }
  return out;
}

/// What a run of an operation gave: the opened result (the same at all parties, or the test fails) and the
/// cost.
struct Outcome {
  mpc::RingMatrix value;
  CostFigures cost;
};

/// Runs operation(party) -> ArithShare at three parties and opens the result.
template <typename Operation>
Outcome RunArith(Seed seed, Operation operation) {
  const auto parts = RunParties(seed, [&](mpc::Context& party) {
    MeasuredPart<mpc::RingMatrix> part;
    mpc::ArithShare result;
    const std::function<void()> prepared = operation(party, result);
    part.measured = protocols::Measure(party, prepared);
    part.value = protocols::Reveal(party, result, protocols::ReleaseReason::kTest);
    return part;
  });
  EXPECT_TRUE((parts[0].value == parts[1].value).all() && (parts[1].value == parts[2].value).all())
      << "the parties opened different values";
  return {parts[0].value, Figures(parts)};
}

/// For operation(party) -> share whose inputs are dealt beforehand by `deal`.
template <typename Deal, typename Operation>
Outcome RunOn(Seed seed, Deal deal, Operation operation) {
  return RunArith(seed, [&](mpc::Context& party, mpc::ArithShare& result) {
    return std::function<void()>(
        [&party, &result, &operation, inputs = deal(party)] { result = operation(party, inputs); });
  });
}

}  // namespace trefoil::testing_support
