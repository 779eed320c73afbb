// What a peer says that it has of a run that is to go on.
#include "base/error.h"
#include "runtime/resume/run_agreement.h"
#include "tests/fuzz/fuzz.h"

namespace trefoil::fuzz::claim_target {

void Read(std::span<const std::uint8_t> input) {
  constexpr int kSteps = 100;
  try {
    const auto claim = runtime::ReadClaim(std::string(Text(input)), 1, kSteps);
    const auto again = runtime::ReadClaim(runtime::ToText(claim), 1, kSteps);
    Check(runtime::ToText(again) == runtime::ToText(claim), "a claim that is not what it was");
    runtime::RunClaim own = claim;
    if (!own.held.empty()) own.held.pop_back();
    const auto agreed = runtime::Agree({own, claim, own}, 0, kSteps);
    Check(!agreed.from || (agreed.from->step >= 0 && agreed.from->step <= kSteps),
          "a checkpoint of a step that is not the job's");
  } catch (const ProtocolError&) {
  } catch (const ConfigError&) {
  }
}

const Target kTarget("claim", Read);

}  // namespace trefoil::fuzz::claim_target
