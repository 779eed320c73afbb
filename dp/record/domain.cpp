#include "dp/record/domain.h"

#include <cmath>
#include <sstream>

#include "base/error.h"

namespace trefoil::dp {

void CheckParameter(bool holds, const char* name, double value, const char* expected) {
  if (holds) return;
  std::ostringstream text;
  text << name << ": found " << value << ", expected " << expected;
  throw ConfigError(text.str());
}

void CheckDelta(double delta) {
  CheckParameter(delta > 0 && delta < 1, "delta", delta, "a number above 0 and below 1");
}

void CheckSamplingRate(double sampling_rate) {
  CheckParameter(sampling_rate >= 0 && sampling_rate <= 1, "sampling rate", sampling_rate,
                 "a number from 0 to 1");
}

void CheckNoiseMultiplier(double noise_multiplier) {
  CheckParameter(noise_multiplier >= 0 && std::isfinite(noise_multiplier), "noise multiplier",
                 noise_multiplier, "a finite number not below 0");
}

}  // namespace trefoil::dp
