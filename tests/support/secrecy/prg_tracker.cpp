#include "tests/support/secrecy/prg_tracker.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <map>
#include <sstream>
#include <utility>

#include "tests/support/secrecy/stamp.h"

namespace trefoil::testing_support {
namespace {

using BlockNumber = unsigned __int128;

/// A number that no other thread of the process has or had.
std::uint64_t ThreadNumber() {
  static std::atomic<std::uint64_t> threads{0};
  thread_local const std::uint64_t number = ++threads;
  return number;
}

thread_local DrawLog* t_log = nullptr;

/// The block as the counter that AES-CTR increments: big-endian.
BlockNumber NumberOf(const CounterBlock& block) {
  BlockNumber number = 0;
  for (const unsigned char byte : block) number = number << 8 | byte;
  return number;
}

/// Whose stream it is: the thread that first keyed a cipher with it, and the key.
using StreamName = std::pair<std::uint64_t, CipherKey>;

/// What has been used of a stream: first block, block after the last.
struct Stream {
  int ciphers = 0;
  std::map<BlockNumber, BlockNumber> used;
};

/// A cipher in counter mode.
struct Cipher {
  const unsigned char* key_place = nullptr;
  StreamName stream;
  DrawLog* log = nullptr;
  std::size_t number_in_log = 0;
  StreamDraw draw;
  bool overlaps = false;  ///< the draw under way, and that was said
};

class Tracker {
 public:
  void Key(const EVP_CIPHER_CTX* context, const unsigned char* key) {
    const std::lock_guard lock(mutex_);
    Forget(context);
    Cipher cipher;
    cipher.key_place = key;
    std::copy_n(key, cipher.draw.key.size(), cipher.draw.key.begin());
    const auto twin = std::find_if(ciphers_.begin(), ciphers_.end(), [&](const auto& other) {
      return other.second.key_place == key && other.second.draw.key == cipher.draw.key;
    });
    if (twin != ciphers_.end()) {
      cipher.stream = twin->second.stream;
      cipher.log = twin->second.log;
    } else {
      cipher.stream = {ThreadNumber(), cipher.draw.key};
      cipher.log = t_log;
    }
    ++streams_[cipher.stream].ciphers;
    ciphers_[context] = cipher;
  }

  void Start(const EVP_CIPHER_CTX* context, const unsigned char* block) {
    const std::lock_guard lock(mutex_);
    const auto at = ciphers_.find(context);
    if (at == ciphers_.end()) return;
    StreamDraw& draw = at->second.draw;
    std::copy_n(block, draw.start.size(), draw.start.begin());
    draw.bytes = 0;
    at->second.overlaps = false;
    draw.stamp = NextStamp();
    CurrentOperation() = draw.operation();
    if (at->second.log != nullptr) at->second.number_in_log = at->second.log->Add(draw);
  }

  void Use(const EVP_CIPHER_CTX* context, std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto at = ciphers_.find(context);
    if (at == ciphers_.end()) return;
    Cipher& cipher = at->second;
    const std::uint64_t blocks_before = cipher.draw.blocks();
    cipher.draw.bytes += bytes;
    if (cipher.log != nullptr) cipher.log->Grow(cipher.number_in_log, bytes);
    const BlockNumber first = NumberOf(cipher.draw.start);
    UseBlocks(cipher, first + blocks_before, first + cipher.draw.blocks());
  }

  void Free(const EVP_CIPHER_CTX* context) {
    const std::lock_guard lock(mutex_);
    Forget(context);
  }

  std::vector<std::string> TakeOverlaps() {
    const std::lock_guard lock(mutex_);
    return std::exchange(overlaps_, {});
  }

 private:
  void Forget(const EVP_CIPHER_CTX* context) {
    const auto at = ciphers_.find(context);
    if (at == ciphers_.end()) return;
    if (--streams_[at->second.stream].ciphers == 0) streams_.erase(at->second.stream);
    ciphers_.erase(at);
  }

  void UseBlocks(Cipher& cipher, BlockNumber first, BlockNumber end) {
    if (first == end) return;
    auto& used = streams_[cipher.stream].used;
    const auto next = used.lower_bound(first);
    // A dealer that deals online takes its mask for the second time, the same words for the same use
    // (stream_rules.h counts how often).
    const bool mask = cipher.draw.purpose() == mpc::Purpose::kMask;
    if (mask && next != used.end() && next->first == first && next->second == end) return;
    const bool runs_into_next = next != used.end() && next->first < end;
    const bool starts_in_previous = next != used.begin() && std::prev(next)->second > first;
    if ((runs_into_next || starts_in_previous) && !std::exchange(cipher.overlaps, true)) {
      std::ostringstream text;
      text << "a key stream was used twice: purpose " << static_cast<int>(cipher.draw.purpose())
           << " of operation " << cipher.draw.operation() << ", up to block " << cipher.draw.blocks();
      overlaps_.push_back(text.str());
    }
    BlockNumber& known_end = used[first];
    known_end = std::max(known_end, end);
  }

  std::mutex mutex_;
  std::map<const EVP_CIPHER_CTX*, Cipher> ciphers_;
  std::map<StreamName, Stream> streams_;
  std::vector<std::string> overlaps_;
};

Tracker& TheTracker() {
  static Tracker tracker;
  return tracker;
}

class FailOnOverlaps final : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo&) override {
    for (const std::string& overlap : TakeOverlaps()) ADD_FAILURE() << overlap;
  }
};

/// Before main: the listener belongs to gtest from then on.
[[maybe_unused]] const bool kListening = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new FailOnOverlaps);
  return true;
}();

}  // namespace
}  // namespace trefoil::testing_support

extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier): the names that the linker's --wrap asks for
int __real_EVP_EncryptInit_ex(EVP_CIPHER_CTX* context, const EVP_CIPHER* cipher, ENGINE* engine,
                              const unsigned char* key, const unsigned char* block);
int __wrap_EVP_EncryptInit_ex(EVP_CIPHER_CTX* context, const EVP_CIPHER* cipher, ENGINE* engine,
                              const unsigned char* key, const unsigned char* block) {
  auto& tracker = trefoil::testing_support::TheTracker();
  const bool counts = cipher == nullptr || EVP_CIPHER_get_mode(cipher) == EVP_CIPH_CTR_MODE;
  if (counts && key != nullptr) tracker.Key(context, key);
  if (counts && block != nullptr) tracker.Start(context, block);
  return __real_EVP_EncryptInit_ex(context, cipher, engine, key, block);
}

int __real_EVP_EncryptUpdate(EVP_CIPHER_CTX* context, unsigned char* out, int* written,
                             const unsigned char* in, int size);
int __wrap_EVP_EncryptUpdate(EVP_CIPHER_CTX* context, unsigned char* out, int* written,
                             const unsigned char* in, int size) {
  trefoil::testing_support::TheTracker().Use(context, static_cast<std::uint64_t>(size));
  return __real_EVP_EncryptUpdate(context, out, written, in, size);
}

void __real_EVP_CIPHER_CTX_free(EVP_CIPHER_CTX* context);
void __wrap_EVP_CIPHER_CTX_free(EVP_CIPHER_CTX* context) {
  trefoil::testing_support::TheTracker().Free(context);
  __real_EVP_CIPHER_CTX_free(context);
}
// NOLINTEND(bugprone-reserved-identifier)
}

namespace trefoil::testing_support {

mpc::OperationId StreamDraw::operation() const {
  mpc::OperationId operation = 0;
  for (std::size_t i = 8; i > 0; --i) operation = operation << 8 | start[i];
  return operation;
}

std::size_t DrawLog::Add(const StreamDraw& draw) {
  const std::lock_guard lock(mutex_);
  draws_.push_back(draw);
  return draws_.size() - 1;
}

void DrawLog::Grow(std::size_t number, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  draws_.at(number).bytes += bytes;
}

std::vector<StreamDraw> DrawLog::Take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(draws_, {});
}

ScopedDrawLog::ScopedDrawLog(DrawLog& log) : before_(std::exchange(t_log, &log)) {}
ScopedDrawLog::~ScopedDrawLog() { t_log = before_; }

std::vector<mpc::Word> WordsOf(const StreamDraw& draw) {
  std::vector<mpc::Word> words((draw.bytes + sizeof(mpc::Word) - 1) / sizeof(mpc::Word), 0);
  EVP_CIPHER_CTX* context = EVP_CIPHER_CTX_new();
  auto* bytes = reinterpret_cast<unsigned char*>(words.data());
  int written = 0;
  EXPECT_EQ(
      __real_EVP_EncryptInit_ex(context, EVP_aes_128_ctr(), nullptr, draw.key.data(), draw.start.data()), 1);
  EXPECT_EQ(__real_EVP_EncryptUpdate(context, bytes, &written, bytes, static_cast<int>(draw.bytes)), 1);
  __real_EVP_CIPHER_CTX_free(context);
  return words;
}

std::vector<std::string> TakeOverlaps() { return TheTracker().TakeOverlaps(); }

}  // namespace trefoil::testing_support
