#pragma once
#include <optional>

#include "base/error.h"
#include "jobs/job_of.h"
#include "ml/ranks/rank_sums.h"
#include "mpc/ranks.h"

namespace trefoil::jobs {

/// A job of noisy sums, which the machines of a party can share: each of them reads a part of the party's own
/// data, and shares, adds noise to and opens its slice of the sum (ml/ranks/rank_sums.h). The type says in
/// Serve what they do.
template <typename Settings>
class RankedJobOf : public JobOf<Settings> {
 public:
  using JobOf<Settings>::JobOf;

  void UseRanks(int ranks) final {
    if (ranks > 1 && this->job().store.on)
      throw ConfigError("data.source: found \"store\", expected \"files\", with [party] ranks above 1");
    rank_count_ = ranks;
  }
  void TakeRanks(mpc::Ranks& ranks) final {
    Require(ranks.count() == rank_count_, "RankedJobOf::TakeRanks: as many as the job is to be run by");
    ranks_ = &ranks;
  }
  void ServeInputs(const PartyFile& party, const std::string& party_file, const Resources& resources) final {
    (void)this->Load(party, party_file, resources);
  }

 protected:
  /// Machines of a party, as planned.
  [[nodiscard]] int rank_count() const { return rank_count_; }
  /// They, of this party; null where there is one, or where its inputs are checked and nothing is run.
  [[nodiscard]] mpc::Ranks* ranks() const { return ranks_; }
  /// How many of a sum's numbers each machine works on; of one machine all.
  [[nodiscard]] mpc::Index SliceOf(mpc::Index numbers) const { return ml::SliceOf(numbers, rank_count_); }
  /// Called by all behind rank 0's Settle: before it nobody sends a peer anything that opens.
  void WaitForSettled() const {
    if (ranks_ != nullptr) ranks_->Barrier();
  }
  /// What was opened to this party of all slices of a sum of `numbers`: at rank 0 alone.
  [[nodiscard]] std::optional<mpc::RingMatrix> Joined(std::optional<mpc::RingMatrix> slice,
                                                      mpc::Index numbers) const {
    if (ranks_ == nullptr || !slice) return slice;
    return ml::JoinSlices(*slice, numbers, *ranks_);
  }

 private:
  int rank_count_ = 1;
  mpc::Ranks* ranks_ = nullptr;
};

}  // namespace trefoil::jobs
