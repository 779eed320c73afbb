#include "runtime/party_session.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace trefoil::runtime {
namespace {

TEST(ReasonFor, SaysWhoBrokeTheProtocol) {
  const auto reason = ReasonFor(ProtocolError("party 2 sent a message of 4 bytes, expected 3", 2));
  EXPECT_EQ(reason.code, net::AbortCode::kProtocol);
  EXPECT_EQ(reason.about, 2);
  EXPECT_EQ(ReasonFor(NetworkError(1, "gone")).code, net::AbortCode::kPeerLost);
}

}  // namespace
}  // namespace trefoil::runtime
