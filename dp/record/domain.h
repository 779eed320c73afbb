#pragma once

namespace trefoil::dp {

/// Throws ConfigError "NAME: found VALUE, expected EXPECTED" unless `holds`. For parameters that a user
/// wrote.
void CheckParameter(bool holds, const char* name, double value, const char* expected);

/// The domains that several functions share: each throws ConfigError, also for NaN.
void CheckDelta(double delta);                       ///< (0, 1)
void CheckSamplingRate(double sampling_rate);        ///< [0, 1]
void CheckNoiseMultiplier(double noise_multiplier);  ///< [0, infinity)

}  // namespace trefoil::dp
