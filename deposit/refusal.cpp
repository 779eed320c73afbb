#include "deposit/refusal.h"

#include <spdlog/fmt/fmt.h>

#include <array>

namespace trefoil::deposit {

const char* CodeOf(Reason reason) {
  static constexpr std::array<const char*, kReasons> kCodes{
      "size",       "magic",   "version",    "party",    "signature", "owner",
      "header",     "study",   "recipients", "capacity", "body",      "sealing",
      "commitment", "content", "repeated",   "live",     "withdrawn"};
  return kCodes.at(static_cast<std::size_t>(reason));
}

RefusedDeposit::RefusedDeposit(Reason reason, const std::filesystem::path& file, const std::string& found,
                               const std::string& expected)
    : DataError(fmt::format("{}: refused ({}): found {}, expected {}", file.string(), CodeOf(reason), found,
                            expected)),
      reason_(reason) {}

}  // namespace trefoil::deposit
