#include "dp/ledger/ledger_chain.h"

#include <utility>

#include "base/error.h"
#include "base/secrets/sha256.h"

namespace trefoil::dp {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kHexDigits = 64;
constexpr std::string_view kBeforeHash = ",\"hash\":\"";
constexpr std::string_view kAfterHash = "\"}";
constexpr std::size_t kEnding = kBeforeHash.size() + kHexDigits + kAfterHash.size();

bool HasEnding(std::string_view line) {
  return line.size() > kEnding && line.substr(line.size() - kEnding, kBeforeHash.size()) == kBeforeHash &&
         line.ends_with(kAfterHash);
}

/// Whether the text is the beginning of a line, as far as a process got that was writing it, or the zeros of
/// a file that was made longer before a crash of the machine: not a whole line with something behind it.
bool MayBeTorn(std::string_view text, const std::string& previous) {
  if (text.front() != '{' && text.front() != '\0') return false;
  const auto end = text.find(kBeforeHash);
  if (end == std::string_view::npos || text.size() <= end + kEnding) return true;
  try {
    (void)OpenLine(text.substr(0, end + kEnding), previous);
    return false;
  } catch (const DataError&) {
    return true;
  }
}

}  // namespace

void RefuseEntry(const std::string& found, const std::string& expected) {
  throw DataError("found " + found + ", expected " + expected);
}

std::string FirstPrevious() { return std::string(kHexDigits, '0'); }

std::string SealLine(Json content, const std::string& previous) {
  Require(content.is_object() && !content.contains("previous") && !content.contains("hash"),
          "SealLine: an object without previous and hash");
  content["previous"] = previous;
  std::string line = content.dump();
  line.pop_back();
  const std::string hash = Sha256Hex(line);
  return line.append(kBeforeHash).append(hash).append(kAfterHash);
}

ChainedLine OpenLine(std::string_view line, const std::string& previous) {
  if (!HasEnding(line)) RefuseEntry("no hash at the end", "a line of a ledger");
  const auto covered = line.substr(0, line.size() - kEnding);
  const auto hash = line.substr(covered.size() + kBeforeHash.size(), kHexDigits);
  if (Sha256Hex(covered) != hash) RefuseEntry("another hash than that of the line", "an unchanged line");
  auto content = Json::parse(std::string(covered) + "}", nullptr, false);
  if (!content.is_object() || !content.contains("previous"))
    RefuseEntry("no JSON object", "a line of a ledger");
  if (content["previous"] != previous)
    RefuseEntry("the hash of another line before it", "that of the line before");
  content.erase("previous");
  if (content.contains("hash") || SealLine(content, previous) != line)
    RefuseEntry("JSON in another form", "keys in order, each once, and no spaces");
  return {.content = std::move(content), .hash = std::string(hash)};
}

Chain OpenChain(std::string_view text, std::string previous, std::size_t first) {
  Chain chain;
  const auto open = [&](std::string_view line) {
    try {
      chain.lines.push_back(OpenLine(line, previous));
      previous = chain.lines.back().hash;
    } catch (const DataError& error) {
      throw DataError("line " + std::to_string(first + chain.lines.size()) + ": " + error.what());
    }
  };
  for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    open(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  if (text.empty()) return chain;
  if (HasEnding(text)) {
    open(text);
    chain.tail = Tail::kWholeLine;
  } else if (MayBeTorn(text, previous)) {
    chain.tail = Tail::kTornLine;
    chain.torn = text.size();
  } else {
    throw DataError("line " + std::to_string(first + chain.lines.size()) +
                    ": found something that is no line's beginning, expected a line feed");
  }
  return chain;
}

}  // namespace trefoil::dp
