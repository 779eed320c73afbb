#include "deposit/withdrawal.h"

#include <spdlog/fmt/fmt.h>

#include "deposit/format/bytes.h"
#include "deposit/refusal.h"

namespace trefoil::deposit {
namespace {

// Also tells what is signed here from what is signed of deposits.
constexpr std::string_view kWithdrawalMagic = "trefoil withdrawal\n";
constexpr std::uint64_t kWithdrawalVersion = 1;

}  // namespace

std::string SignWithdrawal(const Hash& deposit, std::uint64_t time, const KeyPair& owner) {
  FieldWriter out;
  out.Padded(kWithdrawalMagic, kWithdrawalMagic.size());
  out.Number(kWithdrawalVersion, 4);
  out.Bytes(deposit);
  out.Bytes(owner.known);
  out.Number(time, 8);
  const auto signature = Sign(owner, out.text());
  out.Bytes(signature);
  return out.text();
}

Withdrawal ParseWithdrawal(std::string_view content, const std::filesystem::path& file) {
  if (!content.starts_with(kWithdrawalMagic))
    throw RefusedDeposit(Reason::kMagic, file, "another kind of file",
                         "a withdrawal, as trefoil withdraw writes it");
  if (content.size() != kWithdrawalBytes)
    throw RefusedDeposit(Reason::kSize, file, fmt::format("{} bytes", content.size()),
                         fmt::format("{}", kWithdrawalBytes));
  FieldReader in(BytesOf(content.substr(kWithdrawalMagic.size())));
  const auto version = in.Number(4);
  if (version != kWithdrawalVersion)
    throw RefusedDeposit(Reason::kVersion, file, fmt::format("version {}", version),
                         fmt::format("version {}", kWithdrawalVersion));
  Withdrawal withdrawal{.content = std::string(content)};
  withdrawal.deposit = in.Array<32>();
  withdrawal.owner = in.Array<32>();
  withdrawal.time = in.Number(8);
  const auto signature = in.Array<64>();
  if (!Verify(withdrawal.owner, content.substr(0, content.size() - signature.size()), signature))
    throw RefusedDeposit(Reason::kSignature, file, "another signature", "its owner's");
  return withdrawal;
}

}  // namespace trefoil::deposit
