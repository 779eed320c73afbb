#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "net/certificates/certificate.h"
#include "net/link/frame.h"
#include "net/transport.h"

namespace trefoil::net {

/// Two programs of different protocol versions do not work together.
inline constexpr std::uint32_t kProtocolVersion = 2;

/// More machines than any party has.
inline constexpr int kMaxRanks = 1024;

inline constexpr std::size_t kNonceBytes = 32;
inline constexpr std::size_t kHashBytes = 32;
using Nonce = std::array<std::uint8_t, kNonceBytes>;
using JobHash = std::array<std::uint8_t, kHashBytes>;

enum class Purpose : std::uint8_t { kRun = 1, kCheck = 2 };

/// The first frame of either side on a new link.
struct Hello {
  std::uint32_t version = kProtocolVersion;
  int sender = 0;
  int receiver = 0;
  Purpose purpose = Purpose::kRun;
  Nonce nonce{};
  JobHash job{};                                 ///< all zeros: no job
  std::int64_t clock_milliseconds = 0;           ///< the sender's wall clock, since 1970
  std::array<CertificateHash, kParties> pins{};  ///< by which the sender knows each party, its own included
  int ranks = 1;                                 ///< machines of the sender's party, at most kMaxRanks
  int rank = 0;                                  ///< which of them has sent this
};

/// From a party of one machine the bytes say nothing of ranks, as before there were any.
[[nodiscard]] Bytes EncodeHello(const Hello& hello);

/// Of a hello of another version only the version is read. Throws ProtocolError if the bytes are no hello.
[[nodiscard]] Hello DecodeHello(std::span<const std::byte> bytes);

/// SHA-256 of the job's text; all zeros for an empty text.
[[nodiscard]] JobHash HashJob(const std::string& job_json);

/// The first 16 bytes of the SHA-256 of a fixed prefix and the three parties' nonces, in the order of the
/// parties.
[[nodiscard]] SessionId MakeSession(const std::array<Nonce, kParties>& nonces);

/// Throws ConfigError unless `theirs`, the greeting of `peer`, fits `mine`: the same version, from that party
/// to this one, as many ranks, the same one of them, and the same certificates of all three parties. Somebody
/// who has put a certificate of their own between two parties, so that each takes it for the other's, is
/// found by the third one's pins.
void CheckGreeting(const Hello& mine, const Hello& theirs, int peer);

/// Whether the jobs are to be compared (a check without a job is not) and differ.
[[nodiscard]] bool JobsDiffer(const Hello& mine, const Hello& theirs);

/// One line that names the first key, in sorted order, in which two jobs differ: "privacy.epsilon: 3.0
/// here, 1.0 at party 1". Nothing is assumed about `theirs`, which came from the network.
[[nodiscard]] std::string DescribeJobDifference(const std::string& mine, const std::string& theirs, int peer);

}  // namespace trefoil::net
