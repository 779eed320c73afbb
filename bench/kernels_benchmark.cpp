// Microbenchmarks of the local kernels: what a protocol's computation can at best take.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <vector>

#include "base/secrets/random.h"
#include "bench/multiplier_peak.h"
#include "dp/mechanisms/discrete_gaussian.h"
#include "mpc/bits.h"
#include "mpc/dcf/dcf.h"
#include "mpc/prss.h"
#include "mpc/share.h"
#include "mpc/simd/elementwise_kernels.h"
#include "mpc/simd/kernels.h"
#include "protocols/functions/sin_cos.h"

namespace trefoil {
namespace {

using mpc::Index;
using mpc::RingMatrix;

RingMatrix Numbers(Index rows, Index cols) {
  RingMatrix out(rows, cols);
  for (Index k = 0; k < out.size(); ++k)
    out.data()[k] = 0x9E3779B97F4A7C15ULL * static_cast<mpc::Word>(k + 1);
  return out;
}

/// The processor's limit for the products below.
void MultiplierPeak(benchmark::State& state) {
  std::int64_t done = 0;
  for (auto _ : state) done += bench::RunMultiplier(1 << 20);
  state.SetItemsProcessed(done);
}
BENCHMARK(MultiplierPeak);

void MatrixProduct(benchmark::State& state) {
  ThreadPool pool(1);
  const RingMatrix a = Numbers(state.range(0), state.range(1));
  const RingMatrix b = Numbers(state.range(1), state.range(2));
  for (auto _ : state) benchmark::DoNotOptimize(mpc::MatrixProduct(pool, a, b));
  state.SetItemsProcessed(state.iterations() * state.range(0) * state.range(1) * state.range(2));
}
BENCHMARK(MatrixProduct)
    ->Args({128, 784, 10})
    ->Args({2700, 785, 10})
    ->Args({256, 4096, 10})
    ->Args({256, 256, 256})
    ->Args({1024, 1024, 1024});

void TransposedProduct(benchmark::State& state) {
  ThreadPool pool(1);
  const RingMatrix a = Numbers(state.range(0), state.range(1));
  const RingMatrix b = Numbers(state.range(0), state.range(2));
  for (auto _ : state) benchmark::DoNotOptimize(mpc::TransposedProduct(pool, a, b));
  state.SetItemsProcessed(state.iterations() * state.range(0) * state.range(1) * state.range(2));
}
BENCHMARK(TransposedProduct)->Args({128, 784, 10})->Args({2700, 785, 10})->Args({256, 4096, 10});

/// The memory's limit for what is done element by element: bytes read and written, by a copy that does not
/// fit the caches.
void MemoryCopy(benchmark::State& state) {
  const std::vector<mpc::Word> from(static_cast<std::size_t>(state.range(0)), 1);
  std::vector<mpc::Word> to(from.size());
  for (auto _ : state) {
    std::copy(from.begin(), from.end(), to.begin());
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * 16);
}
BENCHMARK(MemoryCopy)->Arg(1000)->Arg(1000000)->Arg(16 << 20);

/// A party's part of x times y, element by element: four words read and one written.
void LocalProduct(benchmark::State& state) {
  const Index count = state.range(0);
  const mpc::ArithShare x(Numbers(count, 1), Numbers(count, 1));
  const mpc::ArithShare y(Numbers(count, 1), Numbers(count, 1));
  for (auto _ : state) {
    RingMatrix part(count, 1);
    mpc::LocalProductOfWords(x.words(), y.words(), count, part.data());
    benchmark::DoNotOptimize(part);
  }
  state.SetBytesProcessed(state.iterations() * count * 40);
}
BENCHMARK(LocalProduct)->Arg(1000)->Arg(1000000);

constexpr mpc::HashKey kHashKey{1, 2, 3};

/// The processor's limit for comparison functions: blocks a second of their cipher, from the cache.
void SeedHashing(benchmark::State& state) {
  const mpc::SeedHash hash(kHashKey);
  const std::vector<mpc::Block> in(1024);
  std::vector<mpc::Block> out(in.size());
  for (auto _ : state) {
    hash.Hash(in, out);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(in.size()));
}
BENCHMARK(SeedHashing);

void PairwisePrg(benchmark::State& state) {
  mpc::Prss prss(0, RandomKey(), RandomKey(), {});
  std::vector<mpc::Word> out(static_cast<std::size_t>(state.range(0)));
  mpc::OperationId operation = 0;
  for (auto _ : state) {
    prss.Fill(0, mpc::Purpose::kMask, operation++, out);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * 8);
}
BENCHMARK(PairwisePrg)->Arg(1)->Arg(1024)->Arg(1 << 20);

constexpr int kDcfBits = 63;  // a comparison of whole words

std::vector<mpc::Block> Roots(Index count) {
  RandomStream stream = RandomStream::FromSystem();
  std::vector<mpc::Block> roots(static_cast<std::size_t>(count));
  for (mpc::Block& root : roots) root = {.low = stream.NextWord(), .high = stream.NextWord()};
  return roots;
}

RingMatrix DcfInputs(Index rows, Index keys) {
  return Numbers(rows, keys).unaryExpr([](mpc::Word word) { return word >> (64 - kDcfBits); });
}

/// Keys a second.
void DcfGenerate(benchmark::State& state) {
  const Index keys = state.range(0);
  const RingMatrix points = DcfInputs(1, keys);
  const RingMatrix payloads = RingMatrix::Constant(1, keys, 1);
  const auto first = Roots(keys);
  const auto second = Roots(keys);
  for (auto _ : state)
    benchmark::DoNotOptimize(
        mpc::DcfGenerate(mpc::DcfShape(kDcfBits), kHashKey, points, payloads, first, second));
  state.SetItemsProcessed(state.iterations() * keys);
}
BENCHMARK(DcfGenerate)->Arg(128)->Arg(4096);

/// Points a second, one and sixteen a key.
void DcfEvaluate(benchmark::State& state) {
  ThreadPool pool(1);
  const Index keys = state.range(0);
  const RingMatrix inputs = DcfInputs(state.range(1), keys);
  const auto roots = Roots(keys);
  const auto corrections = mpc::DcfGenerate(mpc::DcfShape(kDcfBits), kHashKey, DcfInputs(1, keys),
                                            RingMatrix::Constant(1, keys, 1), roots, Roots(keys));
  for (auto _ : state) benchmark::DoNotOptimize(mpc::DcfEvaluate(pool, true, corrections, roots, inputs));
  state.SetItemsProcessed(state.iterations() * inputs.size());
}
BENCHMARK(DcfEvaluate)->Args({128, 1})->Args({4096, 1})->Args({128, 16});

/// Points a second where a key's points are differences to a hundred thresholds, eight an octave, as those of
/// clip factors and inverse square roots are: most of their paths is common.
void DcfEvaluateThresholds(benchmark::State& state) {
  ThreadPool pool(1);
  const Index keys = state.range(0);
  constexpr Index kThresholds = 100;
  RingMatrix inputs = DcfInputs(1, keys).replicate(kThresholds, 1);
  for (Index k = 0; k < kThresholds; ++k) {
    const mpc::Word threshold = (mpc::Word{8} + static_cast<mpc::Word>(k % 8)) << (k / 8 + 8);
    inputs.row(k) =
        inputs.row(k).unaryExpr([&](mpc::Word c) { return (c - threshold) & (~mpc::Word{0} >> 1); }).eval();
  }
  const auto roots = Roots(keys);
  const auto corrections = mpc::DcfGenerate(mpc::DcfShape(kDcfBits), kHashKey, DcfInputs(1, keys),
                                            RingMatrix::Constant(1, keys, 1), roots, Roots(keys));
  for (auto _ : state) benchmark::DoNotOptimize(mpc::DcfEvaluate(pool, true, corrections, roots, inputs));
  state.SetItemsProcessed(state.iterations() * inputs.size());
}
BENCHMARK(DcfEvaluateThresholds)->Arg(128);

/// Both transpositions: a word read and a word written for each.
void ToPlanes(benchmark::State& state) {
  const RingMatrix x = Numbers(state.range(0), 1);
  for (auto _ : state) benchmark::DoNotOptimize(mpc::ToPlanes(x, 64));
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.SetBytesProcessed(state.iterations() * state.range(0) * 16);
}
BENCHMARK(ToPlanes)->Arg(64)->Arg(1024)->Arg(100000);

void FromPlanes(benchmark::State& state) {
  const mpc::BitMatrix planes = mpc::ToPlanes(Numbers(state.range(0), 1), 64);
  for (auto _ : state) benchmark::DoNotOptimize(mpc::FromPlanes(planes, state.range(0), 1));
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.SetBytesProcessed(state.iterations() * state.range(0) * 16);
}
BENCHMARK(FromPlanes)->Arg(64)->Arg(1024)->Arg(100000);

/// Bits into a message and out of it, where planes do not end at a byte.
void PackBits(benchmark::State& state) {
  const mpc::BitMatrix planes = mpc::ToPlanes(Numbers(state.range(0), 1), 64);
  for (auto _ : state) benchmark::DoNotOptimize(mpc::Pack(planes));
  state.SetBytesProcessed(state.iterations() * state.range(0) * 16);
}
BENCHMARK(PackBits)->Arg(1001)->Arg(100001);

void UnpackBits(benchmark::State& state) {
  const net::Bytes bytes = mpc::Pack(mpc::ToPlanes(Numbers(state.range(0), 1), 64));
  for (auto _ : state) benchmark::DoNotOptimize(mpc::Unpack(bytes, 64, state.range(0)));
  state.SetBytesProcessed(state.iterations() * state.range(0) * 16);
}
BENCHMARK(UnpackBits)->Arg(1001)->Arg(100001);

/// A bit read and a word written for each.
void ToWords(benchmark::State& state) {
  const mpc::BitMatrix planes = mpc::ToPlanes(Numbers(state.range(0), 1), 64);
  for (auto _ : state) benchmark::DoNotOptimize(mpc::ToWords(planes));
  state.SetBytesProcessed(state.iterations() * planes.bits() * 8);
}
BENCHMARK(ToWords)->Arg(1024);

void SinCosOfTurn(benchmark::State& state) {
  mpc::Word turn = 1;
  for (auto _ : state) {
    benchmark::DoNotOptimize(protocols::SinCosOfTurn(turn));
    turn = turn * 6364136223846793005ULL + 1442695040888963407ULL;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(SinCosOfTurn);

void DiscreteGaussian(benchmark::State& state) {
  const dp::DiscreteGaussian sampler(dp::Uint256(1) << static_cast<unsigned>(state.range(0)));
  RandomStream stream = RandomStream::FromSystem();
  for (auto _ : state) benchmark::DoNotOptimize(sampler.Sample(stream));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(DiscreteGaussian)->Arg(12)->Arg(64)->Arg(100);

}  // namespace
}  // namespace trefoil
