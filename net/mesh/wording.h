#pragma once
#include <chrono>
#include <string>

#include "net/link/asio.h"

namespace trefoil::net {

/// "10 s", or "250 ms" where it is not whole seconds.
[[nodiscard]] std::string DescribeDuration(std::chrono::milliseconds duration);

/// An error of the operating system in words, beginning in lower case: "connection refused".
[[nodiscard]] std::string DescribeError(const ErrorCode& error);

/// The address of the socket's other end, without its port, as AddressText gives it; "unknown address" where
/// there is none.
[[nodiscard]] std::string DescribeOtherEnd(const tcp::socket& socket);

}  // namespace trefoil::net
