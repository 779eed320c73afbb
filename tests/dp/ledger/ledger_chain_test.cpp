#include "dp/ledger/ledger_chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "base/secrets/sha256.h"
#include "tests/support/error_text.h"

namespace trefoil::dp {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

/// Three lines with their line feeds.
std::string ThreeLines() {
  std::string text;
  std::string previous = FirstPrevious();
  for (const auto& content :
       {Json{{"a", 1}, {"z", "}"}}, Json{{"b", {{"c", "d\"}\n"}}}}, Json{{"zz", 1e-5}}}) {
    const auto line = SealLine(content, previous);
    previous = OpenLine(line, previous).hash;
    text += line + "\n";
  }
  return text;
}

std::string ChainError(const std::string& text) {
  return testing_support::ErrorText<DataError>([&] { (void)OpenChain(text, FirstPrevious(), 1); });
}

TEST(SealLine, HashesTheLineBeforeItsHash) {
  const auto line = SealLine({{"x", 1}}, FirstPrevious());
  const std::string covered = "{\"previous\":\"" + std::string(64, '0') + "\",\"x\":1";
  EXPECT_EQ(line, covered + ",\"hash\":\"" + Sha256Hex(covered) + "\"}");
  EXPECT_THROW((void)SealLine({{"hash", 1}}, FirstPrevious()), ContractError);
}

TEST(OpenChain, ReadsWhatWasSealed) {
  const auto text = ThreeLines();
  const auto chain = OpenChain(text, FirstPrevious(), 1);
  ASSERT_EQ(chain.lines.size(), 3U);
  EXPECT_EQ(chain.lines[1].content, (Json{{"b", {{"c", "d\"}\n"}}}}));
  EXPECT_EQ(chain.tail, Tail::kNothing);
  const auto first = text.find('\n') + 1;
  const auto rest = OpenChain(text.substr(first), chain.lines[0].hash, 2);
  EXPECT_EQ(rest.lines.size(), 2U);
  EXPECT_TRUE(OpenChain("", FirstPrevious(), 1).lines.empty());
}

// Every byte, exchanged for every other: the line it is in is named, or the one after a line feed that is
// gone.
TEST(OpenChain, FindsEverySingleByteThatWasChanged) {
  const auto text = ThreeLines();
  int changes = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    for (int byte = 0; byte < 256; ++byte) {
      if (static_cast<char>(byte) == text[at]) continue;
      std::string changed = text;
      changed[at] = static_cast<char>(byte);
      ASSERT_THAT(ChainError(changed), HasSubstr("line " + std::to_string(line) + ":")) << at << ' ' << byte;
      ++changes;
    }
  }
  EXPECT_EQ(changes, static_cast<int>(text.size()) * 255);
}

TEST(OpenChain, FindsLinesThatWereLeftOutExchangedOrDoubled) {
  const auto text = ThreeLines();
  const auto second = text.find('\n') + 1;
  const auto third = text.find('\n', second) + 1;
  const auto a = text.substr(0, second);
  const auto b = text.substr(second, third - second);
  const auto c = text.substr(third);
  EXPECT_THAT(ChainError(b + c), HasSubstr("line 1: found the hash of another line before it"));
  EXPECT_THAT(ChainError(a + c), HasSubstr("line 2:"));
  EXPECT_THAT(ChainError(a + c + b), HasSubstr("line 2:"));
  EXPECT_THAT(ChainError(a + a + b), HasSubstr("line 2:"));
  EXPECT_THAT(ChainError(a + "\n" + b), HasSubstr("line 2: found no hash"));
  EXPECT_THAT(ChainError("x"), HasSubstr("line 1: found something that is no line's beginning"));
}

// A line that was sealed again after a change does not fit what follows.
TEST(OpenChain, FindsALineThatWasSealedAgain) {
  const auto text = ThreeLines();
  const auto second = text.find('\n') + 1;
  const auto other = SealLine({{"a", 2}, {"z", "}"}}, FirstPrevious()) + "\n";
  EXPECT_THAT(ChainError(other + text.substr(second)), HasSubstr("line 2:"));
  const std::string spaced = "{\"previous\": \"" + std::string(64, '0') + "\"";
  EXPECT_THAT(ChainError(spaced + ",\"hash\":\"" + Sha256Hex(spaced) + "\"}\n"),
              HasSubstr("JSON in another form"));
}

// What a process leaves that is killed while it writes the third line, wherever it was.
TEST(OpenChain, TellsATornEndFromABrokenOne) {
  const auto text = ThreeLines();
  const auto third = text.find('\n', text.find('\n') + 1) + 1;
  for (auto end = third; end < text.size() - 1; ++end) {
    const auto chain = OpenChain(text.substr(0, end), FirstPrevious(), 1);
    EXPECT_EQ(chain.lines.size(), 2U);
    EXPECT_EQ(chain.tail, end == third ? Tail::kNothing : Tail::kTornLine) << end;
    EXPECT_EQ(chain.torn, end - third);
  }
  const auto whole = OpenChain(text.substr(0, text.size() - 1), FirstPrevious(), 1);
  EXPECT_EQ(whole.lines.size(), 3U);
  EXPECT_EQ(whole.tail, Tail::kWholeLine);
  const auto zeros = OpenChain(text + std::string(100, '\0'), FirstPrevious(), 1);
  EXPECT_EQ(zeros.lines.size(), 3U);
  EXPECT_EQ(zeros.torn, 100U);
}

}  // namespace
}  // namespace trefoil::dp
