#include "jobs/sum/settings.h"

#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/ceil_log2.h"
#include "base/error.h"
#include "jobs/config/common_fields.h"
#include "jobs/deposited_vectors.h"
#include "jobs/records/source_fields.h"
#include "jobs/records/vector_bits.h"
#include "ml/batches/deposited_rows.h"
#include "ml/records.h"

namespace trefoil::jobs {
namespace {

constexpr int kUnitBits = 32;  // of norm_bound, unless the job says otherwise
constexpr int kMaxFractionBits = 60;

/// Such that norm_bound has more than 2^31 lattice units, and no more than 2^32.
int DefaultFractionBits(double norm_bound) {
  return norm_bound > 0 ? kUnitBits - CeilLog2(norm_bound) : kUnitBits;
}

void DataFields(FieldVisitor& v, SumSettings& s) {
  v("name", s.data_name, Name{},
    "Where `local` looks for `vectors.npy` (rows × dimension; of several calls `vectors-1.npy` …), with "
    "groups `keys.npy`, too. `vectors`: it draws some, unless a folder is given.");
  SourceFields(v, s.rows, s.store);
  v.Check([&](const Section& table) { CheckPurpose(s.store, table); });
}

/// The lattice of deposits is that of their rows.
void CheckDeposits(const SumSettings& s, const Section& table) {
  if (!s.store.on) return;
  if (s.dimension > kMostRowNumbers)
    table.Refuse("dimension", fmt::format("at most {} with data.source \"store\"", kMostRowNumbers));
  if (!ml::DepositedNormsFit(s.dimension, s.norm_bound, s.fraction_bits))
    table.Fail("norm_bound",
               fmt::format(
                   "found {} with {} numbers, {} fraction bits and data.source \"store\", expected less of "
                   "one of them: squared norms of deposited rows could leave the ring; a sum of vectors in a "
                   "larger unit has a smaller norm",
                   s.norm_bound, s.dimension, s.fraction_bits));
  if (ml::LargestSquaredNorm(s.norm_bound, s.fraction_bits) == 0)
    table.Fail("norm_bound",
               fmt::format("found {} with data.source \"store\", expected more than 2^-{}, the unit of a "
                           "row: vectors in a smaller unit",
                           s.norm_bound, s.fraction_bits));
}

int DefaultFractionBits(const SumSettings& s) {
  if (!s.store.on) return DefaultFractionBits(s.norm_bound);
  // Where none fit that is said behind this.
  return VectorBits(s.dimension, s.norm_bound).value_or(static_cast<int>(kStudyBits.least));
}

void CheckOfOwners(const SumSettings& s, const Section& table) {
  if (s.sampling_rate == 0) table.Refuse("sampling_rate", "a number above 0, at most 1");
}

/// Of parties' own files: how many sums, who adds up, and who takes part.
void CallFields(FieldVisitor& v, SumSettings& s) {
  v("calls", s.calls, WholeInterval{1, 100'000}, Default(1),
    "Sums, each of a file of every party; each is charged.");
  v("summed", s.owners_sum, OneOf<bool>{{false, "program"}, {true, "owner"}}, Default(false),
    "`program`: parties bring a vector a record, which the program shortens and adds up; `owner`: one "
    "vector, which its owner summed: that a record changes it by norm_bound at most is the owner's word.");
  const Condition owner{s.owners_sum, "sum.summed \"owner\""};
  v.When(owner, [&] {
    v("allowance", s.allowance, Interval{.above = 0.0, .below = 0x1p24}, Required{},
      "How much more a record may change in such a sum, as floating-point sums lose some.");
  });
  v.When({!s.owners_sum, "sum.summed \"program\"",
          "found a rate, expected none: of what an owner sums by itself nobody else draws the coins, so that "
          "every call is charged in full"},
         [&] {
           v("sampling_rate", s.sampling_rate, Fraction{true}, Default(1.0),
             "With which each unit of privacy is in a call, by private coins that the program draws anew in "
             "each.");
         });
}

void SumFields(FieldVisitor& v, SumSettings& s) {
  v("dimension", s.dimension, WholeInterval{1, std::int64_t{1} << 26}, "Numbers of a vector.");
  v("norm_bound", s.norm_bound, Interval{.above = 0x1p-24, .below = 0x1p24},
    "C: longer vectors of records are shortened to this L2 norm.");
  v.When({!s.store.on, "data.source \"files\"",
          "found it with data.source \"store\", whose jobs make one sum of all vectors that were deposited"},
         [&] { CallFields(v, s); });
  v("fraction_bits", s.fraction_bits, s.store.on ? kStudyBits : WholeInterval{0, kMaxFractionBits},
    Default(DefaultFractionBits(s))
        .Said("such that `norm_bound` has 32 bits; of deposits what their rows have room for, at most 24"),
    "Of the lattice of vectors and noise; of deposits 8 … 24.");
  v.Check([&](const Section& table) {
    CheckOfOwners(s, table);
    CheckDeposits(s, table);
  });
}

void UnitFields(FieldVisitor& v, SumSettings& s) {
  v("unit", s.unit,
    OneOf<dp::PrivacyUnit>{{dp::PrivacyUnit::kRecord, "record"}, {dp::PrivacyUnit::kGroup, "group"}},
    Default(dp::PrivacyUnit::kRecord),
    "`group`: all rows of one owner with the same key; where the program sums.");
  v.When({s.groups(), "privacy.unit \"group\""}, [&] {
    v("max_group_rows", s.max_group_rows, WholeInterval{1, ml::kMaxGroupRows},
      "More rows of one group in a call are an error (4).");
  });
  v.Check([&](const Section& table) {
    if (s.groups() && s.store.on)
      table.Refuse("unit", "\"record\" with data.source \"store\": deposited rows have no keys");
    if (s.groups() && s.owners_sum)
      table.Fail("unit", "found \"group\" with sum.summed \"owner\", expected norm_bound for whole groups");
  });
}

}  // namespace

void Fields(FieldVisitor& v, SumSettings& s) {
  HeaderFields(v, "sum", s.name);
  v.Table("data", "The owners' vectors.", [&] { DataFields(v, s); });
  v.Table("sum", "What is summed, and how.", [&] { SumFields(v, s); });
  GaussianTables(v, s,
                 {.privacy = "What the sums may tell.",
                  .target = "The target of all calls together, or `sigma`.",
                  .sigma = "The noise multiplier of each call: of any two parties' noise together.",
                  .to = "Who gets the sums.",
                  .local = "How `local` cuts the vectors. Not hashed."},
                 [&] { UnitFields(v, s); });
}

SumSettings ReadSumSettings(const toml::table& root, const std::string& file) {
  SumSettings job;
  ReadFields(root, file, job);
  return job;
}

std::uint64_t NormInUnits(const SumSettings& job) {
  const double units = std::floor(std::ldexp(job.norm_bound, job.fraction_bits));
  if (units < 1 || units > static_cast<double>(ml::kMaxNorm))
    throw ConfigError(
        fmt::format("sum.fraction_bits: found {}, expected some with which sum.norm_bound has 1 to 2^50 "
                    "units of the lattice",
                    job.fraction_bits));
  return static_cast<std::uint64_t>(units);
}

RecordSchema VectorsOf(const SumSettings& job) {
  auto records = VectorRows(job.dimension, job.norm_bound, job.fraction_bits);
  records.vectors = PlainVectors{};
  records.name = job.name;
  records.data.rows = job.rows;
  records.store = job.store;
  return records;
}

std::uint64_t SensitivityInUnits(const SumSettings& job) {
  if (job.store.on) return SensitivityOfDeposits(VectorsOf(job));
  const auto norm = NormInUnits(job);
  if (!job.owners_sum) return norm * static_cast<std::uint64_t>(job.max_group_rows);
  if (std::ldexp(job.allowance, job.fraction_bits) > static_cast<double>(ml::kMaxNorm))
    throw ConfigError(
        fmt::format("sum.allowance: found {}, expected at most 2^50 units of the lattice", job.allowance));
  return ml::SensitivityOfOwnersSum(job.norm_bound, job.allowance, job.fraction_bits, job.dimension);
}

void RequireSumInRing(const SumSettings& job, double sigma) {
  constexpr double kDeviations = 40;  // of all three parties' noise
  const auto record = std::ldexp(job.norm_bound + job.allowance, job.fraction_bits);
  const double noise = kDeviations * kAllOverTwo * sigma * static_cast<double>(SensitivityInUnits(job));
  const double most = static_cast<double>(job.records()) * record + noise;
  // A margin for the roundings here, and for a unit of rounding for each party.
  const int above = CeilLog2(most * (1 + 1e-9) + 3) - 63;
  if (above > 0)
    throw ConfigError(
        fmt::format("sum.fraction_bits: found {}, expected at most {}: the sum of all declared records, with "
                    "its noise, does not fit the ring",
                    job.fraction_bits, job.fraction_bits - above));
}

}  // namespace trefoil::jobs
