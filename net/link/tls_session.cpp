#include "net/link/tls_session.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include <openssl/err.h>

#include "base/error.h"

namespace trefoil::net {
namespace {

// AES-GCM may protect about 2^24.5 full records under one key (RFC 8446, section 5.5); this is 2^22.
constexpr std::uint64_t kKeyUpdateBytes = std::uint64_t{1} << 36;

/// What is read from the network at a time.
constexpr std::size_t kInputBytes = std::size_t{1} << 17;

std::string DescribeVerdict(long verdict) {
  switch (verdict) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "its certificate has expired";
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "its certificate is not valid yet";
    default:
      return "its certificate is not a pinned one";
  }
}

std::string DescribeError(unsigned long error) {
  const int reason = ERR_GET_REASON(error);
  switch (reason - SSL_AD_REASON_OFFSET) {
    case SSL_AD_BAD_CERTIFICATE:
    case SSL_AD_CERTIFICATE_EXPIRED:
    case SSL_AD_CERTIFICATE_UNKNOWN:
    case SSL_AD_UNKNOWN_CA:
    case SSL_AD_CERTIFICATE_REQUIRED:
      return "it refused this party's certificate";
    default:
      break;
  }
  if (reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE) return "it showed no certificate";
  if (reason == SSL_R_UNSUPPORTED_PROTOCOL) return "it does not speak TLS 1.3";
  const char* text = ERR_reason_error_string(error);
  return std::string("TLS: ") + (text != nullptr ? text : "unknown error");
}

}  // namespace

const BIO_METHOD* TlsSession::WireMethod() {
  static const std::unique_ptr<BIO_METHOD, decltype(&BIO_meth_free)> kMethod = [] {
    std::unique_ptr<BIO_METHOD, decltype(&BIO_meth_free)> method(
        BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "wire"), &BIO_meth_free);
    if (!method) throw TlsError("TLS: out of memory");
    BIO_meth_set_read_ex(method.get(), [](BIO* bio, char* out, std::size_t room, std::size_t* count) {
      auto& wire = *static_cast<Wire*>(BIO_get_data(bio));
      BIO_clear_retry_flags(bio);
      *count = std::min(room, wire.end - wire.begin);
      if (*count == 0) {  // not yet, which is not the end
        BIO_set_retry_read(bio);
        return 0;
      }
      std::memcpy(out, wire.in.data() + wire.begin, *count);
      wire.begin += *count;
      return 1;
    });
    BIO_meth_set_write_ex(method.get(), [](BIO* bio, const char* in, std::size_t size, std::size_t* count) {
      auto& out = static_cast<Wire*>(BIO_get_data(bio))->out;
      const auto* bytes = reinterpret_cast<const std::byte*>(in);
      out.insert(out.end(), bytes, bytes + size);
      *count = size;
      return 1;
    });
    BIO_meth_set_ctrl(method.get(),
                      [](BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1L : 0L; });
    return method;
  }();
  return kMethod.get();
}

TlsSession::TlsSession(std::shared_ptr<const TlsContext> context, TlsRole role)
    : context_(std::move(context)), wire_(std::make_unique<Wire>()), ssl_(SSL_new(context_->handle())) {
  BioPtr bio(BIO_new(WireMethod()));
  if (!ssl_ || !bio) throw TlsError("TLS: out of memory");
  wire_->in.resize(kInputBytes);
  BIO_set_data(bio.get(), wire_.get());
  BIO_set_init(bio.get(), 1);
  BIO* both = bio.release();
  SSL_set_bio(ssl_.get(), both, both);
  if (role == TlsRole::kServer) {
    SSL_set_accept_state(ssl_.get());
  } else {
    SSL_set_connect_state(ssl_.get());
  }
}

std::span<std::byte> TlsSession::Space() {
  Wire& wire = *wire_;
  if (wire.begin > 0) {
    std::copy(wire.in.begin() + static_cast<std::ptrdiff_t>(wire.begin),
              wire.in.begin() + static_cast<std::ptrdiff_t>(wire.end), wire.in.begin());
    wire.end -= std::exchange(wire.begin, 0);
  }
  if (wire.end == wire.in.size()) wire.in.resize(wire.in.size() + kInputBytes);
  return std::span(wire.in).subspan(wire.end);
}

void TlsSession::Filled(std::size_t count) {
  Require(count <= wire_->in.size() - wire_->end, "TlsSession::Filled: more than there was room for");
  wire_->end += count;
}

bool TlsSession::Handshake() {
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_.get());
  if (result == 1) return true;
  if (SSL_get_error(ssl_.get(), result) == SSL_ERROR_WANT_READ) return false;
  Fail(result);
}

int TlsSession::party() const {
  const X509* certificate = SSL_get0_peer_certificate(ssl_.get());
  Require(certificate != nullptr, "TlsSession::party: only after the handshake");
  const std::optional<int> party = context_->PartyOf(*certificate);
  if (!party) throw TlsError("its certificate is not a pinned one");
  return *party;
}

std::size_t TlsSession::Read(std::span<std::byte> out) {
  ERR_clear_error();
  std::size_t count = 0;
  const int result = SSL_read_ex(ssl_.get(), out.data(), out.size(), &count);
  if (result == 1) return count;
  const int error = SSL_get_error(ssl_.get(), result);
  if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_ZERO_RETURN) return 0;
  Fail(result);
}

bool TlsSession::closed_by_peer() const {
  return (SSL_get_shutdown(ssl_.get()) & SSL_RECEIVED_SHUTDOWN) != 0;
}

void TlsSession::Write(std::span<const std::byte> plaintext) {
  if (plaintext.empty()) return;
  ERR_clear_error();
  written_since_key_update_ += plaintext.size();
  if (written_since_key_update_ >= kKeyUpdateBytes) {
    SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_NOT_REQUESTED);
    written_since_key_update_ = 0;
  }
  std::size_t count = 0;
  const int result = SSL_write_ex(ssl_.get(), plaintext.data(), plaintext.size(), &count);
  if (result != 1 || count != plaintext.size()) Fail(result);
}

void TlsSession::CloseNotify() {
  SSL_shutdown(ssl_.get());
  ERR_clear_error();
}

void TlsSession::TakeOutput(Bytes& out) {
  out.clear();
  std::swap(out, wire_->out);
}

void TlsSession::Fail(int result) {
  const int kind = SSL_get_error(ssl_.get(), result);
  const long verdict = SSL_get_verify_result(ssl_.get());
  const unsigned long error = ERR_peek_error();
  std::string text = "TLS: failed";
  if (kind == SSL_ERROR_SSL) {
    const bool refused_here = ERR_GET_REASON(error) == SSL_R_CERTIFICATE_VERIFY_FAILED;
    text = refused_here ? DescribeVerdict(verdict) : DescribeError(error);
  }
  ERR_clear_error();
  throw TlsError(text);
}

}  // namespace trefoil::net
