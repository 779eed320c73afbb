#include "protocols/catalogue/catalogue.h"

#include <set>

#include "all_protocols.h"
#include "tests/support/protocol_test.h"

namespace trefoil::protocols {
namespace {

using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

std::vector<ProtocolCase> ThatDeclareACost() {
  std::vector<ProtocolCase> cases;
  for (const ProtocolCase& protocol : AllProtocols()) {
    if (protocol.cost) cases.push_back(protocol);
  }
  return cases;
}

class CatalogueCostTest : public testing::TestWithParam<ProtocolCase> {};

TEST_P(CatalogueCostTest, IsTheMeasuredOne) {
  for (const mpc::Index count : {1, 5, 70}) {
    SCOPED_TRACE(count);
    const auto measured = RunParties(Seed{1}, [&](mpc::Context& party) {
      return Measure(party, [&] { (void)GetParam().run(party, count, GetParam().extremes[1]); });
    });
    EXPECT_EQ(Figures(measured), Figures(GetParam().cost(count)));
  }
}

INSTANTIATE_TEST_SUITE_P(All, CatalogueCostTest, testing::ValuesIn(ThatDeclareACost()),
                         [](const auto& info) { return CaseName(info.param); });

TEST(Catalogue, HasOneEntryForEachNameAndForm) {
  std::set<std::pair<std::string, Form>> found;
  for (const Entry& entry : Catalogue()) {
    for (const Form form : entry.forms) EXPECT_TRUE(found.insert({entry.name, form}).second) << entry.name;
  }
}

}  // namespace
}  // namespace trefoil::protocols
