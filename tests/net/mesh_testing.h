#pragma once
#include <array>
#include <chrono>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "net/mesh/mesh.h"
#include "net/start/handshake.h"

namespace trefoil::net::testing_support {

/// Three parties on loopback, with identities made once per process, fresh ports and short time-outs.
class TestMesh {
 public:
  TestMesh();

  [[nodiscard]] MeshConfig& config(int party) { return configs_[static_cast<std::size_t>(party)]; }
  [[nodiscard]] static const Identity& IdentityOf(int party);
  [[nodiscard]] static const Identity& Stranger();
  /// By which the parties know each other.
  [[nodiscard]] static std::array<CertificateHash, kParties> Pins();

  /// The lines that the parties have logged so far, each beginning with "N: ".
  [[nodiscard]] std::vector<std::string> Lines();
  [[nodiscard]] bool Logged(const std::string& part);
  /// Waits until a line with `part` has been logged; false after `limit`.
  [[nodiscard]] bool WaitForLog(const std::string& part,
                                std::chrono::milliseconds limit = std::chrono::seconds(5));

 private:
  std::array<MeshConfig, kParties> configs_;
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

/// How one party ended.
struct Outcome {
  enum class Kind { kDone, kNetwork, kProtocol, kBudget, kConfig, kOther };
  Kind kind = Kind::kDone;
  int peer = -1;  ///< of a NetworkError
  std::string text;
  std::chrono::milliseconds seconds_since_start{0};
};

using Body = std::function<void(MeshTransport&)>;

/// Connects and runs one party in this thread.
[[nodiscard]] Outcome RunParty(const MeshConfig& config, const Body& body);

/// Connects and runs the given parties, each in its thread, and returns their outcomes by party.
[[nodiscard]] std::array<Outcome, kParties> RunParties(TestMesh& mesh, const std::vector<int>& parties,
                                                       const std::function<void(int, MeshTransport&)>& body);

}  // namespace trefoil::net::testing_support
