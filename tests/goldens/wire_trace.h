#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "base/secrets/sha256.h"
#include "net/local_transport.h"

namespace trefoil::goldens {

/// What one party has sent to one peer: the frames of net/link/frame.h, numbered lane by lane and without a
/// session, as local transports write them. Lanes may be sent side by side, so that each is hashed for
/// itself.
class LinkTrace {
 public:
  void Add(net::Lane lane, std::uint32_t depth, net::Bytes payload);

  /// Frames, their bytes, and the SHA-256 over every lane's number and SHA-256, in ascending order. Once.
  [[nodiscard]] nlohmann::ordered_json Take();

 private:
  struct OfLane {
    Sha256 hash;
    std::uint64_t frames = 0;
    bool measured = false;  // figures are to come that say how long the link took
  };

  std::map<net::Lane, OfLane> lanes_;
  std::uint64_t frames_ = 0;
  std::uint64_t bytes_ = 0;
};

/// A party's links, which keep a trace of what it sends. The traces, by peer, outlive it.
class TracedTransport final : public net::Transport {
 public:
  TracedTransport(std::unique_ptr<net::Transport> inner, std::array<LinkTrace, net::kParties>& traces)
      : Transport(inner->self()), inner_(std::move(inner)), traces_(traces) {}

  void Abort(net::AbortReason reason) noexcept override { inner_->Abort(reason); }
  void Interrupt() noexcept override { inner_->Interrupt(); }

 protected:
  void Write(int peer, net::Message message) override;
  net::Message Read(int peer, net::Lane lane) override { return ReadThrough(*inner_, peer, lane); }

 private:
  std::unique_ptr<net::Transport> inner_;
  std::mutex mutex_;  // lanes send side by side
  std::array<LinkTrace, net::kParties>& traces_;
};

}  // namespace trefoil::goldens
