#include "deposit/format/slots.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/error.h"
#include "base/files/files.h"
#include "base/secrets/sha256.h"
#include "ml/records.h"

namespace trefoil::deposit {
namespace {

constexpr std::size_t kLinesBefore = 3;  // the first record's

/// The first three lines.
std::string HeadOf(const Hash& deposit, std::uint64_t records) {
  return fmt::format("deposit,{}\nrecords,{}\nrecord,slot\n", ToHex(deposit), records);
}

[[noreturn]] void RefuseSlots(const std::filesystem::path& file, std::size_t line,
                              const std::string& expected) {
  throw DataError(
      fmt::format("{}: line {}: found something else, expected {}", file.string(), line, expected));
}

/// The number that a text begins with; 0 for any other.
std::uint64_t NumberAt(std::string_view text) {
  std::uint64_t number = 0;
  (void)std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// How many records the head says; `rest` is what is behind it then.
std::uint64_t TakeHead(std::string_view& rest, const Hash& deposit, const std::filesystem::path& file) {
  const auto first = fmt::format("deposit,{}\n", ToHex(deposit));
  if (!rest.starts_with(first)) RefuseSlots(file, 1, "the deposit " + ToHex(deposit));
  constexpr std::string_view kRecords = "records,";
  const auto second = rest.substr(first.size());
  const auto records = second.starts_with(kRecords) ? NumberAt(second.substr(kRecords.size())) : 0;
  const auto head = HeadOf(deposit, records);
  if (!rest.starts_with(head)) RefuseSlots(file, 2, "the number of records, then \"record,slot\"");
  rest.remove_prefix(head.size());
  return records;
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

std::string SlotsText(const Hash& deposit, const std::vector<std::int64_t>& of_records) {
  auto text = HeadOf(deposit, of_records.size());
  for (std::size_t k = 0; k < of_records.size(); ++k)
    text += fmt::format("{},{}\n", k + 1, of_records[k] + 1);
  return text;
}

std::vector<std::int64_t> ReadSlots(const std::filesystem::path& file, const Hash& deposit,
                                    std::uint64_t capacity) {
  const auto text =
      ReadTextFile(file, "slots.csv, as trefoil deposit --purpose predict wrote it", kLargestOwnFile);
  std::string_view rest = text;
  const auto records = TakeHead(rest, deposit, file);
  std::vector<std::int64_t> of_records;
  std::vector<bool> taken(capacity);
  while (!rest.empty()) {
    const auto line = of_records.size() + 1 + kLinesBefore;
    const auto begin = fmt::format("{},", of_records.size() + 1);
    if (!rest.starts_with(begin)) RefuseSlots(file, line, fmt::format("record {}", of_records.size() + 1));
    rest.remove_prefix(begin.size());
    const auto digits = rest.substr(0, rest.find('\n'));
    const auto slot = NumberAt(digits);
    const bool fits = slot >= 1 && slot <= capacity && !taken[slot - 1] && digits == std::to_string(slot) &&
                      digits.size() < rest.size();
    if (!fits) RefuseSlots(file, line, fmt::format("a slot from 1 to {} that no other record has", capacity));
    rest.remove_prefix(digits.size() + 1);
    taken[slot - 1] = true;
    of_records.push_back(static_cast<std::int64_t>(slot) - 1);
  }
  if (of_records.size() != records)
    throw DataError(fmt::format("{}: found {} records, expected the {} of its second line", file.string(),
                                of_records.size(), records));
  return of_records;
}

}  // namespace trefoil::deposit
