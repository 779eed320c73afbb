#include "protocols/comparison/small_table.h"

#include "base/error.h"
#include "tests/support/protocol_test.h"

namespace trefoil::protocols {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

SmallTables RandomTables(int bits, int count) {
  SmallTables tables{.bits = bits, .tables = {}};
  for (int k = 0; k < count; ++k) {
    const RingMatrix words = RandomWords(static_cast<std::uint64_t>(100 * bits + k), Index{1} << bits, 1);
    tables.tables.emplace_back(words.data(), words.data() + words.size());
  }
  return tables;
}

class SmallTableTest : public testing::TestWithParam<int> {};

/// Every residue, with whatever stands above the bits; at every assignment of the roles.
TEST_P(SmallTableTest, GivesTheEntryAtTheLowBitsOfEveryRingElement) {
  const int bits = GetParam();
  const SmallTables tables = RandomTables(bits, 3);
  const Index size = Index{1} << bits;
  RingMatrix x = RandomWords(1, 2 * size, 1);
  for (Index k = 0; k < size; ++k) {
    x(k, 0) = static_cast<Word>(k);
    x(size + k, 0) = (x(size + k, 0) << bits) + static_cast<Word>(k);
  }
  for (int turn = 0; turn < 3; ++turn) {
    const Outcome outcome = RunOn(
        Seed{1},
        [&](mpc::Context& party) {
          for (int k = 0; k < turn; ++k) (void)party.NextRoles();
          return InsecureDeal(party, x);
        },
        [&](mpc::Context& party, const mpc::ArithShare& share) {
          return LookUpByLowBits(party, tables, share);
        });
    EXPECT_EQ(outcome.cost.rounds, 2);
    if (turn == 0) {
      EXPECT_EQ(outcome.cost, Figures(LookUpByLowBitsCost(tables, x.size())));
    }
    for (std::size_t table = 0; table < tables.tables.size(); ++table) {
      for (Index k = 0; k < x.size(); ++k) {
        ASSERT_EQ(outcome.value(static_cast<Index>(table), k),
                  tables.tables[table][x(k, 0) & static_cast<Word>(size - 1)])
            << "element " << k << ", turn " << turn;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Bits, SmallTableTest, testing::Values(1, 2, 5, 8, 12));

TEST(LookUpByLowBitsCost, IsBitsAndWordsOnlineAndAOneHotVectorOffline) {
  const mpc::Cost cost = LookUpByLowBitsCost(RandomTables(4, 2), 100);
  EXPECT_EQ(cost.rounds(), 2);
  EXPECT_EQ(cost.bytes_sent()[0], 4U * 100 / 8 + 8 * 2 * 100);
  EXPECT_EQ(cost.bytes_offline()[2], 8U * 16 * 100);
}

TEST(LookUpByLowBits, RefusesMalformedTables) {
  for (const SmallTables& tables :
       {SmallTables{.bits = 0, .tables = {{1}}}, SmallTables{.bits = 3, .tables = {}},
        SmallTables{.bits = 2, .tables = {{1, 2, 3}}},
        SmallTables{.bits = 13, .tables = {std::vector<Word>(8192)}}}) {
    EXPECT_THROW((void)LookUpByLowBitsCost(tables, 1), ContractError);
  }
}

}  // namespace
}  // namespace trefoil::protocols
