#include "runtime/abort_reason.h"

#include "base/error.h"
#include "base/error_report.h"
#include "runtime/ranks/rank_group.h"

namespace trefoil::runtime {

net::AbortReason ReasonFor(const std::exception& error) {
  using net::AbortCode;
  if (dynamic_cast<const RanksEnded*>(&error) != nullptr) return {.code = AbortCode::kRankLost};
  if (const auto* lost = dynamic_cast<const NetworkError*>(&error)) {
    return {.code = AbortCode::kPeerLost, .about = lost->peer()};
  }
  if (const auto* broken = dynamic_cast<const ProtocolError*>(&error)) {
    return {.code = AbortCode::kProtocol, .about = broken->peer()};
  }
  if (dynamic_cast<const ConfigError*>(&error) != nullptr) return {.code = AbortCode::kConfiguration};
  if (dynamic_cast<const DataError*>(&error) != nullptr) return {.code = AbortCode::kData};
  if (dynamic_cast<const BudgetError*>(&error) != nullptr) return {.code = AbortCode::kBudget};
  if (dynamic_cast<const StoppedError*>(&error) != nullptr) return {.code = AbortCode::kStopped};
  if (IsLackOfMemory(error)) return {.code = AbortCode::kMemory};
  if (IsLackOfStorage(error)) return {.code = AbortCode::kStorage};
  return {};
}

bool WouldBeRefusedAgain(const std::exception& error) {
  if (const auto* aborted = dynamic_cast<const net::AbortedError*>(&error))
    return aborted->code() == net::AbortCode::kData;
  const auto code = ExitCodeOf(error);
  return code == kData || code == kBudget;
}

void AbortWithReason(net::Transport& links) noexcept {
  net::AbortReason reason;
  try {
    if (const auto handled = std::current_exception()) std::rethrow_exception(handled);
  } catch (const std::exception& error) {
    reason = ReasonFor(error);
  } catch (...) {  // of no known kind: an internal error
    reason = {};
  }
  links.Abort(reason);
}

}  // namespace trefoil::runtime
