#include "apps/owners/batches_text.h"

#include <spdlog/fmt/fmt.h>

#include "deposit/make_deposit.h"

namespace trefoil::apps {

std::string BatchesText(const jobs::RecordSchema& records) {
  const auto& batches = records.store.batches.value();
  const auto bytes = deposit::FileBytes(deposit::LayoutOf(records), deposit::RowsOfBatches(records).value());
  return fmt::format(
      "batches     {} of {} rows for run {} of job {}\n"
      "            drawn from {} records at most, each with probability {:.6g}\n"
      "            a deposit has {}, {} and {} bytes for parties 0, 1 and 2\n",
      batches.steps, batches.rows, batches.run, batches.job, batches.records, batches.sampling_rate, bytes[0],
      bytes[1], bytes[2]);
}

}  // namespace trefoil::apps
