#include "deposit/format/sealed_body.h"

#include <sodium.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/secrets/sealed_box.h"
#include "deposit/format/bytes.h"

namespace trefoil::deposit {
namespace {

constexpr std::string_view kBodyDomain = "trefoil deposit body 1\n";
constexpr std::size_t kChunk = std::size_t{1} << 16;
constexpr std::size_t kTag = crypto_secretstream_xchacha20poly1305_ABYTES;
constexpr std::size_t kStreamHeader = crypto_secretstream_xchacha20poly1305_HEADERBYTES;
constexpr std::size_t kBegin = sizeof(PublicKey) + kStreamHeader;
static_assert(crypto_secretstream_xchacha20poly1305_KEYBYTES == SecretKey::kBytes);

/// A stream's state, which has its key, in the guarded heap.
class Stream {
 public:
  Stream() : state_(static_cast<State*>(AllocateSecret(sizeof(State)))) {}
  ~Stream() { FreeSecret(state_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  using State = crypto_secretstream_xchacha20poly1305_state;
  [[nodiscard]] State* state() { return state_; }

 private:
  State* state_;
};

/// The key of a body. Nothing where the two share no secret, as with a point of small order.
std::optional<SecretKey> BodyKey(const SecretKey& secret, const PublicKey& other, const PublicKey& ephemeral,
                                 const PublicKey& recipient, std::string_view header) {
  SecretKey shared;
  if (crypto_scalarmult(shared.bytes().data(), secret.bytes().data(), other.data()) != 0) return {};
  crypto_generichash_state state;
  crypto_generichash_init(&state, nullptr, 0, SecretKey::kBytes);
  const auto add = [&](std::span<const std::uint8_t> bytes) {
    crypto_generichash_update(&state, bytes.data(), bytes.size());
  };
  add(BytesOf(kBodyDomain));
  add(shared.bytes());
  add(ephemeral);
  add(recipient);
  add(BytesOf(header));
  SecretKey key;
  crypto_generichash_final(&state, key.bytes().data(), SecretKey::kBytes);
  sodium_memzero(&state, sizeof(state));
  return key;
}

std::size_t ChunksOf(std::size_t body_bytes) { return (body_bytes + kChunk - 1) / kChunk; }

unsigned char* Data(std::string& text, std::size_t at) {
  return reinterpret_cast<unsigned char*>(text.data()) + at;
}

/// How many bytes of a body so many sealed ones hold; nothing where no body gives so many.
std::optional<std::size_t> OpenedBytes(std::size_t sealed_bytes) {
  if (sealed_bytes < kBegin + kTag + 1) return {};
  const std::size_t chunks = (sealed_bytes - kBegin + kChunk + kTag - 1) / (kChunk + kTag);
  const std::size_t opened = sealed_bytes - kBegin - std::min(sealed_bytes - kBegin, chunks * kTag);
  if (opened == 0 || SealedBytes(opened) != sealed_bytes) return {};
  return opened;
}

}  // namespace

std::size_t SealedBytes(std::size_t body_bytes) { return kBegin + body_bytes + ChunksOf(body_bytes) * kTag; }

std::string SealBody(std::span<const std::uint8_t> body, const PublicKey& recipient,
                     std::string_view header) {
  Require(!body.empty(), "SealBody: a body");
  const auto ephemeral = MakeKeyPair(KeyKind::kParty);
  const auto key = BodyKey(ephemeral.secret, recipient, ephemeral.known, recipient, header);
  if (!key) throw ConfigError("found a deposit key of small order, expected one that trefoil made");
  std::string sealed(SealedBytes(body.size()), '\0');
  std::copy(ephemeral.known.begin(), ephemeral.known.end(), sealed.begin());
  Stream stream;
  crypto_secretstream_xchacha20poly1305_init_push(stream.state(), Data(sealed, sizeof(PublicKey)),
                                                  key->bytes().data());
  std::size_t at = kBegin;
  while (!body.empty()) {
    const auto chunk = body.first(std::min(body.size(), kChunk));
    body = body.subspan(chunk.size());
    crypto_secretstream_xchacha20poly1305_push(stream.state(), Data(sealed, at), nullptr, chunk.data(),
                                               chunk.size(), BytesOf(header).data(), header.size(),
                                               body.empty()
                                                   ? crypto_secretstream_xchacha20poly1305_TAG_FINAL
                                                   : crypto_secretstream_xchacha20poly1305_TAG_MESSAGE);
    at += chunk.size() + kTag;
  }
  return sealed;
}

std::optional<jobs::SecretBytes> OpenBody(std::span<const std::uint8_t> sealed, const KeyPair& recipient,
                                          std::string_view header) {
  const auto opened = OpenedBytes(sealed.size());
  if (!opened) return {};
  FieldReader in(sealed);
  const auto ephemeral = in.Array<sizeof(PublicKey)>();
  const auto key = BodyKey(recipient.secret, ephemeral, ephemeral, recipient.known, header);
  if (!key) return {};
  Stream stream;
  if (crypto_secretstream_xchacha20poly1305_init_pull(stream.state(), in.Bytes(kStreamHeader).data(),
                                                      key->bytes().data()) != 0)
    return {};
  std::vector<std::uint8_t> body(*opened);
  for (std::size_t at = 0; at < body.size(); at += kChunk) {
    const std::size_t count = std::min(body.size() - at, kChunk);
    const auto chunk = in.Bytes(count + kTag);
    const unsigned char expected = at + count == body.size()
                                       ? crypto_secretstream_xchacha20poly1305_TAG_FINAL
                                       : crypto_secretstream_xchacha20poly1305_TAG_MESSAGE;
    unsigned char tag = 0;
    if (crypto_secretstream_xchacha20poly1305_pull(stream.state(), body.data() + at, nullptr, &tag,
                                                   chunk.data(), chunk.size(), BytesOf(header).data(),
                                                   header.size()) != 0 ||
        tag != expected) {
      Wipe(std::span(body));
      return {};
    }
  }
  return jobs::SecretBytes(std::move(body));
}

}  // namespace trefoil::deposit
