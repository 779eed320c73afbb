#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/secrets/random.h"
#include "jobs/sum/settings.h"
#include "mpc/ring.h"
#include "trefoil/run.h"

namespace trefoil::jobs {

/// What one party's program adds to the sums of a job, call after call, with coins and roundings of this
/// side: the same as of files (own_sums.h), but that the program is asked for the vectors of the records that
/// are taken, and for no others.
class ProgramSums {
 public:
  /// `coins` is RandomStream::FromSystem() but in tests. Both others outlive the object. Throws DataError for
  /// more records than `most`, and for keys that are not what the job declares.
  ProgramSums(const SumSettings& job, VectorProgram& program, std::int64_t most, RandomStream coins);

  [[nodiscard]] std::int64_t records() const { return records_; }
  /// Before the first Next, which is of the call behind the first `begun`: as VectorProgram::Begins.
  void StartBehind(std::int64_t begun, std::int64_t shared);
  /// Draws the next call's coins and asks the program for its vectors: dimension x 1. Nothing where the
  /// program ends the session in this call. Throws DataError naming the call and the record for what is no
  /// finite number, and for other numbers than one vector a record; and what the program throws.
  [[nodiscard]] std::optional<mpc::RingMatrix> Next();
  /// Tells the program the sum of the call that Next was for; no numbers where it is not opened to this
  /// party.
  void Opened(std::span<const double> sum);

 private:
  [[nodiscard]] std::optional<mpc::RingMatrix> SumOfRows(std::span<const std::int64_t> rows);
  /// As VectorProgram::Bring, which may take as long as it likes.
  [[nodiscard]] bool Bring(std::span<const std::int64_t> rows, const VectorProgram::Add& add);
  [[nodiscard]] std::optional<mpc::RingMatrix> SumOfOwner(std::span<const std::int64_t> rows);

  const SumSettings& job_;
  VectorProgram& program_;
  std::int64_t most_;  ///< records that the job declares of this party
  std::int64_t records_;
  std::vector<std::int64_t> groups_{};
  RandomStream coins_;
  std::int64_t call_ = 0;  ///< from 1
};

}  // namespace trefoil::jobs
