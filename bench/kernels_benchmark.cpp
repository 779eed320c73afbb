// Microbenchmarks of the local kernels: what a protocol's computation can at best take.
#include <benchmark/benchmark.h>

#include "base/random.h"
#include "dp/discrete_gaussian.h"
#include "mpc/bits.h"
#include "mpc/kernels.h"
#include "mpc/prss.h"
#include "protocols/sin_cos.h"

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
    ->Args({256, 256, 256});

void TransposedProduct(benchmark::State& state) {
  ThreadPool pool(1);
  const RingMatrix a = Numbers(state.range(0), state.range(1));
  const RingMatrix b = Numbers(state.range(0), state.range(2));
  for (auto _ : state) benchmark::DoNotOptimize(mpc::TransposedProduct(pool, a, b));
  state.SetItemsProcessed(state.iterations() * state.range(0) * state.range(1) * state.range(2));
}
BENCHMARK(TransposedProduct)->Args({128, 784, 10})->Args({2700, 785, 10});

void PairwisePrg(benchmark::State& state) {
  mpc::Prss prss(0, RandomKey(), RandomKey());
  std::vector<mpc::Word> out(static_cast<std::size_t>(state.range(0)));
  mpc::OperationId operation = 0;
  for (auto _ : state) {
    prss.Fill(0, mpc::Purpose::kMask, operation++, out);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * 8);
}
BENCHMARK(PairwisePrg)->Arg(1)->Arg(1024)->Arg(1 << 20);

void ToPlanes(benchmark::State& state) {
  const RingMatrix x = Numbers(state.range(0), 1);
  for (auto _ : state) benchmark::DoNotOptimize(mpc::ToPlanes(x, 64));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(ToPlanes)->Arg(1024)->Arg(100000);

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
