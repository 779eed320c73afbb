#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mpc/ring.h"

// Tests of samples of 64-bit words whose false-alarm probability is proved, not approximated.
//
// Every check counts how often each of k symbols occurs among n samples and looks at the relative entropy to
// what is expected, n D = sum of count ln(count k / n). For independent uniform samples
//   P[n D >= s] <= (e s / (k - 1))^(k - 1) e^-s for s > k - 1
// (Agrawal, Finite-sample concentration of the multinomial in relative entropy, IEEE Trans. Information
// Theory 66 (2020), theorem 1.2). Where two groups of samples are compared, the distances of both to their
// common mean add; they are at most the distances to the law that both come from, so the same holds with 2 (k
// - 1), by the source's bound on the moment generating function.

namespace trefoil::testing_support {

/// The least s for which the bound above, with `freedom` in place of k - 1, is at most `false_alarm`.
[[nodiscard]] double EntropyLimit(int freedom, double false_alarm);

/// What two words make.
enum class Together { kSum, kDifference, kExclusiveOr };

struct SymbolCounts;

/// Counts checks and failures.
class UniformityChecker {
 public:
  /// Probability that one check fails although the samples are what they should be.
  static constexpr double kFalseAlarm = 1e-16;

  UniformityChecker();

  /// Independent, uniform words? At every place of a symbol in the word (bytes from 2^14 samples on, else
  /// nibbles), at every bit, and over all bits.
  [[nodiscard]] bool AreUniform(std::span<const mpc::Word> samples);
  /// The same of what two columns of one length make together, word by word.
  [[nodiscard]] bool AreUniform(std::span<const mpc::Word> first, std::span<const mpc::Word> second,
                                Together together);
  /// Words of one law, whatever it is? (Symbols and bits as above.) Each group's words are independent.
  [[nodiscard]] bool AreAlike(std::span<const mpc::Word> first, std::span<const mpc::Word> second);

  void AddFailure(std::string what) { failures_.push_back(std::move(what)); }

  [[nodiscard]] std::uint64_t checks() const { return checks_; }
  [[nodiscard]] const std::vector<std::string>& failures() const { return failures_; }

 private:
  struct Limits {
    double bit = 0;
    double nibble = 0;
    double byte = 0;
  };

  bool IsUniform(const SymbolCounts& table);

  std::uint64_t checks_ = 0;
  std::vector<std::string> failures_;
  Limits one_group_;
  Limits two_groups_;
};

}  // namespace trefoil::testing_support
