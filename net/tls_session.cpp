#include "net/tls_session.h"

#include <string>
#include <utility>

#include <openssl/err.h>

#include "base/error.h"

namespace trefoil::net {
namespace {

// AES-GCM may protect about 2^24.5 full records under one key (RFC 8446, section 5.5); this is 2^22.
constexpr std::uint64_t kKeyUpdateBytes = std::uint64_t{1} << 36;

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

TlsSession::TlsSession(std::shared_ptr<const TlsContext> context, TlsRole role)
    : context_(std::move(context)), ssl_(SSL_new(context_->handle())) {
  BioPtr in(BIO_new(BIO_s_mem()));
  BioPtr out(BIO_new(BIO_s_mem()));
  if (!ssl_ || !in || !out) throw TlsError("TLS: out of memory");
  // An empty buffer means "not yet", not "end of file".
  BIO_set_mem_eof_return(in.get(), -1);
  BIO_set_mem_eof_return(out.get(), -1);
  SSL_set_bio(ssl_.get(), in.release(), out.release());
  if (role == TlsRole::kServer) {
    SSL_set_accept_state(ssl_.get());
  } else {
    SSL_set_connect_state(ssl_.get());
  }
}

void TlsSession::Feed(std::span<const std::byte> ciphertext) {
  if (ciphertext.empty()) return;
  const auto size = static_cast<int>(ciphertext.size());
  if (BIO_write(SSL_get_rbio(ssl_.get()), ciphertext.data(), size) != size)
    throw TlsError("TLS: out of memory");
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
  BIO* bio = SSL_get_wbio(ssl_.get());
  const std::size_t before = out.size();
  const std::size_t pending = BIO_ctrl_pending(bio);
  if (pending == 0) return;
  out.resize(before + pending);
  BIO_read(bio, out.data() + before, static_cast<int>(pending));
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
