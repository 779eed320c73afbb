#include "jobs/deposited_records.h"

#include "base/error.h"

namespace trefoil::jobs {

void RequireOwnRecords(const RecordSchema& records, const SplitTarget& target) {
  if (records.store.on)
    throw ConfigError(target.job_file.string() +
                      ": data.source: found \"store\", expected \"files\" where three "
                      "parties are dealt data: owners deposit theirs (docs/howto/owners.md)");
}

JobInput DepositsOf(SharedRecords* records) {
  return {.what = "deposits",
          .mend = "accept what is missing, or correct the job, at all three parties",
          .load = [records]() -> Loaded {
            if (records == nullptr)
              throw ConfigError(
                  "data.source: found \"store\", expected \"files\": trefoil run and check alone read a "
                  "store");
            return {.said = records->Load()};
          }};
}

SharedRecords::Checked TakeDeposits(mpc::Context& party, SharedRecords& records, Output& output,
                                    const Output::Events& plan) {
  auto deposits = records.Share(
      party, [&](const Population& one) { return output.WhyCapped(one, plan); }, output.RunId());
  output.ChargeTo(deposits.populations);
  for (const auto& warning : deposits.warnings) output.Warn(warning);
  return deposits;
}

}  // namespace trefoil::jobs
