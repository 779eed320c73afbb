#include "runtime/ranks/rank_group.h"

#include <spdlog/fmt/fmt.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/error_report.h"

namespace trefoil::runtime {
namespace {

int NumberIn(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  int number = otherwise;
  if (text != nullptr) (void)std::from_chars(text, text + std::strlen(text), number);
  return number;
}

/// How much later than it happened the end of a link may be seen, beside a busy machine. Much later ends
/// follow from what was heard: mpirun kills ranks a second after it has told them to stop.
constexpr std::chrono::milliseconds kSeenLate{500};

/// Whether `failure` may have been brought about by `cause`, which became known later.
bool Follows(const RankFailure& failure, const RankFailure& cause) {
  if (failure.code != kNetwork) return false;
  if (cause.code != kNetwork) return true;
  if (!failure.may_follow() || !cause.may_follow() || cause.heard) return false;
  if (cause.reason.about != failure.reason.about) return false;
  return *cause.lost_at < *failure.lost_at + (failure.heard ? kSeenLate : std::chrono::milliseconds(0));
}

}  // namespace

RankFailure CauseAmong(RankFailure own, std::optional<RankFailure> first) {
  if (!first || Follows(*first, own)) return own;
  return *std::move(first);
}

RankFailure ExplainByLinks(const std::exception& error, const net::MeshTransport* links,
                           const std::function<RankFailure(const std::exception&)>& explain) {
  const auto loss = links != nullptr ? links->Loss() : std::nullopt;
  const bool ended = dynamic_cast<const RanksEnded*>(&error) != nullptr;
  auto failure =
      ended && loss && loss->link_ended ? explain(NetworkError(loss->peer, loss->cause)) : explain(error);
  if (!loss || failure.reason.code != net::AbortCode::kPeerLost || failure.reason.about != loss->peer)
    return failure;
  failure.heard = !loss->link_ended;
  failure.lost_at = loss->at;
  return failure;
}

StartedAs StartedByMpirun() {
  return {.rank = NumberIn("OMPI_COMM_WORLD_RANK", 0), .count = NumberIn("OMPI_COMM_WORLD_SIZE", 1)};
}

void RequireRanks(int ranks_of_file) {
  const int started = StartedByMpirun().count;
  if (ranks_of_file == started) return;
  if (started == 1)
    throw ConfigError(
        fmt::format("party.ranks: found {0}, expected 1, as this program was started alone: start it by "
                    "mpirun -np {0}",
                    ranks_of_file));
  throw ConfigError(
      fmt::format("party.ranks: found {}, expected {}, as mpirun has started", ranks_of_file, started));
}

}  // namespace trefoil::runtime
