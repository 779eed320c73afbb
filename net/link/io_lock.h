#pragma once
#include <mutex>

#include "net/link/asio.h"

namespace trefoil::net {

/// The lock of everything that one io_context's handlers work on: its thread holds it while a handler of a
/// channel runs, and other threads may only try for it. One for all channels, whose handlers call each other.
class IoLock final : public asio::execution_context::service {
 public:
  using key_type = IoLock;
  static inline asio::execution_context::id id;

  explicit IoLock(asio::execution_context& context) : service(context) {}

  [[nodiscard]] static std::recursive_mutex& Of(asio::execution_context& context) {
    return asio::use_service<IoLock>(context).mutex_;
  }

 private:
  void shutdown() override {}

  std::recursive_mutex mutex_;
};

}  // namespace trefoil::net
