#include "fault_transport.h"

#include <thread>
#include <utility>

#include "base/error.h"

namespace trefoil::net {

FaultTransport::FaultTransport(std::unique_ptr<Transport> inner, Fault fault)
    : Transport(inner->self()), inner_(std::move(inner)), fault_(fault) {}

void FaultTransport::Abort(AbortReason reason) noexcept {
  if (!IsCut()) inner_->Abort(reason);
}

void FaultTransport::Write(int peer, Message message) {
  if (IsCut()) throw NetworkError(peer, "cut off by a fault");
  if (sent_++ == fault_.message) {
    switch (fault_.kind) {
      case FaultKind::kNone:
        break;
      case FaultKind::kDrop:
      case FaultKind::kCut:
        return;
      case FaultKind::kDelay:
        std::this_thread::sleep_for(fault_.delay);
        break;
      case FaultKind::kTruncate:
        if (message.payload.empty()) {
          message.payload.push_back(std::byte{0});
        } else {
          message.payload.pop_back();
        }
        break;
      case FaultKind::kExtend:
        message.payload.push_back(std::byte{0});
        break;
      case FaultKind::kFlip:
        if (message.payload.empty()) message.payload.push_back(std::byte{0});
        message.payload[message.payload.size() / 2] ^= std::byte{1};
        break;
    }
  }
  WriteThrough(*inner_, peer, std::move(message));
}

Message FaultTransport::Read(int peer, Lane lane) {
  if (IsCut()) throw NetworkError(peer, "cut off by a fault");
  return ReadThrough(*inner_, peer, lane);
}

}  // namespace trefoil::net
