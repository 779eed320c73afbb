#include "net/link/tls_session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "base/error.h"
#include "base/passing_error.h"
#include "net/certificates/pem.h"

namespace trefoil::net {
namespace {

using std::chrono::hours;
using std::chrono::system_clock;

Pin PinOf(int party, const Identity& identity) {
  return {party, ToDer(*ReadCertificate(identity.certificate_pem))};
}

std::shared_ptr<const TlsContext> Context(const Identity& own, std::vector<Pin> pins) {
  return std::make_shared<const TlsContext>(own, std::move(pins));
}

/// As a socket brings them: as many at a time as there is space for.
void Feed(TlsSession& to, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::span<std::byte> space = to.Space();
    const std::size_t count = std::min(space.size(), bytes.size());
    std::copy_n(bytes.begin(), count, space.begin());
    to.Filled(count);
    bytes = bytes.subspan(count);
  }
}

void Carry(TlsSession& from, TlsSession& to) {
  Bytes bytes;
  from.TakeOutput(bytes);
  Feed(to, bytes);
}

// Runs a handshake to its end; the text is the error of the side that threw first.
std::string Connect(TlsSession& client, TlsSession& server) {
  try {
    bool done = false;
    for (int turn = 0; turn < 10 && !done; ++turn) {
      const bool client_done = client.Handshake();
      Carry(client, server);
      const bool server_done = server.Handshake();
      Carry(server, client);
      done = client_done && server_done;
    }
    return done ? "" : "not done";
  } catch (const TlsError& error) {
    return error.what();
  }
}

TEST(TlsSession, AuthenticatesBothSidesAndCarriesBytes) {
  const Identity zero = MakeIdentity("zero");
  const Identity one = MakeIdentity("one");
  TlsSession client(Context(one, {PinOf(0, zero)}), TlsRole::kClient);
  TlsSession server(Context(zero, {PinOf(1, one)}), TlsRole::kServer);

  ASSERT_EQ(Connect(client, server), "");
  EXPECT_EQ(client.party(), 0);
  EXPECT_EQ(server.party(), 1);

  client.Write(Bytes(100'000, std::byte{42}));
  Carry(client, server);
  Bytes received(200'000);
  std::size_t count = 0;
  while (const std::size_t more = server.Read(std::span(received).subspan(count))) count += more;
  EXPECT_EQ(count, 100'000U);
  EXPECT_EQ(received[99'999], std::byte{42});

  EXPECT_FALSE(server.closed_by_peer());
  client.CloseNotify();
  Carry(client, server);
  EXPECT_EQ(server.Read(received), 0U);
  EXPECT_TRUE(server.closed_by_peer());
}

TEST(TlsSession, ServerRefusesAnUnknownClient) {
  const Identity zero = MakeIdentity("zero");
  const Identity one = MakeIdentity("one");
  const Identity stranger = MakeIdentity("one");  // the same name is not the same certificate
  TlsSession client(Context(stranger, {PinOf(0, zero)}), TlsRole::kClient);
  TlsSession server(Context(zero, {PinOf(1, one)}), TlsRole::kServer);

  EXPECT_EQ(Connect(client, server), "its certificate is not a pinned one");

  Carry(server, client);
  Bytes out(10);
  try {
    (void)client.Read(out);
    FAIL() << "the client was not told";
  } catch (const TlsError& error) {
    EXPECT_STREQ(error.what(), "it refused this party's certificate");
  }
}

TEST(TlsSession, ClientRefusesAnUnknownServer) {
  const Identity zero = MakeIdentity("zero");
  const Identity one = MakeIdentity("one");
  TlsSession client(Context(one, {PinOf(0, MakeIdentity("zero"))}), TlsRole::kClient);
  TlsSession server(Context(zero, {PinOf(1, one)}), TlsRole::kServer);

  EXPECT_EQ(Connect(client, server), "its certificate is not a pinned one");
}

// The pinned certificate is past (or before) its dates at the verifier; its owner's own check is passed by
// another identity that is exchanged for it below, so that only the verifier can refuse.
std::string ConnectWithDates(system_clock::time_point not_before, system_clock::time_point not_after) {
  const Identity zero = MakeIdentity("zero");
  const Identity dated = MakeIdentity("one", not_before, not_after);
  auto context = Context(MakeIdentity("valid"), {PinOf(0, zero)});
  const X509Ptr certificate = ReadCertificate(dated.certificate_pem);
  const EvpKeyPtr key = ReadPrivateKey(dated.private_key_pem);
  EXPECT_EQ(SSL_CTX_use_certificate(context->handle(), certificate.get()), 1);
  EXPECT_EQ(SSL_CTX_use_PrivateKey(context->handle(), key.get()), 1);
  TlsSession client(context, TlsRole::kClient);
  TlsSession server(Context(zero, {PinOf(1, dated)}), TlsRole::kServer);
  return Connect(client, server);
}

TEST(TlsSession, RefusesAPinnedCertificateOutsideItsDates) {
  const auto now = system_clock::now();

  EXPECT_EQ(ConnectWithDates(now - hours(1), now + hours(1)), "");
  EXPECT_EQ(ConnectWithDates(now - hours(2), now - hours(1)), "its certificate has expired");
  EXPECT_EQ(ConnectWithDates(now + hours(1), now + hours(2)), "its certificate is not valid yet");
}

TEST(TlsContext, RefusesAnIdentityThatCannotBeUsed) {
  const auto now = system_clock::now();
  const Identity one = MakeIdentity("one");
  const Identity other = MakeIdentity("other");

  EXPECT_THROW(TlsContext({one.certificate_pem, other.private_key_pem}, {}), ConfigError);
  EXPECT_THROW(TlsContext(MakeIdentity("old", now - hours(2), now - hours(1)), {}), ConfigError);
  EXPECT_THROW(TlsContext(MakeIdentity("new", now + hours(1), now + hours(2)), {}), PassingError);
}

// More than one space holds arrives before anything is read, and again when half of it has been.
TEST(TlsSession, KeepsWhatArrivesBeforeItIsRead) {
  const Identity zero = MakeIdentity("zero");
  const Identity one = MakeIdentity("one");
  TlsSession client(Context(zero, {PinOf(1, one)}), TlsRole::kClient);
  TlsSession server(Context(one, {PinOf(0, zero)}), TlsRole::kServer);
  ASSERT_EQ(Connect(client, server), "");
  Bytes sent(500'000);
  for (std::size_t k = 0; k < sent.size(); ++k) sent[k] = static_cast<std::byte>(k * 131 / 7);
  const std::span<const std::byte> all(sent);
  client.Write(all.first(300'000));
  Carry(client, server);
  Bytes received(sent.size());
  std::size_t have = 0;
  while (have < 150'000) have += server.Read(std::span(received).subspan(have, 150'000 - have));
  client.Write(all.subspan(300'000));
  Carry(client, server);
  while (const std::size_t count = server.Read(std::span(received).subspan(have))) have += count;
  EXPECT_EQ(have, sent.size());
  EXPECT_EQ(received, sent);
}

TEST(TlsSession, RefusesGarbage) {
  const Identity zero = MakeIdentity("zero");
  TlsSession server(Context(zero, {}), TlsRole::kServer);
  const std::string garbage = "GET / HTTP/1.0\r\n\r\n";
  Feed(server, std::as_bytes(std::span(garbage)));

  EXPECT_THROW((void)server.Handshake(), TlsError);
}

}  // namespace
}  // namespace trefoil::net
