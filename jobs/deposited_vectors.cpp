#include "jobs/deposited_vectors.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

#include "jobs/config/at_place.h"
#include "jobs/config/common_fields.h"
#include "jobs/deposited_records.h"
#include "jobs/job_cost.h"
#include "jobs/records/record_fields.h"
#include "jobs/records/vector_bits.h"
#include "jobs/statistics/layout.h"
#include "jobs/statistics/settings.h"
#include "ml/on_deposits/deposited_sum.h"
#include "ml/records.h"

namespace trefoil::jobs {
namespace {

/// What follows from what a study says of rows that are added up.
void CompleteStudy(RecordSchema& s, const Section& document) {
  if (s.vectors && s.statistics)
    document.Fail("vectors", "found it beside [statistics], expected one of both");
  const int bits = s.fraction_bits;
  if (s.vectors) {
    if (s.features.row_norm <= std::ldexp(1.0, -bits))
      document.Table("vectors").Refuse("norm_bound",
                                       fmt::format("more than 2^-{}, the unit of a number", bits));
    const auto rows = VectorRows(s.data.features, s.features.row_norm, bits);
    s.data = rows.data;
  }
  if (!s.statistics) return;
  const auto rows = AtPlace(document.file(), [&] { return VectorsOf(*s.statistics); });
  if (bits != rows.fraction_bits)
    document.Refuse("fraction_bits",
                    fmt::format("{}, for rows of {} numbers", rows.fraction_bits, rows.data.features));
  s.data = rows.data;
  s.features = rows.features;
}

}  // namespace

RecordSchema VectorRows(std::int64_t numbers, double norm, int fraction_bits) {
  RecordSchema rows;
  rows.fraction_bits = fraction_bits;
  rows.data.format = data::Format::kNpy;
  rows.data.features = numbers;
  rows.data.classes = 2;  // a label of one word, which is 0
  rows.features.row_norm = norm;
  return rows;
}

RecordSchema VectorsOf(const StatisticsSpec& spec) {
  const auto layout = DepositedLayoutOf(spec);
  auto rows = VectorRows(layout.size, 1, layout.bits);
  rows.statistics = spec;
  return rows;
}

void StudyRecordsFields(FieldVisitor& v, RecordSchema& s) {
  NameField(v, s.name);
  v("fraction_bits", s.fraction_bits, kStudyBits, "Bits behind the point of what is shared.");
  v.Table("vectors", "Of vectors that are added up, as an NPY file has them, a row each.", s.vectors,
          [&](PlainVectors&) {
            v("dimension", s.data.features, WholeInterval{1, kMostRowNumbers}, "Numbers of a vector.");
            v("norm_bound", s.features.row_norm, Interval{.above = 0.0, .below = 0x1p24},
              "Longer vectors are shortened to this L2 norm before they are deposited.");
          });
  v.Table(
      "statistics",
      "Of records whose statistics are released, as `[data]` and `[statistics]` of a job have them: what is "
      "deposited is a vector for each.",
      s.statistics, [&](StatisticsSpec& one) { Fields(v, one); });
  v.When({!s.added_up(), "records: neither `[vectors]` nor `[statistics]`",
          "found it beside [vectors] or [statistics], expected one of them"},
         [&] { ColumnsFields(v, s); });
  v.Check([&](const Section& document) { CompleteStudy(s, document); });
}

DepositKind KindOfDeposits(const RecordSchema& records) {
  if (records.statistics) return DepositKind::kStatistics;
  return records.vectors ? DepositKind::kVectors : DepositKind::kRecords;
}

const char* JobsOn(DepositKind kind) {
  switch (kind) {
    case DepositKind::kRecords:
      return "on records";
    case DepositKind::kVectors:
      return "of type \"sum\"";
    case DepositKind::kStatistics:
      return "of type \"statistics\"";
  }
  throw ContractError("JobsOn: unknown kind");
}

std::uint64_t SensitivityOfDeposits(const RecordSchema& records) {
  return ml::LargestNorm(ml::LargestSquaredNorm(records.features.row_norm, records.fraction_bits));
}

mpc::AdditiveShare SumOfDeposits(const RecordSchema& records, SharedRecords::Checked& deposits) {
  const auto numbers = records.data.features;
  mpc::AdditiveShare sum(mpc::RingMatrix::Zero(numbers, 1));
  ForEachBlock(records, deposits, [&](const std::vector<mpc::ArithShare>& rows) {
    sum = sum + ml::SumOfDeposited(numbers, rows);
  });
  return sum;
}

double MemoryOfDeposits(const RecordSchema& records) {
  if (BlockRows(records) > 0) return RowMemory(records);
  constexpr double kMaskAndLabel = 2;
  constexpr double kBytesOfAnOpenedNumber = 8;  // four at most, twice; of mask and label twice as many
  const double numbers = static_cast<double>(records.data.features) + kMaskAndLabel;
  const auto rows = records.data.rows[0];
  const auto at_once =
      std::max(kFewestCheckedRows, static_cast<std::int64_t>(static_cast<double>(kCheckedAtOnce) / numbers));
  return static_cast<double>(rows) *
             (kBytesOfShare * numbers + kBytesOfAnOpenedNumber * (numbers + kMaskAndLabel)) +
         kBytesOfACheckedNumber * numbers * static_cast<double>(std::min(rows, at_once));
}

}  // namespace trefoil::jobs
