#pragma once
#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "net/local_transport.h"
#include "tests/support/run_parties.h"
#include "tests/support/secrecy/stamp.h"

namespace trefoil::testing_support {

/// A message that a party has sent or received.
struct Event {
  bool received = false;
  int peer = 0;
  net::Bytes payload;
  net::Lane lane = 0;
  std::uint64_t operation = CurrentOperation();
  std::uint64_t stamp = NextStamp();
};

/// All of them, in the order of the party's program (of each of its branches).
using Transcript = std::vector<Event>;

inline std::size_t CountReceived(const Transcript& transcript) {
  return static_cast<std::size_t>(
      std::count_if(transcript.begin(), transcript.end(), [](const Event& event) { return event.received; }));
}

/// What a transcript is to have.
enum class Recorded { kAll, kReceived };

/// NOT SECRET: keeps a copy of every payload that is to be recorded. The transcript outlives the transport.
class RecordingTransport final : public net::Transport {
 public:
  RecordingTransport(std::unique_ptr<net::Transport> inner, Transcript& transcript, Recorded recorded)
      : Transport(inner->self()), inner_(std::move(inner)), transcript_(transcript), recorded_(recorded) {}

  void Abort(net::AbortReason reason) noexcept override { inner_->Abort(reason); }
  void Interrupt() noexcept override { inner_->Interrupt(); }

 protected:
  void Write(int peer, net::Message message) override {
    if (recorded_ == Recorded::kAll)
      Record({.received = false, .peer = peer, .payload = message.payload, .lane = message.lane});
    WriteThrough(*inner_, peer, std::move(message));
  }
  net::Message Read(int peer, net::Lane lane) override {
    net::Message message = ReadThrough(*inner_, peer, lane);
    Record({.received = true, .peer = peer, .payload = message.payload, .lane = message.lane});
    return message;
  }

 private:
  void Record(Event event) {
    const std::lock_guard lock(mutex_);
    transcript_.push_back(std::move(event));
  }

  std::unique_ptr<net::Transport> inner_;
  std::mutex mutex_;  // branches record side by side
  Transcript& transcript_;
  Recorded recorded_;
};

/// Local transports that record into `transcripts`, one a party.
inline Transports MakeRecordingTransports(std::array<Transcript, net::kParties>& transcripts,
                                          Recorded recorded = Recorded::kAll) {
  Transports transports = net::MakeLocalTransports(kPartyPatience);
  for (std::size_t self = 0; self < transports.size(); ++self) {
    transports[self] =
        std::make_unique<RecordingTransport>(std::move(transports[self]), transcripts[self], recorded);
  }
  return transports;
}

}  // namespace trefoil::testing_support
