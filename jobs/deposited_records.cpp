#include "jobs/deposited_records.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "jobs/job_cost.h"
#include "jobs/records/record_fields.h"

namespace trefoil::jobs {
namespace {

// Of a block: as it was sealed, as it was opened, as records are encoded, and a step's copies; measured: 60.
constexpr double kBytesOfANumberInBlocks = 80;
// Of a row, for each of its outputs and for its clip factor: comparisons of 64 bits; measured: 650.
constexpr double kBytesOfAnOutputInBlocks = 800;

double OutputsOf(const RecordSchema& records) { return records.data.classes == 2 ? 1 : records.data.classes; }

/// With a squared norm, as rows are encoded.
double NumbersOfRow(const RecordSchema& records) {
  return static_cast<double>(TrainedFeatures(records)) + 2 + OutputsOf(records);
}

}  // namespace

double RowMemory(const RecordSchema& records) {
  return std::ldexp(static_cast<double>(records.store.memory.value_or(0)), 20);
}

double RowDisk(const RecordSchema& records) {
  if (!records.store.memory) return 0;
  return kBytesOfShare * static_cast<double>(records.data.rows[0]) * NumbersOfRow(records);
}

std::int64_t BlockRows(const RecordSchema& records) {
  if (!records.store.memory) return 0;
  const double of_row =
      kBytesOfANumberInBlocks * NumbersOfRow(records) + kBytesOfAnOutputInBlocks * (1 + OutputsOf(records));
  const double most = std::floor(RowMemory(records) / of_row);
  const double least =
      kFewestBlockRows * std::max(of_row, 2 * kBytesOfACheckedNumber * NumbersOfRow(records));
  if (RowMemory(records) < least)
    throw ConfigError(fmt::format("data.memory: found {}, expected at least {:.0f}, for {} rows of {} {}",
                                  *records.store.memory, std::ceil(std::ldexp(least, -20)), kFewestBlockRows,
                                  TrainedFeatures(records), records.added_up() ? "numbers" : "features"));
  const auto all = records.data.rows[0];
  const auto rows_at_most = std::min(static_cast<std::int64_t>(std::min(most, 1e15)), all);
  const auto blocks = (all + rows_at_most - 1) / rows_at_most;
  return (all + blocks - 1) / blocks;
}

int BlocksOfRows(const RecordSchema& records) {
  const auto rows = BlockRows(records);
  return rows == 0 ? 1 : static_cast<int>((records.data.rows[0] + rows - 1) / rows);
}

void ForEachBlock(const RecordSchema& records, SharedRecords::Checked& deposits,
                  const std::function<void(std::vector<mpc::ArithShare> rows)>& visit) {
  if (!records.store.memory) return visit(std::move(deposits.rows));
  for (int block = 0; block < BlocksOfRows(records); ++block) visit({deposits.batch(block)});
}

void RequireOwnRecords(const StoreSpec& store, const SplitTarget& target) {
  if (store.on)
    throw ConfigError(
        fmt::format("{}: {}.source: found \"store\", expected \"files\" where three "
                    "parties are dealt data: owners deposit theirs (docs/howto/owners.md)",
                    target.job_file.string(), store.table));
}

JobInput DepositsOf(SharedRecords* records, const RecordSchema& schema) {
  return {.what = "deposits",
          .mend = "accept what is missing, or correct the job, at all three parties",
          .load = [records, &schema]() -> Loaded {
            if (records == nullptr)
              throw ConfigError(fmt::format(
                  "{}.source: found \"store\", expected \"files\": trefoil run and check alone read a "
                  "store",
                  schema.store.table));
            return {.said = records->Load(schema)};
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
