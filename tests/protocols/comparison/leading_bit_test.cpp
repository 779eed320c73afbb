#include "protocols/comparison/leading_bit.h"

#include <bit>

#include "base/error.h"
#include "tests/support/protocol_test.h"

namespace trefoil::protocols {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

struct LeadingBitCase {
  int lowest;
  int entries;
  Form form;
  Rounding rounding = Rounding::kStochastic;
};

void PrintTo(const LeadingBitCase& c, std::ostream* out) {
  *out << c.entries << " from " << c.lowest << (c.form == Form::kBulk ? " bulk" : " latency")
       << (c.rounding == Rounding::kExact ? ", exact" : "");
}

/// Whether x may pass for a number with the next leading bit.
bool NextToAPower(Word x, const LeadingBitCase& c) {
  if (c.form == Form::kBulk || c.rounding == Rounding::kExact) return false;
  const auto power = static_cast<int>(std::bit_width(x));
  return power > kReadBelowPower && (Word{1} << power) - x < Word{1} << (power - kReadBelowPower);
}

class LeadingBitTest : public testing::TestWithParam<LeadingBitCase> {};

TEST_P(LeadingBitTest, GivesTheEntriesForTheLeadingBitAtTheDeclaredCost) {
  const LeadingBitCase c = GetParam();
  LeadingBitTables tables{.lowest = c.lowest, .tables = {{}, {}}};
  const RingMatrix entries = RandomWords(61, c.entries, 2);
  for (int t = 0; t < c.entries; ++t) {
    tables.tables[0].push_back(entries(t, 0));
    tables.tables[1].push_back(entries(t, 1));
  }
  std::vector<std::int64_t> values{0, 1};
  for (int t = 0; t < c.lowest + c.entries; ++t) {
    const std::uint64_t power = std::uint64_t{1} << t;
    // The last one before the next power's blur.
    const std::uint64_t last = 2 * power - std::max<std::uint64_t>(1, power >> (kReadBelowPower - 1));
    for (const auto value : {power, power + power / 3, 2 * power - 1, last})
      values.push_back(static_cast<std::int64_t>(value));
  }
  const RingMatrix x = Column(values);

  const Outcome outcome = RunOn(
      Seed{1}, [&](mpc::Context& party) { return InsecureDeal(party, x); },
      [&](mpc::Context& party, const mpc::ArithShare& share) {
        return LookUpByLeadingBit(party, tables, share, c.form, c.rounding);
      });

  const mpc::Cost declared = LookUpByLeadingBitCost(tables, x.size(), c.form, c.rounding);
  EXPECT_EQ(outcome.cost, Figures(declared));
  EXPECT_LE(declared.rounds(), c.form == Form::kBulk ? 16 : 2);
  ASSERT_EQ(outcome.value.rows(), 2);
  for (Index k = 0; k < x.size(); ++k) {
    const int leading = 63 - std::countl_zero(x(k, 0));
    Index entry = std::max(0, leading - c.lowest);
    if (NextToAPower(x(k, 0), c) && outcome.value(0, k) != entries(entry, 0))
      entry = std::max(0, leading + 1 - c.lowest);
    ASSERT_LT(entry, c.entries);
    ASSERT_EQ(outcome.value(0, k), entries(entry, 0)) << x(k, 0);
    ASSERT_EQ(outcome.value(1, k), entries(entry, 1)) << x(k, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Tables, LeadingBitTest,
    testing::Values(LeadingBitCase{0, 2, Form::kBulk}, LeadingBitCase{0, 63, Form::kBulk},
                    LeadingBitCase{16, 5, Form::kBulk}, LeadingBitCase{61, 2, Form::kBulk},
                    LeadingBitCase{0, 2, Form::kLatency}, LeadingBitCase{0, 63, Form::kLatency},
                    LeadingBitCase{16, 5, Form::kLatency}, LeadingBitCase{61, 2, Form::kLatency},
                    LeadingBitCase{0, 63, Form::kLatency, Rounding::kExact}));

TEST(LookUpByLeadingBit, RefusesMalformedTablesBeforeSending) {
  const auto sent = RunParties(Seed{2}, [](mpc::Context& party) {
    const auto x = InsecureDeal(party, RingMatrix::Zero(3, 1));
    for (const LeadingBitTables& tables :
         {LeadingBitTables{.lowest = 0, .tables = {}}, LeadingBitTables{.lowest = 0, .tables = {{1}}},
          LeadingBitTables{.lowest = 0, .tables = {{1, 2}, {1, 2, 3}}},
          LeadingBitTables{.lowest = -1, .tables = {{1, 2}}},
          LeadingBitTables{.lowest = 62, .tables = {{1, 2}}}}) {
      EXPECT_THROW((void)LookUpByLeadingBit(party, tables, x), ContractError);
    }
    return party.transport().counters().messages;
  });
  EXPECT_EQ(sent, (std::array<std::uint64_t, 3>{0, 0, 0}));
}

}  // namespace
}  // namespace trefoil::protocols
