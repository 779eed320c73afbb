// What an inbox reads before it knows the sender: the prefix of an upload, as it is, and with a magic,
// version, owner and signature that are right, so that what is behind them is read, too. And what an owner
// reads of an inbox: a receipt.
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/error.h"
#include "deposit/format/bytes.h"
#include "deposit/inbox/receipt.h"
#include "deposit/read_deposit.h"
#include "tests/fuzz/fuzz.h"

namespace trefoil::fuzz::prefix_target {
namespace {

constexpr int kParty = 1;

using PrefixArray = std::array<std::uint8_t, deposit::kPrefixBytes>;

const deposit::KeyPair& Owner() {
  static const auto kOwner = [] {
    SecretKey secret;
    std::fill(secret.bytes().begin(), secret.bytes().end(), std::uint8_t{9});
    return deposit::PairOf(deposit::KeyKind::kOwner, std::move(secret));
  }();
  return kOwner;
}

void ReadPrefix(const PrefixArray& bytes, std::optional<std::uint64_t> file_bytes) {
  static const std::vector<deposit::TrustedOwner> kOwners{{.name = "owner", .key = Owner().known}};
  ReadAs<deposit::RefusedDeposit>([&] {
    const auto prefix = deposit::CheckedPrefix(bytes, file_bytes, kParty, kOwners, "input");
    Check(deposit::EncodePrefix(prefix) == deposit::TextOf(bytes), "a prefix that is not what it was");
    Check(prefix.party == kParty, "another party's prefix");
    if (file_bytes) {
      Check(prefix.header_bytes <= *file_bytes && prefix.body_bytes <= *file_bytes - prefix.header_bytes,
            "a length that wraps");
    }
    return prefix.party;
  });
}

/// The same, as the owner would have signed it.
PrefixArray Resigned(const PrefixArray& bytes) {
  auto prefix = deposit::DecodePrefix(bytes);
  prefix.owner = Owner().known;
  const auto text = deposit::SignedText(prefix);
  prefix.signature = deposit::Sign(Owner(), {text.data(), text.size()});
  PrefixArray resigned{};
  const auto encoded = deposit::EncodePrefix(prefix);
  std::copy(encoded.begin(), encoded.end(), resigned.begin());
  return resigned;
}

}  // namespace

void Read(std::span<const std::uint8_t> input) {
  ReadAs<DataError>([&] {
    deposit::CheckReceipt(std::string(Text(input)), deposit::Hash{}, kParty, "00", "input");
    return 0;
  });
  if (input.size() < deposit::kPrefixBytes) return;
  PrefixArray bytes{};
  std::copy_n(input.begin(), bytes.size(), bytes.begin());
  for (const auto& one : {bytes, Resigned(bytes)}) {
    ReadPrefix(one, {});
    ReadPrefix(one, input.size());
    const auto claimed = deposit::DecodePrefix(one);
    ReadPrefix(one, deposit::kPrefixBytes + claimed.header_bytes + claimed.body_bytes);
  }
}

const Target kTarget("prefix", Read);

}  // namespace trefoil::fuzz::prefix_target
