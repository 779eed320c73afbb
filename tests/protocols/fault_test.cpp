// One fault at one message of one party, in every protocol.

#include "tests/support/faults/fault_runs.h"

#include "all_protocols.h"

#include <gtest/gtest.h>

namespace trefoil::protocols {
namespace {

using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

class FaultTest : public testing::TestWithParam<ProtocolCase> {};

TEST_P(FaultTest, EndsInATypedErrorEverywhereAndNeverHangs) {
  const ProtocolCase& protocol = GetParam();
  ExpectTypedEndsUnderFaults(
      [&](mpc::Context& party) { (void)protocol.run(party, 3, 0x12345); },
      protocol.name == "require_same_everywhere" || protocol.name == "require_shares_of_one"
          ? Flipped::kAnyEnd
          : Flipped::kAnyValue);
}

INSTANTIATE_TEST_SUITE_P(All, FaultTest, testing::ValuesIn(AllProtocols()),
                         [](const auto& info) { return CaseName(info.param); });

}  // namespace
}  // namespace trefoil::protocols
