// No pseudo-random word is used twice: AES in counter mode is started at most once with each initial block
// (which holds purpose and operation) under each key at each party. The linker hands every start of OpenSSL's
// cipher to this file first
// (--wrap=EVP_EncryptInit_ex), so what is recorded is what the program really does.

#include <openssl/evp.h>

#include <array>
#include <map>
#include <mutex>
#include <set>

#include "all_protocols.h"
#include "tests/support/protocol_test.h"

namespace {

using InitialBlock = std::array<unsigned char, 16>;

/// The blocks that each cipher was started with, while recording. A cipher belongs to one key of one party.
class Recorder {
 public:
  void Start() {
    const std::lock_guard lock(mutex_);
    recording_ = true;
    blocks_.clear();
  }

  void Add(const EVP_CIPHER_CTX* cipher, const unsigned char* block) {
    const std::lock_guard lock(mutex_);
    if (!recording_ || block == nullptr) return;
    InitialBlock copy{};
    std::copy_n(block, copy.size(), copy.begin());
    blocks_[cipher].insert(copy);
  }

  std::map<const EVP_CIPHER_CTX*, std::multiset<InitialBlock>> Stop() {
    const std::lock_guard lock(mutex_);
    recording_ = false;
    return std::move(blocks_);
  }

 private:
  std::mutex mutex_;
  bool recording_ = false;
  std::map<const EVP_CIPHER_CTX*, std::multiset<InitialBlock>> blocks_;
};

Recorder& TheRecorder() {
  static Recorder recorder;
  return recorder;
}

}  // namespace

extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier): the names that the linker's --wrap asks for
int __real_EVP_EncryptInit_ex(EVP_CIPHER_CTX* context, const EVP_CIPHER* cipher, ENGINE* engine,
                              const unsigned char* key, const unsigned char* block);
int __wrap_EVP_EncryptInit_ex(EVP_CIPHER_CTX* context, const EVP_CIPHER* cipher, ENGINE* engine,
                              const unsigned char* key, const unsigned char* block) {
  TheRecorder().Add(context, block);
  return __real_EVP_EncryptInit_ex(context, cipher, engine, key, block);
}
// NOLINTEND(bugprone-reserved-identifier)
}

namespace trefoil::protocols {
namespace {

using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

/// Every protocol, three times, so that each role falls to each party.
int RunEverything(mpc::Context& party) {
  int runs = 0;
  for (const ProtocolCase& protocol : AllProtocols()) {
    for (int turn = 0; turn < 3; ++turn, ++runs) (void)protocol.run(party, 2, 0x12345);
  }
  return runs;
}

TEST(FreshRandomness, NoStreamIsDrawnTwiceInARunOfAllProtocols) {
  TheRecorder().Start();
  (void)RunParties(Seed{1}, RunEverything);
  const auto ciphers = TheRecorder().Stop();

  ASSERT_EQ(ciphers.size(), 6U) << "two keys at each of three parties";
  for (const auto& [cipher, blocks] : ciphers) {
    EXPECT_GT(blocks.size(), 100U);
    for (const InitialBlock& block : blocks) {
      EXPECT_EQ(blocks.count(block), 1U)
          << "purpose " << int{block[0]} << " of operation " << int{block[1]} + 256 * int{block[2]};
      EXPECT_TRUE(std::all_of(block.begin() + 9, block.end(), [](unsigned char byte) { return byte == 0; }))
          << "the counter starts at zero";
    }
  }
}

TEST(FreshRandomness, TheRecorderSeesAStreamThatIsDrawnTwice) {
  TheRecorder().Start();
  mpc::Prss prss = InsecurePrss(Seed{1}, 0);
  std::array<mpc::Word, 2> words{};
  for (int k = 0; k < 2; ++k) prss.Fill(0, mpc::Purpose::kMask, 7, words);
  const auto ciphers = TheRecorder().Stop();
  ASSERT_EQ(ciphers.size(), 1U);
  EXPECT_EQ(ciphers.begin()->second.count(InitialBlock{3, 7}), 2U);
}

}  // namespace
}  // namespace trefoil::protocols
