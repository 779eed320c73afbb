#pragma once
#include <string>

namespace trefoil::jobs {

/// How figures of privacy are printed: rounded outwards at the digits shown (base/outward_text.h), so that no
/// text says less than what was computed. Whatever prints one uses these.

/// "3.000", or "infinite" where there is no guarantee: an epsilon in a line of progress.
[[nodiscard]] std::string EpsilonText(double epsilon);
/// "47.71", four digits, or "infinite": an epsilon among several in a sentence.
[[nodiscard]] std::string ShortEpsilonText(double epsilon);
/// Six digits, or "infinite": an epsilon beside a cap, which it may exceed by little.
[[nodiscard]] std::string CloseEpsilonText(double epsilon);
/// "0.7885", or "no guarantee": an epsilon in a list of jobs.
[[nodiscard]] std::string ListedEpsilonText(double epsilon);
/// Which epsilon is said first: the insider's where it knows which records there are, since it then is for
/// other values of a record, and the outsider's for less.
enum class FirstEpsilon { kOutsider, kInsider };
/// "3.000 outsider 4.039 insider", or the other way round: both epsilons in a line, as EpsilonText.
[[nodiscard]] std::string EpsilonsText(double outsider, double insider, FirstEpsilon first);
/// The same of two figures that are texts already.
[[nodiscard]] std::string InOrder(const std::string& outsider, const std::string& insider,
                                  FirstEpsilon first);
/// Six digits, or "infinite: no guarantee": an epsilon, or another figure that is worse the larger it is.
[[nodiscard]] std::string BoundText(double bound);
/// Six digits: "1e-05".
[[nodiscard]] std::string DeltaText(double delta);
/// Six digits, rounded down: a noise multiplier, which is worse the smaller it is.
[[nodiscard]] std::string MultiplierText(double sigma);
/// "0.9123", rounded down: a part of records that were classified correctly.
[[nodiscard]] std::string AccuracyText(double accuracy);

}  // namespace trefoil::jobs
