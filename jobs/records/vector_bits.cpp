#include "jobs/records/vector_bits.h"

#include "ml/batches/deposited_rows.h"

namespace trefoil::jobs {

std::optional<int> VectorBits(std::int64_t numbers, double norm) {
  return ml::MostDepositedBits(numbers, norm, static_cast<int>(kStudyBits.least),
                               static_cast<int>(kStudyBits.most));
}

}  // namespace trefoil::jobs
