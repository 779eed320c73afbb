#include "deposit/slots.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/error.h"
#include "base/files/files.h"
#include "ml/records.h"

namespace trefoil::deposit {
namespace {

constexpr std::string_view kFirstLine = "record,slot\n";

[[noreturn]] void RefuseSlots(const std::filesystem::path& file, std::size_t line,
                              const std::string& expected) {
  throw DataError(
      fmt::format("{}: line {}: found something else, expected {}", file.string(), line, expected));
}

}  // namespace

std::vector<std::int64_t> SlotsOfRecords(const std::vector<std::int64_t>& slots) {
  const auto records = static_cast<std::size_t>(
      std::count_if(slots.begin(), slots.end(), [](std::int64_t one) { return one != ml::kPadding; }));
  std::vector<std::int64_t> of_records(records);
  for (std::size_t row = 0; row < slots.size(); ++row)
    if (slots[row] != ml::kPadding)
      of_records.at(static_cast<std::size_t>(slots[row])) = static_cast<std::int64_t>(row);
  return of_records;
}

std::string SlotsText(const std::vector<std::int64_t>& of_records) {
  std::string text(kFirstLine);
  for (std::size_t k = 0; k < of_records.size(); ++k)
    text += fmt::format("{},{}\n", k + 1, of_records[k] + 1);
  return text;
}

std::vector<std::int64_t> ReadSlots(const std::filesystem::path& file, std::uint64_t capacity) {
  const auto text =
      ReadTextFile(file, "slots.csv, as trefoil deposit --purpose predict wrote it", kLargestOwnFile);
  std::string_view rest = text;
  if (!rest.starts_with(kFirstLine)) RefuseSlots(file, 1, "\"record,slot\"");
  rest.remove_prefix(kFirstLine.size());
  std::vector<std::int64_t> of_records;
  std::vector<bool> taken(capacity);
  while (!rest.empty()) {
    const auto line = of_records.size() + 2;
    const auto begin = fmt::format("{},", of_records.size() + 1);
    if (!rest.starts_with(begin)) RefuseSlots(file, line, fmt::format("record {}", of_records.size() + 1));
    rest.remove_prefix(begin.size());
    const auto digits = rest.substr(0, rest.find('\n'));
    std::uint64_t slot = 0;
    (void)std::from_chars(digits.data(), digits.data() + digits.size(), slot);
    const bool fits = slot >= 1 && slot <= capacity && !taken[slot - 1] && digits == std::to_string(slot) &&
                      digits.size() < rest.size();
    if (!fits) RefuseSlots(file, line, fmt::format("a slot from 1 to {} that no other record has", capacity));
    rest.remove_prefix(digits.size() + 1);
    taken[slot - 1] = true;
    of_records.push_back(static_cast<std::int64_t>(slot) - 1);
  }
  return of_records;
}

}  // namespace trefoil::deposit
