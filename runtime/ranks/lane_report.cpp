#include "runtime/ranks/lane_report.h"

#include <sys/resource.h>

#include <type_traits>

namespace trefoil::runtime {
namespace {

static_assert(std::is_trivially_copyable_v<LaneReport>,
              "it is sent as it lies in memory, to the same program");

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

}  // namespace

double ProcessorSeconds(const RankGroup* group) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double all = Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
  return group == nullptr ? all : all - group->waited().processor_seconds;
}

std::vector<LaneReport> GatherReports(mpc::Ranks& ranks, const LaneReport& own) {
  std::vector<LaneReport> all(ranks.rank() == 0 ? static_cast<std::size_t>(ranks.count()) : 0);
  ranks.Gather(std::as_bytes(std::span(&own, 1)), std::as_writable_bytes(std::span(all)));
  return all;
}

void LetBegin(mpc::Ranks& ranks, bool begin) {
  std::byte told{begin};
  ranks.Broadcast({&told, 1});
}

bool WaitForBegin(mpc::Ranks& ranks) {
  std::byte told{};
  ranks.Broadcast({&told, 1});
  return told != std::byte{};
}

}  // namespace trefoil::runtime
