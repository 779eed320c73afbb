#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "jobs/config/fields.h"
#include "jobs/config/party_file.h"
#include "jobs/job.h"
#include "jobs/records/schema.h"
#include "ml/dpsgd/training.h"

namespace trefoil::jobs {

/// [owners] of a job: data owners that the three parties act for, numbered party by party. All public but how
/// many records each owner really has.
struct Owners {
  std::array<std::int64_t, 3> count{};     ///< of each party
  std::int64_t min_rows = 0;               ///< that an owner with fewer counts as
  std::int64_t max_rows = 0;               ///< that an owner may have
  std::vector<std::int64_t> local_rows{};  ///< [local] owner_rows: of each owner in `local`; may be empty
  /// Whether records go to owners by their hash where their numbers are not said. Not for a record that is
  /// replaced by another, which would change two owners.
  bool by_hash = false;

  [[nodiscard]] std::int64_t all() const { return count[0] + count[1] + count[2]; }
};

/// The keys of [owners], for data as `data` declares it.
void OwnerFields(FieldVisitor& v, Owners& s, const data::DataSpec& data);
/// local.owner_rows.
void OwnerRowsField(FieldVisitor& v, Owners& s);

/// Deals the training data, to each party its owners' in one file: in its order, to each owner as many
/// records as local.owner_rows says; where that is empty, by hash, or else alike. Test records, where there
/// are any, go to deal.test. Returns what to say of it. Throws DataError; ConfigError, too, for images of
/// several owners that are not dealt by hash.
std::string DealToOwners(const RecordSchema& schema, const Owners& owners, const SplitTarget& deal);

/// The records of this party's owners: of its [data], as many for each as its [owners] rows say; without them
/// by hash (jobs/slices.h), so that a record that is added or removed is one owner's, wherever it stands.
/// Throws ConfigError where there are several owners and the numbers are missing without by_hash, or would be
/// of images in folders, which have no order to go by; DataError naming the owner for more than
/// owners.most_rows. An owner may have fewer than owners.least_rows, or none: a refusal would be seen by the
/// others. `threads`: for extracting features; 0: all cores.
[[nodiscard]] std::vector<ml::OwnRecords> LoadOwners(const RecordSchema& schema, const Owners& owners,
                                                     const PartyFile& party, const std::string& party_file,
                                                     std::size_t threads = 0);

}  // namespace trefoil::jobs
