#pragma once
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

#include "base/threads/thread_pool.h"
#include "mpc/context.h"
#include "mpc/share.h"
#include "net/local_transport.h"
#include "protocols/measure.h"
#include "tests/support/fixed_key.h"

namespace trefoil::testing_support {

/// Seed of a test run: all pairwise keys are derived from it, so a run repeats exactly.
struct Seed {
  std::uint8_t value = 0;
};

/// NOT SECRET: k_j of a test is the byte seed + j, 32 times.
inline SecretKey InsecureKey(Seed seed, int component) {
  return FixedKey(static_cast<std::uint8_t>(seed.value * 7 + component % 3 + 1));
}

/// The same at all parties.
inline mpc::SessionTag TestTag(Seed seed) { return {seed.value}; }

inline mpc::Prss InsecurePrss(Seed seed, int self) {
  return mpc::Prss(self, InsecureKey(seed, self), InsecureKey(seed, self + 1), TestTag(seed));
}

using Transports = std::array<std::unique_ptr<net::Transport>, net::kParties>;

/// Makes party `self`'s correlated randomness.
using PrssMaker = std::function<mpc::Prss(int self)>;

/// Runs body(context) at three parties, each in a thread, over the given transports. A party that fails
/// aborts its links. Returns how each ended: null, or what it threw.
template <typename Body>
std::array<std::exception_ptr, net::kParties> EndsOver(const Transports& transports,
                                                       const PrssMaker& make_prss, Body body) {
  std::array<std::exception_ptr, net::kParties> ends;
  const auto run = [&](std::size_t self) {
    try {
      ThreadPool pool(1);
      mpc::Context context(*transports[self], make_prss(static_cast<int>(self)), pool);
      body(context);
    } catch (...) {
      ends[self] = std::current_exception();
      transports[self]->Abort({});
    }
  };
  std::array<std::thread, net::kParties> threads;
  for (std::size_t self = 0; self < threads.size(); ++self) threads[self] = std::thread(run, self);
  for (auto& thread : threads) thread.join();
  return ends;
}

/// The same for a body with a result; returns the three results. The first failure in time is the one
/// rethrown.
template <typename Body>
auto RunPartiesOver(Transports transports, const PrssMaker& make_prss, Body body) {
  using Result = std::invoke_result_t<Body, mpc::Context&>;
  std::array<std::optional<Result>, net::kParties> results;
  std::exception_ptr failure;
  std::mutex mutex;
  const auto ends = EndsOver(transports, make_prss, [&](mpc::Context& context) {
    try {
      results[static_cast<std::size_t>(context.self())].emplace(body(context));
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      throw;
    }
  });
  if (failure) std::rethrow_exception(failure);
  for (const auto& end : ends) {
    if (end) std::rethrow_exception(end);
  }
  return std::array<Result, net::kParties>{std::move(*results[0]), std::move(*results[1]),
                                           std::move(*results[2])};
}

template <typename Body>
auto RunPartiesOver(Transports transports, Seed seed, Body body) {
  return RunPartiesOver(
      std::move(transports), [seed](int self) { return InsecurePrss(seed, self); }, std::move(body));
}

/// For how long a test's party waits for another that computes: under a sanitizer, on a machine that does
/// other work, more than a minute.
inline constexpr std::chrono::seconds kPartyPatience{300};

template <typename Body>
auto RunParties(Seed seed, Body body) {
  return RunPartiesOver(net::MakeLocalTransports(kPartyPatience), seed, std::move(body));
}

/// NOT SECRET: a sharing of `values` with components from a fixed generator, made without communication.
inline mpc::ArithShare InsecureDeal(mpc::Context& party, const mpc::RingMatrix& values) {
  std::uint64_t state = 0x9E3779B97F4A7C15ULL ^ static_cast<std::uint64_t>(values.size());
  const auto next = [&state] {
    std::uint64_t z = (state += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  };
  std::array<mpc::RingMatrix, 3> components;
  for (auto& component : components) component.resize(values.rows(), values.cols());
  for (mpc::Index k = 0; k < values.size(); ++k) {
    components[0].data()[k] = next();
    components[1].data()[k] = next();
    components[2].data()[k] = values.data()[k] - components[0].data()[k] - components[1].data()[k];
  }
  return {components[static_cast<std::size_t>(party.self())],
          components[static_cast<std::size_t>(party.next())]};
}

/// NOT SECRET: the same for bits.
inline mpc::BoolShare InsecureDealBits(mpc::Context& party, const mpc::BitMatrix& bits) {
  std::array<mpc::BitMatrix, 3> components{bits, bits, bits};
  for (mpc::Index k = 0; k < bits.words().size(); ++k) {
    const mpc::Word a = 0xD1342543DE82EF95ULL * static_cast<mpc::Word>(k + 1);
    components[0].words().data()[k] ^= a;
    components[1].words().data()[k] = a ^ (a >> 7);
    components[2].words().data()[k] = a >> 7;
  }
  for (auto& component : components) component.ClearTail();
  components[2] = bits ^ components[0] ^ components[1];
  return {components[static_cast<std::size_t>(party.self())],
          components[static_cast<std::size_t>(party.next())]};
}

}  // namespace trefoil::testing_support
