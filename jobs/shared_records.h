#pragma once
#include <array>
#include <compare>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "jobs/config/party_file.h"
#include "jobs/records/schema.h"
#include "ml/dpsgd/training.h"
#include "mpc/context.h"
#include "mpc/ring.h"
#include "mpc/share.h"

namespace trefoil::jobs {

/// Whose records a deposit has, as one party knows them.
struct Population {
  std::string owner;  ///< the party's own name for it
  std::string name;   ///< as the owner says

  friend auto operator<=>(const Population&, const Population&) = default;
};

/// One party's part of what the owner of a deposit gets: predictions of its rows, in their order.
struct PartForOwner {
  std::string deposit{};                        ///< as in SharedRecords::Checked
  std::string run{};                            ///< the id of the run that made the model
  std::string job{};                            ///< HashOf the job that predicts
  bool scores = false;                          ///< whether these are logits; else numbers of classes
  int fraction_bits = 0;                        ///< of logits
  mpc::Word decision = 0;                       ///< of one logit a row: above which it means class 1
  std::array<mpc::RingMatrix, 2> components{};  ///< of protocols::HandOut, a line a row
};

/// Why a population's budget at this party has no room for the job, in a sentence; empty: it has.
using CapOf = std::function<std::string(const Population& population)>;

/// Records that no party brings: all three hold them on shares before a job begins, as owners deposited them.
class SharedRecords {
 public:
  /// Rows that were checked on shares, and what there is to say of them: the same at all three parties but
  /// for `warnings`.
  struct Checked {
    std::vector<mpc::ArithShare> rows{};  ///< one below the other; columns as ml/batches/deposited_rows.h
    std::vector<std::string> deposits{};  ///< of each of `rows` the deposit's id, in hexadecimal
    /// In place of them, where the schema has batches; with data.memory blocks of BlockRows().
    ml::DepositedBatch batch{};
    nlohmann::ordered_json summary{};       ///< for summary.json
    std::vector<std::string> warnings{};    ///< for the operator, a line each
    std::vector<Population> populations{};  ///< whose rows these are, each once
  };

  virtual ~SharedRecords() = default;

  /// Looks at what this party has of those that `records` name, as far as one party can. Returns what to say
  /// of it. Throws ConfigError or DataError.
  [[nodiscard]] virtual std::string Load(const RecordSchema& records) = 0;
  /// Whose records this party has, each once. After Load.
  [[nodiscard]] virtual std::vector<Population> Populations() = 0;
  /// With both peers: agrees on which records are used, and checks them. After Load. What is capped at one
  /// party is left out at all three, or ends the run, as the job says. `run`: the run's id, the same at all
  /// three; batches are for one run, which this notes at all three before anything of them is sent, and what
  /// another run has is left out. Throws ConfigError or DataError at all three where they have not the same,
  /// or none is left; BudgetError where the job ends for a cap; NetworkError, ProtocolError.
  [[nodiscard]] virtual Checked Share(mpc::Context& party, const CapOf& cap, const std::string& run) = 0;
  /// The part as a file that the deposit's owner alone can open. After Share. Pre: one of Checked::deposits.
  [[nodiscard]] virtual std::string SealForOwner(const PartForOwner& part) = 0;
};

/// How a program that has a store of deposits gets at it, at one party; `party_file` names its party file in
/// errors.
using StoreOpener =
    std::function<std::unique_ptr<SharedRecords>(const PartyFile& party, const std::string& party_file)>;

}  // namespace trefoil::jobs
