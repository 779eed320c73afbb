#include "mesh_testing.h"

#include <algorithm>
#include <thread>

#include "base/error.h"
#include "net/start/free_ports.h"

namespace trefoil::net::testing_support {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

TestMesh::TestMesh() {
  const auto ports = FreeLoopbackPorts();
  for (int self = 0; self < kParties; ++self) {
    MeshConfig& mine = config(self);
    mine.self = self;
    mine.listen_host = "127.0.0.1";
    mine.listen_port = ports[static_cast<std::size_t>(self)];
    mine.identity = IdentityOf(self);
    std::size_t next = 0;
    for (int peer = 0; peer < kParties; ++peer) {
      if (peer == self) continue;
      mine.peers[next++] = {.id = peer,
                            .host = "127.0.0.1",
                            .port = ports[static_cast<std::size_t>(peer)],
                            .certificate_pem = IdentityOf(peer).certificate_pem};
    }
    mine.start_timeout = milliseconds(10'000);
    mine.peer_timeout = milliseconds(2'000);
    mine.job_json = R"({"name":"test","privacy":{"epsilon":3.0}})";
    mine.log = [this, self](const std::string& line) {
      const std::lock_guard lock(mutex_);
      lines_.push_back(std::to_string(self) + ": " + line);
    };
  }
}

std::array<CertificateHash, kParties> TestMesh::Pins() {
  std::array<CertificateHash, kParties> pins{};
  for (int party = 0; party < kParties; ++party)
    pins.at(static_cast<std::size_t>(party)) = HashCertificate(IdentityOf(party).certificate_pem);
  return pins;
}

const Identity& TestMesh::IdentityOf(int party) {
  static const std::array<Identity, kParties> identities{MakeIdentity("party-0"), MakeIdentity("party-1"),
                                                         MakeIdentity("party-2")};
  return identities.at(static_cast<std::size_t>(party));
}

const Identity& TestMesh::Stranger() {
  static const Identity stranger = MakeIdentity("party-1");
  return stranger;
}

std::vector<std::string> TestMesh::Lines() {
  const std::lock_guard lock(mutex_);
  return lines_;
}

bool TestMesh::Logged(const std::string& part) {
  const auto lines = Lines();
  return std::any_of(lines.begin(), lines.end(),
                     [&](const auto& line) { return line.find(part) != std::string::npos; });
}

bool TestMesh::WaitForLog(const std::string& part, milliseconds limit) {
  const auto end = steady_clock::now() + limit;
  while (steady_clock::now() < end) {
    if (Logged(part)) return true;
    std::this_thread::sleep_for(milliseconds(5));
  }
  return false;
}

Outcome RunParty(const MeshConfig& config, const Body& body) {
  Outcome outcome;
  const auto start = steady_clock::now();
  const auto fill = [&](Outcome::Kind kind, const std::exception& error) {
    outcome.kind = kind;
    outcome.text = error.what();
  };
  try {
    const auto transport = ConnectMesh(config);
    body(*transport);
  } catch (const BudgetError& error) {
    outcome.kind = Outcome::Kind::kBudget;
    outcome.text = error.what();
  } catch (const NetworkError& error) {
    fill(Outcome::Kind::kNetwork, error);
    outcome.peer = error.peer();
  } catch (const ProtocolError& error) {
    fill(Outcome::Kind::kProtocol, error);
  } catch (const ConfigError& error) {
    fill(Outcome::Kind::kConfig, error);
  } catch (const std::exception& error) {
    fill(Outcome::Kind::kOther, error);
  }
  outcome.seconds_since_start = std::chrono::duration_cast<milliseconds>(steady_clock::now() - start);
  return outcome;
}

std::array<Outcome, kParties> RunParties(TestMesh& mesh, const std::vector<int>& parties,
                                         const std::function<void(int, MeshTransport&)>& body) {
  std::array<Outcome, kParties> outcomes;
  std::vector<std::thread> threads;
  for (const int party : parties) {
    threads.emplace_back([&, party] {
      outcomes[static_cast<std::size_t>(party)] =
          RunParty(mesh.config(party), [&](MeshTransport& transport) { body(party, transport); });
    });
  }
  for (auto& thread : threads) thread.join();
  return outcomes;
}

}  // namespace trefoil::net::testing_support
