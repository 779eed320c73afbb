#pragma once
#include "jobs/config/common_fields.h"
#include "jobs/job.h"

namespace hello {

/// The mean of a column of numbers of three parties, with discrete Gaussian noise of each party.
extern const trefoil::jobs::JobType kHelloMean;

/// Such a job, checked.
struct Settings {
  std::string name;
  std::array<std::int64_t, 3> rows{};  ///< public: over how many numbers of each party the mean is taken
  std::string column;
  double low = 0;
  double high = 1;
  double epsilon = 0;
  double delta = 0;
  trefoil::dp::AccountantKind accountant = trefoil::dp::AccountantKind::kPld;  ///< exact for one Gaussian
  std::vector<int> to{0, 1, 2};
};

/// Every key of the job, once: what reads, writes, hashes and documents job files visits them.
inline void Fields(trefoil::jobs::FieldVisitor& v, Settings& s) {
  using namespace trefoil::jobs;
  constexpr Interval kNumbers{.above = -1e9, .below = 1e9};
  HeaderFields(v, "hello-mean", s.name);
  v.Table("data", "The owners' numbers; `local` looks for `NAME/train.csv`.", [&] {
    RowsField(v, s.rows);
    v("column", s.column, Text{}, "The file's only column, as its header has it.");
    v("low", s.low, kNumbers, "Smaller numbers count as this one.");
    v("high", s.high, kNumbers, "Larger numbers count as this one, missing ones as the middle.");
    v.Check([&](const Section& table) {
      if (s.low >= s.high) table.Refuse("high", "a number above data.low");
      if (s.rows == std::array<std::int64_t, 3>{}) table.Refuse("rows", "at least one row in all");
    });
  });
  v.Table("privacy", "What the mean may tell.", [&] {
    v("epsilon", s.epsilon, kEpsilons, "Of an insider, for one number added or removed.");
    v("delta", s.delta, kDeltas, "At which both ε are said.");
  });
  ReleaseFields(v, "Who gets the mean.", s.to, false);
}

}  // namespace hello
