#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "mpc/ring.h"
#include "tests/support/secrecy/uniformity.h"

namespace trefoil::testing_support {

/// What a party saw at one point of its program, a message or a stretch of its PRG streams, as columns: one
/// for each place in the message, with a sample for each lane of a call, or for each session.
struct Sight {
  std::string name;
  bool received = false;
  bool bits = false;  ///< packed bits, added by exclusive or
  std::size_t samples = 0;
  std::vector<mpc::Word> words;  ///< column after column

  [[nodiscard]] std::size_t columns() const { return words.size() / samples; }
  [[nodiscard]] std::span<const mpc::Word> column(std::size_t k) const {
    return {&words[k * samples], samples};
  }
};

/// In the order of the party's program.
using View = std::vector<Sight>;

/// Checks that what was received is independent, uniform words (or bits): each column; and, since what a
/// party can tell from several words shows in their sums and differences (exclusive ors of bits),
/// - neighbouring samples of a column: 1, 2 and 3 apart, bits also 1 bit apart (a mask repeated over lanes or
///   sessions; also places of one lane, where a message holds them side by side);
/// - columns of one message, up to 3 apart;
/// - columns of a message and those of what else the party received, or drew from its PRG streams: the 16
///   sights before and the 16 after. All pairs of columns where there are at most 16 of them, else those at
///   the same place.
/// Of pairs the first 25,920 samples: a mask that both have, or that the party knows, is in all of them.
/// (A block of a stream that is used again among later lanes alone is for prg_tracker.h to find.)
/// A right protocol's view passes: given all that its receiver knows, each received word is masked by a
/// stream that it does not know, and by one of its own, so all of these are independent uniform words.
void CheckUniform(const View& view, UniformityChecker& checker);

/// Checks that two views of the same shape follow the same law, whatever it is, at each column, and at sums
/// and differences of a message's columns up to 3 apart. For messages that are not uniform by design.
void CheckAlike(const View& first, const View& second, UniformityChecker& checker);

}  // namespace trefoil::testing_support
