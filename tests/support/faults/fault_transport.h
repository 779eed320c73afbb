#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

#include "net/transport.h"

namespace trefoil::net {

/// What goes wrong at one message.
enum class FaultKind {
  kNone,
  kDrop,      ///< the message is lost, later ones arrive
  kCut,       ///< this and every later message is lost without notice, and this party's next call fails
  kDelay,     ///< the message is late by Fault::delay
  kTruncate,  ///< the last byte is missing (a message without payload is extended)
  kExtend,    ///< one byte too many
  kFlip,      ///< one bit of the payload is wrong (a message without payload is extended)
};

struct Fault {
  FaultKind kind = FaultKind::kNone;
  std::uint64_t message = 0;  ///< the faulty one, counting this party's sends from 0
  std::chrono::milliseconds delay{0};
};

/// A transport with one fault in what it sends, for tests that a protocol ends in a typed error. Counts as
/// the inner one would; use only one of the two.
class FaultTransport final : public Transport {
 public:
  FaultTransport(std::unique_ptr<Transport> inner, Fault fault);

  void Abort(AbortReason reason) noexcept override;
  void Interrupt() noexcept override { inner_->Interrupt(); }

  /// Whether the faulty message has been sent.
  [[nodiscard]] bool struck() const { return sent_ > fault_.message; }

 protected:
  void Write(int peer, Message message) override;
  Message Read(int peer, Lane lane) override;

 private:
  [[nodiscard]] bool IsCut() const { return fault_.kind == FaultKind::kCut && struck(); }

  std::unique_ptr<Transport> inner_;
  Fault fault_;
  std::atomic<std::uint64_t> sent_ = 0;
};

}  // namespace trefoil::net
