#include "runtime/ranks/rank_group.h"

// What there is in place of mpi_group.cpp in a program that is built without MPI.

namespace trefoil::runtime {

std::unique_ptr<RankGroup> StartRanks(const RankLimits& /*limits*/) {
  if (StartedByMpirun().count == 1) return nullptr;
  throw ConfigError(
      "mpirun: found a program that was built without MPI, expected one with it: install libopenmpi-dev and "
      "openmpi-bin (scripts/setup --mpi) and build anew");
}

}  // namespace trefoil::runtime
