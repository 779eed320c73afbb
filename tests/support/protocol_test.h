#pragma once
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "mpc/cost.h"
#include "protocols/measure.h"
#include "protocols/reveal.h"
#include "tests/support/run_parties.h"

namespace trefoil::mpc {

inline void PrintTo(const Cost& cost, std::ostream* out) {
  *out << cost.rounds << " rounds, bytes sent";
  for (const auto bytes : cost.bytes_sent) *out << ' ' << bytes;
  *out << ", offline";
  for (const auto bytes : cost.bytes_offline) *out << ' ' << bytes;
  *out << ", turns " << cost.turns;
}

}  // namespace trefoil::mpc

namespace trefoil::testing_support {

/// A column of ring elements.
inline mpc::RingMatrix Column(const std::vector<std::int64_t>& values) {
  mpc::RingMatrix out(static_cast<mpc::Index>(values.size()), 1);
  for (std::size_t k = 0; k < values.size(); ++k) out(static_cast<mpc::Index>(k), 0) = static_cast<mpc::Word>(values[k]);
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

/// What a run of an operation gave: the opened result (the same at all parties, or the test fails) and the cost.
struct Outcome {
  mpc::RingMatrix value;
  mpc::Cost cost;
};

/// Runs operation(party) -> ArithShare at three parties and opens the result.
template <typename Operation>
Outcome RunArith(Seed seed, int declared_turns, Operation operation) {
  struct Part {
    mpc::RingMatrix value;
    protocols::Measured measured;
  };
  const auto parts = RunParties(seed, [&](mpc::Context& party) {
    Part part;
    mpc::ArithShare result;
    const std::function<void()> prepared = operation(party, result);
    part.measured = protocols::Measure(party, prepared);
    part.value = protocols::Reveal(party, result);
    return part;
  });
  EXPECT_TRUE((parts[0].value == parts[1].value).all() && (parts[1].value == parts[2].value).all())
      << "the parties opened different values";
  return {parts[0].value,
          protocols::ToCost({parts[0].measured, parts[1].measured, parts[2].measured}, declared_turns)};
}

/// For operation(party) -> share whose inputs are dealt beforehand by `deal`.
template <typename Deal, typename Operation>
Outcome RunOn(Seed seed, int declared_turns, Deal deal, Operation operation) {
  return RunArith(seed, declared_turns, [&](mpc::Context& party, mpc::ArithShare& result) {
    return std::function<void()>(
        [&party, &result, &operation, inputs = deal(party)] { result = operation(party, inputs); });
  });
}

}  // namespace trefoil::testing_support
