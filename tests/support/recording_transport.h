#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "net/local_transport.h"
#include "tests/support/run_parties.h"

namespace trefoil::testing_support {

/// What a party has received, in its program's order.
struct Received {
  int from = 0;
  net::Bytes payload;
};
using Transcript = std::vector<Received>;

/// NOT SECRET: keeps a copy of every payload that a party receives. The transcript outlives the transport.
class RecordingTransport final : public net::Transport {
 public:
  RecordingTransport(std::unique_ptr<net::Transport> inner, Transcript& transcript)
      : Transport(inner->self()), inner_(std::move(inner)), transcript_(transcript) {}

  void Abort(net::AbortReason reason) noexcept override { inner_->Abort(reason); }

 protected:
  void Write(int peer, net::Message message) override { WriteThrough(*inner_, peer, std::move(message)); }
  net::Message Read(int peer) override {
    net::Message message = ReadThrough(*inner_, peer);
    transcript_.push_back({.from = peer, .payload = message.payload});
    return message;
  }

 private:
  std::unique_ptr<net::Transport> inner_;
  Transcript& transcript_;
};

/// Local transports that record into `transcripts`, one a party.
inline Transports MakeRecordingTransports(std::array<Transcript, net::kParties>& transcripts) {
  Transports transports = net::MakeLocalTransports(std::chrono::seconds(60));
  for (std::size_t self = 0; self < transports.size(); ++self) {
    transports[self] = std::make_unique<RecordingTransport>(std::move(transports[self]), transcripts[self]);
  }
  return transports;
}

}  // namespace trefoil::testing_support
