#pragma once
#include <string>

#include "jobs/config/party_file.h"
#include "mpc/prss.h"
#include "net/mesh/mesh.h"

namespace trefoil::runtime {

/// This party's identity from its files: the key's mode is checked, and that it belongs to the certificate.
/// Throws ConfigError naming the file and how to mend it.
[[nodiscard]] net::Identity ReadIdentity(const jobs::PartyFile& party);

/// What net needs to meet the peers, as one of the party's ranks, certificates read. `job_json` may be empty
/// for a check without a job.
/// Throws ConfigError naming a file that is missing.
[[nodiscard]] net::MeshConfig MeshConfigOf(const jobs::PartyFile& party, const std::string& job_json,
                                           int rank = 0);

/// Keys of this session alone: bound to its id and to the hash of the job (mpc::AgreeOnKeys, whose cost and
/// errors it has).
[[nodiscard]] mpc::Prss AgreeOnSessionKeys(net::MeshTransport& mesh);

}  // namespace trefoil::runtime
