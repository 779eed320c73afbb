#include "base/error_report.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <future>
#include <iostream>
#include <memory>
#include <new>
#include <string_view>
#include <system_error>
#include <thread>

#include "base/console.h"
#include "base/error.h"
#include "base/passing_error.h"

namespace trefoil {
namespace {

/// Bytes of the character of UTF-8 that `text` begins with: 0 where it begins with none. Pre: not empty.
std::size_t LengthOfCharacter(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  const auto rest = text.substr(1, length - 1);
  const bool whole = std::all_of(rest.begin(), rest.end(),
                                 [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; });
  return whole ? length : 0;
}

/// Pre: a character of two to four bytes.
char32_t CodePoint(std::string_view character) {
  char32_t code = static_cast<unsigned char>(character[0]) & (0xFFU >> (character.size() + 1));
  for (const char c : character.substr(1)) code = (code << 6) | (static_cast<unsigned char>(c) & 0x3FU);
  return code;
}

/// Whether a character tells a terminal to do something, rather than being shown: control characters of C1,
/// ends of lines and paragraphs (Unicode's categories Cc, Zl, Zp), and marks, embeddings, overrides and
/// isolates of the direction of writing (Unicode Standard Annex 9, section 2). Or whether nothing is seen of
/// it, by Unicode's property Default_Ignorable_Code_Point, and Braille's empty cell. Pre: beyond ASCII.
bool CommandsOrIsUnseen(char32_t code) {
  struct Range {
    char32_t first;
    char32_t last;
  };
  constexpr Range kRanges[] = {{0x80, 0x9F},       {0xAD, 0xAD},       {0x34F, 0x34F},    {0x61C, 0x61C},
                               {0x115F, 0x1160},   {0x17B4, 0x17B5},   {0x180B, 0x180F},  {0x200B, 0x200F},
                               {0x2028, 0x202E},   {0x2060, 0x206F},   {0x2800, 0x2800},  {0x3164, 0x3164},
                               {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},  {0xFFF0, 0xFFFB},
                               {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF}};
  return std::ranges::any_of(
      kRanges, [code](const Range& range) { return code >= range.first && code <= range.last; });
}

}  // namespace

ExitCode ExitCodeOf(const std::exception& error) {
  if (const auto* stopped = dynamic_cast<const StoppedError*>(&error))
    return static_cast<ExitCode>(kStopped + stopped->signal());
  if (dynamic_cast<const PassingError*>(&error) != nullptr) return kPassing;
  if (dynamic_cast<const ConfigError*>(&error) != nullptr) return kConfiguration;
  if (dynamic_cast<const NetworkError*>(&error) != nullptr) return kNetwork;
  if (dynamic_cast<const ProtocolError*>(&error) != nullptr) return kNetwork;
  if (dynamic_cast<const DataError*>(&error) != nullptr) return kData;
  if (dynamic_cast<const BudgetError*>(&error) != nullptr) return kBudget;
  return kOther;
}

bool IsLackOfMemory(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return true;
  const auto* failed = dynamic_cast<const std::system_error*>(&error);
  // A thread that cannot be started says EAGAIN.
  return failed != nullptr && (failed->code().value() == ENOMEM || failed->code().value() == EAGAIN);
}

bool IsLackOfStorage(const std::exception& error) {
  const auto* failed = dynamic_cast<const std::system_error*>(&error);
  if (failed == nullptr) return false;
  const int code = failed->code().value();
  return code == ENOSPC || code == EDQUOT || code == EFBIG || code == EIO || code == EROFS;
}

std::string CauseOf(const std::exception& error) {
  if (IsLackOfMemory(error))
    return "out of memory: found no more to take, expected as much as trefoil check names";
  return error.what();
}

std::string OneLine(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  std::string line;
  for (std::string_view rest = text; !rest.empty();) {
    const auto first = static_cast<unsigned char>(rest[0]);
    const auto length = LengthOfCharacter(rest);
    if (length == 1) {
      line += first < 0x20 || first == 0x7F ? ' ' : rest[0];
    } else if (length == 0) {
      line += fmt::format("\\x{:02x}", first);
    } else if (const auto code = CodePoint(rest.substr(0, length)); CommandsOrIsUnseen(code)) {
      line += fmt::format("\\u{{{:x}}}", static_cast<std::uint32_t>(code));
    } else {
      line += rest.substr(0, length);
    }
    rest.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return line;
}

void ReportError(const std::string& cause) {
  std::cout << std::flush;  // what was said before comes first
  StandardError().Write("trefoil: " + OneLine(cause) + "\n");
}

void ReportLastError(const std::string& cause) {
  const auto said = std::make_shared<std::promise<void>>();
  const auto done = said->get_future();
  try {
    std::thread([cause, said] {
      ReportError(cause);
      said->set_value();
    }).detach();
  } catch (const std::system_error&) {
    return;  // no thread is to be had, and the process must end
  }
  (void)done.wait_for(std::chrono::seconds(2));
}

}  // namespace trefoil
