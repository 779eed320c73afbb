#pragma once
#include <array>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "tests/data/temporary_folder.h"
#include "tests/net/mesh_testing.h"

namespace trefoil::testing_support {

/// Party files of three parties on this machine, with what they name.
class ThreePartyFiles {
 public:
  ThreePartyFiles() {
    net::testing_support::TestMesh mesh;
    for (int self = 0; self < 3; ++self) {
      const auto& config = mesh.config(self);
      const auto name = std::to_string(self);
      (void)folder_.Put(name + ".crt", net::testing_support::TestMesh::IdentityOf(self).certificate_pem);
      const auto key =
          folder_.Put(name + ".key", net::testing_support::TestMesh::IdentityOf(self).private_key_pem);
      std::filesystem::permissions(key, std::filesystem::perms::owner_read);
      std::string text = "[party]\nid = " + name +
                         "\nlisten = \"127.0.0.1:" + std::to_string(config.listen_port) +
                         "\"\n\n[timeouts]\nstart = \"10s\"\n\n[tls]\ncertificate = \"" + name +
                         ".crt\"\nprivate_key = \"" + name + ".key\"\n";
      for (const auto& peer : config.peers) {
        const auto id = std::to_string(peer.id);
        text += "\n[[peer]]\nid = " + id + "\naddress = \"127.0.0.1:" + std::to_string(peer.port) +
                "\"\ncertificate = \"" + id + ".crt\"\n";
      }
      (void)folder_.Put(name + ".toml", text);
    }
  }

  /// Adds to each party file what `text` says of that party.
  template <typename Text>
  void Append(Text text) {
    for (int party = 0; party < 3; ++party) {
      std::ofstream((*this)[party], std::ios::app) << "\n" << text(party);
    }
  }

  [[nodiscard]] const data::TemporaryFolder& folder() const { return folder_; }
  [[nodiscard]] std::filesystem::path operator[](int party) const {
    return folder_ / (std::to_string(party) + ".toml");
  }

 private:
  data::TemporaryFolder folder_;
};

/// Calls body(party) at three parties, a thread each; what each ended with.
template <typename Body>
std::array<std::string, 3> AtThree(Body body) {
  std::array<std::string, 3> ends;
  std::array<std::thread, 3> threads;
  for (int party = 0; party < 3; ++party) {
    threads.at(static_cast<std::size_t>(party)) = std::thread([&, party] {
      try {
        ends.at(static_cast<std::size_t>(party)) = body(party);
      } catch (const std::exception& error) {
        ends.at(static_cast<std::size_t>(party)) = error.what();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  return ends;
}

}  // namespace trefoil::testing_support
