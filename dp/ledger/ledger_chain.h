#pragma once
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace trefoil::dp {

/// Text lines of which each holds the hash of the one before, so that none can be changed, left out,
/// exchanged or added in between without showing. A line is
///
///     {...,"previous":"P",...,"hash":"H"}
///
/// a JSON object on one line as nlohmann::json::dump writes it, keys in order, but for `hash`, which comes
/// last: SHA-256 of the line's bytes before `,"hash":`. P is the H of the line before, 64 zeros on the first.
/// What the chain cannot show: whole lines missing at its end. Whoever compares the newest hash with one that
/// was noted before sees that, too.

/// Throws DataError: "found ..., expected ...".
[[noreturn]] void RefuseEntry(const std::string& found, const std::string& expected);

/// P of a chain's first line.
[[nodiscard]] std::string FirstPrevious();

/// The line of a JSON object that has neither `previous` nor `hash`, without a line feed.
[[nodiscard]] std::string SealLine(nlohmann::json content, const std::string& previous);

/// What a line says, without `previous` and `hash`.
struct ChainedLine {
  nlohmann::json content;
  std::string hash;
};

/// The inverse of SealLine. Throws DataError "found X, expected Y" unless the line is, byte for byte, one
/// that SealLine writes after `previous`.
[[nodiscard]] ChainedLine OpenLine(std::string_view line, const std::string& previous);

/// What stands behind a chain's last line feed.
enum class Tail { kNothing, kWholeLine, kTornLine };

/// A chain's lines, and what a process that was killed while it wrote may have left behind them. kWholeLine:
/// a last line that lacks nothing but its line feed, and is among `lines`. kTornLine: the beginning of one,
/// `torn` bytes of it; it counts as not written.
struct Chain {
  std::vector<ChainedLine> lines;
  Tail tail = Tail::kNothing;
  std::size_t torn = 0;
};

/// Opens lines that follow one with the hash `previous`; the first has the number `first`. Throws DataError
/// "line N: found X, expected Y".
[[nodiscard]] Chain OpenChain(std::string_view text, std::string previous, std::size_t first);

}  // namespace trefoil::dp
