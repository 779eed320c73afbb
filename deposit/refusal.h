#pragma once
#include <filesystem>
#include <string>

#include "base/error.h"

namespace trefoil::deposit {

/// Why a party does not take a deposit, in the order in which it looks (docs/reference/deposits.md,
/// "Refusals").
enum class Reason {
  kSize,
  kMagic,
  kVersion,
  kParty,
  kSignature,
  kOwner,
  kHeader,
  kStudy,
  kRecipients,
  kCapacity,
  kBody,
  kSealing,
  kCommitment,
  kContent,
  kRepeated,
  kLive,
  kWithdrawn,
};

inline constexpr int kReasons = 17;

/// As texts and programs know it: "size", "magic" and so on.
[[nodiscard]] const char* CodeOf(Reason reason);

/// A deposit that is not taken: "FILE: refused (CODE): found X, expected Y". Nothing of what is sealed is in
/// the text.
class RefusedDeposit : public DataError {
 public:
  RefusedDeposit(Reason reason, const std::filesystem::path& file, const std::string& found,
                 const std::string& expected);
  [[nodiscard]] Reason reason() const { return reason_; }

 private:
  Reason reason_;
};

}  // namespace trefoil::deposit
