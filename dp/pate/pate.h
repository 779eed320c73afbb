#pragma once
#include <cstdint>
#include <span>
#include <vector>

/// The privacy of noisy votes (PATE): `counts` teachers vote for each class, one teacher is one unit and
/// moves one vote from one class to another. Logarithms of q, so that it may be as small as it likes. q
/// bounds the probability that the mechanism gives another outcome than the likeliest; a log_q of 0 asks for
/// what holds whatever the votes are. Throughout: Renyi differential privacy in nats, orders above 1;
/// ContractError for a malformed argument, ConfigError for a noise or an order outside its domain. Sources:
/// Papernot et al., "Semi-supervised knowledge transfer for deep learning from private training data" (2017)
/// and "Scalable private learning with PATE" (2018). Numbers of bounds, here and in the source file: of 2017
/// (1) LNMax is (2 gamma, 0)-private, with its moments, (2) its moments by q, (3) its q; of 2018 (4) GNMax
/// has RDP order / sigma^2, (5) its RDP by q, (6) its q.
namespace trefoil::dp {

/// The noise on each count of an answer: Laplace (LNMax) or normal (GNMax).
enum class VoteNoise { kLaplace, kNormal };
struct AnswerNoise {
  VoteNoise law = VoteNoise::kNormal;
  double size = 0;  ///< in votes: the scale 1 / gamma of Laplace noise, the deviation of normal noise
};

/// log erfc(x), not below it: where erfc nears underflow, by erfc(x) < exp(-x^2) / (x sqrt(pi)).
[[nodiscard]] double LogErfc(double x);

/// The class with the most votes after this noise on each count: bound 3 (LNMax) or bound 6 (GNMax), at most
/// 1 - 1 / classes. Pre: at least one class; no count negative. Throws ConfigError for noise that is no
/// number above 0.
[[nodiscard]] double AnswerLogQ(std::span<const std::int64_t> counts, const AnswerNoise& noise);
/// The logarithm of what a class `gap` votes behind the first one adds to that q. Pre: gap >= 0.
[[nodiscard]] double BehindLogQ(double gap, const AnswerNoise& noise);

/// Whether the largest count is above `threshold` after normal noise of deviation sigma: the logarithm of the
/// probability that it is, and of the less likely answer's.
struct ThresholdLaw {
  double log_answered = 0;
  double log_q = 0;
};
[[nodiscard]] ThresholdLaw NoisyThreshold(std::span<const std::int64_t> counts, double threshold,
                                          double sigma);

/// How much of a tilted law answers a query, as log(P / (1 - P)): P is the most that p^order p'^(1 - order)
/// is of the sum of it and (1 - p)^order (1 - p')^(1 - order), p being the probability that these votes, p'
/// that any neighbour's, are above the threshold, or the other way round. Never below it. Infinity where all
/// are answered.
[[nodiscard]] double TiltedLogOdds(std::span<const std::int64_t> counts, double threshold, double sigma,
                                   double order);

/// RDP that an answer of RDP `answer` adds to that of a threshold which it is behind:
///   log(1 + P (exp((order - 1) answer) - 1)) / (order - 1), with TiltedLogOdds() for P,
/// at most `answer` itself, and more than its expectation: RDP is not linear in probabilities. Grows with
/// either argument (docs/explanation/privacy.md, "PATE").
[[nodiscard]] double AnsweredRdp(double log_odds, double answer, double order);

/// RDP of one answer of LNMax: the least of bound 1 (moments up to order - 1), bound 2 where it holds,
/// and its pure epsilon 2 / scale.
[[nodiscard]] double LnMaxRdp(double log_q, double scale, double order);

/// RDP of one answer of GNMax: the lesser of bound 4, order / sigma^2, and bound 5 where it holds, at the
/// orders mu_2 = sigma sqrt(-log q) and mu_1 = mu_2 + 1.
[[nodiscard]] double GnMaxRdp(double log_q, double sigma, double order);

/// LnMaxRdp() or GnMaxRdp().
[[nodiscard]] double AnswerRdp(double log_q, const AnswerNoise& noise, double order);

/// RDP of one noisy threshold, whose count one teacher moves by 1: as GNMax with sigma sqrt(2).
[[nodiscard]] double NoisyThresholdRdp(double log_q, double sigma, double order);

/// The orders of the authors' analysis of 2018, with which RdpConversion::kBasic gives their figures: 2 to
/// 100.5 by 0.5, and 200 from 100 to 1000 in equal ratios.
[[nodiscard]] std::vector<double> PateOrders();

}  // namespace trefoil::dp
