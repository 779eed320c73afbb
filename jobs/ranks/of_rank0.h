#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "mpc/ranks.h"

namespace trefoil::jobs {

/// Rank 0's `text` at every rank, each of which calls it with its own, to compare the two. Throws
/// NetworkError.
[[nodiscard]] inline std::string OfRank0(std::string text, mpc::Ranks& ranks) {
  std::uint64_t size = text.size();
  ranks.Broadcast(std::as_writable_bytes(std::span(&size, 1)));
  text.resize(size);
  ranks.Broadcast(std::as_writable_bytes(std::span(text)));
  return text;
}

}  // namespace trefoil::jobs
