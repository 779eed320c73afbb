#pragma once
#include <string>

namespace trefoil::apps {

/// How figures of privacy are printed: rounded outwards at the digits shown (base/outward_text.h), so that no
/// text says less than what was computed. Whatever prints one uses these.

/// "3.000", or "infinite" where there is no guarantee: an epsilon in a line of progress.
[[nodiscard]] std::string EpsilonText(double epsilon);
/// Six digits, or "infinite: no guarantee": an epsilon, or another figure that is worse the larger it is.
[[nodiscard]] std::string BoundText(double bound);
/// Six digits: "1e-05".
[[nodiscard]] std::string DeltaText(double delta);
/// Six digits, rounded down: a noise multiplier, which is worse the smaller it is.
[[nodiscard]] std::string MultiplierText(double sigma);
/// "0.9123", rounded down: a part of records that were classified correctly.
[[nodiscard]] std::string AccuracyText(double accuracy);

}  // namespace trefoil::apps
