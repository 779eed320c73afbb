#pragma once
#include <cstdint>

#include "mpc/context.h"
#include "mpc/cost.h"
#include "protocols/form.h"

namespace trefoil::protocols {

/// What one message and one byte take between two parties, as measured.
struct Link {
  double message_seconds = 0;  ///< of an empty message, one way
  double bytes_per_second = 1;
  /// How many times longer hashing takes at the slowest of the three than on the machine whose constants
  /// ComparisonSeconds and its like have. It stands for all computing there when a form is chosen; planned
  /// times know nothing of it.
  double slowness = 1;
  /// Of the machines at its ends, as a multiple of that of docs/reference/performance.md: for planned times,
  /// on which no form's choice depends. A run does not measure it.
  double speed = 1;
};

/// Measures the slowest of this party's links, and how fast this machine hashes, and agrees on the slowest of
/// all, so that every party has the same figures. Cost: 24 rounds, 6 MiB and 48 bytes from each party, once a
/// session.
[[nodiscard]] Link MeasureLink(mpc::Context& party);
[[nodiscard]] mpc::Cost MeasureLinkCost();

/// Seconds that an operation is expected to take where it is run time after time: its rounds, the bytes of
/// the party that sends most, offline ones included (they are sent ahead, but take their share of link and
/// processors), and `compute_seconds` times the link's slowness. For comparing forms.
[[nodiscard]] double ExpectedSeconds(const mpc::Cost& cost, double compute_seconds, const Link& link);

/// Computation of comparing `count` values with `thresholds` thresholds each at a width, by constants
/// measured once (docs/reference/performance.md): 2 AES blocks a bit and point and 6 a bit and key, of several
/// thresholds half of the points' and where each point's path parts from others; or the carry tree's words.
[[nodiscard]] double ComparisonSeconds(Form form, std::int64_t count, std::int64_t thresholds, int width);

/// The same of finding which of `places` powers of two a value's leading bit is: a comparison with each, of
/// which only the bits next to the power are its own, or one bit decomposition.
[[nodiscard]] double LeadingBitSeconds(Form form, std::int64_t count, std::int64_t places, int width);

/// The same of sigmoids of `count` values by a series of so many terms, which has one form: a sine and a
/// cosine each are dealt, and evaluated by two parties.
[[nodiscard]] double SeriesSeconds(std::int64_t count, std::int64_t terms);

}  // namespace trefoil::protocols
