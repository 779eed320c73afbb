#include "net/mesh/wording.h"

#include <cctype>

#include "net/start/peer_addresses.h"

namespace trefoil::net {

std::string DescribeDuration(std::chrono::milliseconds duration) {
  if (duration.count() % 1000 == 0) return std::to_string(duration.count() / 1000) + " s";
  return std::to_string(duration.count()) + " ms";
}

std::string DescribeError(const ErrorCode& error) {
  if (error == asio::error::eof) return "closed the connection";
  std::string text = error.message();
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

std::string DescribeOtherEnd(const tcp::socket& socket) {
  ErrorCode error;
  const auto endpoint = socket.remote_endpoint(error);
  return error ? std::string("unknown address") : AddressText(endpoint.address());
}

}  // namespace trefoil::net
