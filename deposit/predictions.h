#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "deposit/format/header.h"
#include "deposit/keys.h"
#include "jobs/records/schema.h"
#include "jobs/shared_records.h"
#include "mpc/ring.h"

namespace trefoil::deposit {

/// The file by which a party hands the owner of a deposit its part of the predictions of its rows, byte by
/// byte: docs/reference/deposits.md, "Predictions". A header in the clear, then the party's two components,
/// sealed to the owner (deposit/format/sealed_body.h), with the header as associated data. Nobody signs it.
struct PredictionsHeader {
  Hash deposit{};                      ///< its id
  std::array<std::uint8_t, 16> run{};  ///< that made the model
  Hash job{};                          ///< that predicts
  std::uint64_t rows = 0;              ///< of the deposit, padding included
  std::uint64_t columns = 0;           ///< 1, or logits of a row
  bool scores = false;                 ///< whether these are logits; else numbers of classes
  std::uint64_t fraction_bits = 0;     ///< of logits
  mpc::Word decision = 0;              ///< of one logit a row: above which it means class 1

  friend bool operator==(const PredictionsHeader&, const PredictionsHeader&) = default;
};

/// What the owner has of one party.
struct PredictionsPart {
  int party = 0;
  PredictionsHeader header;
  std::array<mpc::RingMatrix, 2> components{};  ///< the party's own and the next
};

inline constexpr std::size_t kPredictionsHeaderBytes = 132;

/// Party `party`'s file for the owner with that key. Pre: SealingKeyOf(owner) is there; ids as
/// jobs::PartForOwner has them; a row at least.
[[nodiscard]] std::string SealPredictions(const jobs::PartForOwner& part, int party, const PublicKey& owner);

/// What such a file holds; `file` names it in errors. Time and memory: in proportion to its length. Throws
/// DataError for anything else than SealPredictions would give for this owner.
[[nodiscard]] PredictionsPart OpenPredictions(std::string_view content, const KeyPair& owner,
                                              const std::filesystem::path& file);

/// What the parts add up to: a line a row of the deposit. `files` names them in errors. Throws DataError
/// unless they are of parties 0, 1 and 2, in any order, of one deposit, run and job, and both holders of each
/// component say the same of it: of a party that does not, the error names the file, or the two of which one
/// is not what the others agree with.
[[nodiscard]] mpc::RingMatrix AddUp(const std::vector<PredictionsPart>& parts,
                                    const std::vector<std::filesystem::path>& files);

/// predictions.csv of the records that lie in these rows, in their order, as a client gets it of the study's
/// data (jobs/evaluation/predictions.h). `results`: as AddUp. Throws DataError where a class is none of the
/// study's.
[[nodiscard]] std::string PredictionsCsvOf(const PredictionsHeader& header, const mpc::RingMatrix& results,
                                           const std::vector<std::int64_t>& of_records,
                                           const jobs::RecordSchema& records);

}  // namespace trefoil::deposit
