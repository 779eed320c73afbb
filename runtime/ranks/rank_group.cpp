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

}  // namespace

RankFailure CauseAmong(RankFailure own, std::optional<RankFailure> first) {
  if (!first || (own.code != kNetwork && first->code == kNetwork)) return own;
  return *std::move(first);
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
