// The same of whole protocols at all three parties: every stream that a party draws and every shared value is
// secret, what A and B open in a masked opening is not. The linker hands the calls in question to this file
// first (--wrap, see tests/constant_time/CMakeLists.txt).

#include <gtest/gtest.h>

#include <set>

#include "mpc/prss.h"
#include "protocols/arithmetic/masked_opening.h"
#include "tests/constant_time/secrets.h"
#include "tests/protocols/all_protocols.h"
#include "tests/support/run_parties.h"

// NOLINTBEGIN(bugprone-reserved-identifier): the names that the linker's --wrap asks for
namespace trefoil::testing_support {
namespace {

using mpc::BitMatrix;
using mpc::OperationId;
using mpc::Prss;
using mpc::Purpose;
using mpc::RingMatrix;
using mpc::Word;
using protocols::MaskedOpening;

}  // namespace

#define TREFOIL_FILL "_ZN7trefoil3mpc4Prss4FillEiNS0_7PurposeEmSt4spanImLm18446744073709551615EE"
void RealFill(Prss* prss, int component, Purpose purpose, OperationId operation,
              std::span<Word> out) asm("__real_" TREFOIL_FILL);
void WatchedFill(Prss* prss, int component, Purpose purpose, OperationId operation,
                 std::span<Word> out) asm("__wrap_" TREFOIL_FILL);
void WatchedFill(Prss* prss, int component, Purpose purpose, OperationId operation, std::span<Word> out) {
  RealFill(prss, component, purpose, operation, out);
  MarkSecret(out.data(), out.size_bytes());
}

#define TREFOIL_CONTINUE "_ZN7trefoil3mpc4Prss8ContinueEiSt4spanImLm18446744073709551615EE"
void RealContinue(Prss* prss, int component, std::span<Word> out) asm("__real_" TREFOIL_CONTINUE);
void WatchedContinue(Prss* prss, int component, std::span<Word> out) asm("__wrap_" TREFOIL_CONTINUE);
void WatchedContinue(Prss* prss, int component, std::span<Word> out) {
  RealContinue(prss, component, out);
  MarkSecret(out.data(), out.size_bytes());
}

#define TREFOIL_FILL_HALVES \
  "_ZN7trefoil3mpc4Prss10FillHalvesEiNS0_7PurposeEmSt4spanIjLm18446744073709551615EE"
void RealFillHalves(Prss* prss, int component, Purpose purpose, OperationId operation,
                    std::span<mpc::HalfWord> out) asm("__real_" TREFOIL_FILL_HALVES);
void WatchedFillHalves(Prss* prss, int component, Purpose purpose, OperationId operation,
                       std::span<mpc::HalfWord> out) asm("__wrap_" TREFOIL_FILL_HALVES);
void WatchedFillHalves(Prss* prss, int component, Purpose purpose, OperationId operation,
                       std::span<mpc::HalfWord> out) {
  RealFillHalves(prss, component, purpose, operation, out);
  MarkSecret(out.data(), out.size_bytes());
}

#define TREFOIL_FILL_ZERO "_ZN7trefoil3mpc4Prss8FillZeroEmSt4spanImLm18446744073709551615EE"
void RealFillZero(Prss* prss, OperationId operation, std::span<Word> out) asm("__real_" TREFOIL_FILL_ZERO);
void WatchedFillZero(Prss* prss, OperationId operation, std::span<Word> out) asm("__wrap_" TREFOIL_FILL_ZERO);
void WatchedFillZero(Prss* prss, OperationId operation, std::span<Word> out) {
  RealFillZero(prss, operation, out);
  MarkSecret(out.data(), out.size_bytes());
}

#define TREFOIL_FILL_BITS "_ZN7trefoil3mpc4Prss12FillZeroBitsEmSt4spanImLm18446744073709551615EE"
void RealFillZeroBits(Prss* prss, OperationId operation,
                      std::span<Word> out) asm("__real_" TREFOIL_FILL_BITS);
void WatchedFillZeroBits(Prss* prss, OperationId operation,
                         std::span<Word> out) asm("__wrap_" TREFOIL_FILL_BITS);
void WatchedFillZeroBits(Prss* prss, OperationId operation, std::span<Word> out) {
  RealFillZeroBits(prss, operation, out);
  MarkSecret(out.data(), out.size_bytes());
}

#define TREFOIL_FINISH "_ZN7trefoil9protocols13MaskedOpening10FinishOpenENS1_4PartE"
RingMatrix RealFinish(MaskedOpening* opening, MaskedOpening::Part part) asm("__real_" TREFOIL_FINISH);
RingMatrix WatchedFinish(MaskedOpening* opening, MaskedOpening::Part part) asm("__wrap_" TREFOIL_FINISH);
RingMatrix WatchedFinish(MaskedOpening* opening, MaskedOpening::Part part) {
  RingMatrix opened = RealFinish(opening, std::move(part));
  MarkPublic(opened);
  return opened;
}

#define TREFOIL_FINISH_BITS "_ZN7trefoil9protocols13MaskedOpening10FinishOpenERKNS_3mpc9BitMatrixE"
BitMatrix RealFinishBits(MaskedOpening* opening, const BitMatrix& half) asm("__real_" TREFOIL_FINISH_BITS);
BitMatrix WatchedFinishBits(MaskedOpening* opening, const BitMatrix& half) asm("__wrap_" TREFOIL_FINISH_BITS);
BitMatrix WatchedFinishBits(MaskedOpening* opening, const BitMatrix& half) {
  BitMatrix opened = RealFinishBits(opening, half);
  MarkPublic(opened);
  return opened;
}
// NOLINTEND(bugprone-reserved-identifier)

}  // namespace trefoil::testing_support

namespace trefoil::protocols {
namespace {

using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

/// Those that do: sine and cosine are looked up in tables at the secret mask, at the dealer
/// (docs/explanation/threat_model.md says so); hashes of components are compared where all three have them.
const std::set<std::string> kExceptions{"sigmoid_latency", "sigmoid_exact", "sigmoid_of_product_latency",
                                        "sigmoid_in_whole_words_latency", "require_shares_of_one"};

class ProtocolsConstantTimeTest : public testing::TestWithParam<ProtocolCase> {
 protected:
  void SetUp() override {
    if (!IsWatched()) GTEST_SKIP() << "not run by valgrind";
  }
};

TEST_P(ProtocolsConstantTimeTest, NeitherJumpOnASecretNorUseOneAsAnAddress) {
  const ProtocolCase& protocol = GetParam();
  mpc::Word secret = protocol.extremes[1];
  MarkSecret(&secret, sizeof secret);
  const unsigned found = DependenciesIn([&] {
    (void)RunParties(Seed{1}, [&](mpc::Context& party) { return protocol.run(party, 5, secret); });
  });
  if (kExceptions.count(protocol.name) > 0) {
    EXPECT_GT(found, 0U) << "no longer an exception";
  } else {
    EXPECT_EQ(found, 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ProtocolsConstantTimeTest, testing::ValuesIn(AllProtocols()),
                         [](const auto& info) { return CaseName(info.param); });

}  // namespace
}  // namespace trefoil::protocols
