#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>

namespace trefoil::net {

/// A server could not be reached, or did not end what it began; the text says why.
class HttpsError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Another server answered than the one that was expected.
class WrongServer : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Who is asked. Its certificate is known by its fingerprint alone (net/certificates/certificate.h): no
/// authority, no host name.
struct HttpsPeer {
  std::string host;
  std::uint16_t port = 0;
  std::string fingerprint;
  std::chrono::milliseconds connect_limit{10'000};  ///< for connecting and TLS together
  std::chrono::milliseconds piece_limit{30'000};    ///< for each piece of 64 KiB
  std::chrono::milliseconds answer_limit{600'000};  ///< from the last piece to the answer's end
};

/// What is sent, in pieces.
struct HttpsBody {
  std::uint64_t offset = 0;  ///< Upload-Offset
  std::uint64_t bytes = 0;
  std::function<void(std::uint64_t at, std::span<std::uint8_t> out)> read{};  ///< the bytes from `at` on
  std::function<void(std::uint64_t sent)> on_sent{};
};

struct HttpsReply {
  unsigned status = 0;
  std::string body;
};

/// POSTs a body over TLS 1.3, and waits for the answer, of at most 64 KiB. Nothing is sent before the
/// certificate was seen to be the right one. Blocks. Throws WrongServer, or HttpsError; what `read` and
/// `on_sent` throw.
[[nodiscard]] HttpsReply Post(const HttpsPeer& peer, const std::string& target, const HttpsBody& body);

}  // namespace trefoil::net
