#include "ml/noisy_counts.h"

#include <utility>

#include "base/error.h"
#include "dp/laplace_part.h"
#include "ml/dp_sgd.h"
#include "protocols/input.h"
#include "protocols/multiply.h"
#include "protocols/reveal.h"

namespace trefoil::ml {

StepNoise LaplaceParts(RandomStream stream, const dp::Ratio& rate, mpc::Index counts) {
  const dp::LaplacePart part(rate);
  StepNoise noise(counts, 1);
  for (mpc::Index k = 0; k < counts; ++k) noise.values()(k, 0) = static_cast<mpc::Word>(part.Sample(stream));
  return noise;
}

std::optional<mpc::RingMatrix> OpenNoisyCounts(mpc::Context& party, const mpc::RingMatrix& own,
                                               const mpc::RingMatrix& noise, const std::vector<int>& to) {
  Require(own.rows() == noise.rows() && own.cols() == noise.cols(), "OpenNoisyCounts: noise for every count");
  const protocols::Shape shape{.rows = own.rows(), .cols = own.cols()};
  const auto counts = protocols::InputEach(party, own, {shape, shape, shape});
  const mpc::AdditiveShare noisy = AddNoise(ToAdditive(counts[0] + counts[1] + counts[2]), noise);
  const mpc::ArithShare shared = protocols::Reshare(party, noisy);
  std::optional<mpc::RingMatrix> opened;
  for (const int receiver : to) {
    auto values = protocols::RevealTo(party, receiver, shared);
    if (values) opened = std::move(values);
  }
  return opened;
}

mpc::Cost OpenNoisyCountsCost(mpc::Index counts, const std::vector<int>& to) {
  const protocols::Shape shape{.rows = counts, .cols = 1};
  mpc::Cost cost = Then(protocols::InputEachCost({shape, shape, shape}), protocols::ReshareCost(counts));
  for (const int receiver : to) cost = ThenUnturned(cost, protocols::RevealToCost(receiver, counts));
  return cost;
}

}  // namespace trefoil::ml
