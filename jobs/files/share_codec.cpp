#include "jobs/files/share_codec.h"

#include <cstring>

#include "base/error.h"

namespace trefoil::jobs {

std::size_t ShareBytes(const ml::LayerShape& shape) {
  return 2 * sizeof(mpc::Word) * static_cast<std::size_t>(shape.weights());
}

std::span<std::uint8_t> PutShare(std::span<std::uint8_t> out, const mpc::ArithShare& share) {
  const std::size_t half = static_cast<std::size_t>(share.size()) * sizeof(mpc::Word);
  Require(out.size() >= 2 * half, "PutShare: room for the share");
  std::memcpy(out.data(), share.own().data(), half);
  std::memcpy(out.data() + half, share.next().data(), half);
  return out.subspan(2 * half);
}

mpc::ArithShare TakeShare(std::span<const std::uint8_t> in, const ml::LayerShape& shape) {
  Require(in.size() >= ShareBytes(shape), "TakeShare: a whole share");
  const std::size_t half = ShareBytes(shape) / 2;
  mpc::RingMatrix own(shape.inputs, shape.outputs);
  mpc::RingMatrix next(shape.inputs, shape.outputs);
  std::memcpy(own.data(), in.data(), half);
  std::memcpy(next.data(), in.data() + half, half);
  return {std::move(own), std::move(next)};
}

}  // namespace trefoil::jobs
