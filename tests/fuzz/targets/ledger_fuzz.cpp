// A ledger: lines of a hash chain, and, as entries that are chained here, what they say; and the records
// beside it.
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "runtime/ledger/ledger_file.h"
#include "tests/fuzz/fuzz.h"

namespace trefoil::fuzz::ledger_target {
namespace {

/// Each line as the content of an entry, sealed into a chain.
std::string Chained(std::string_view text) {
  std::string chained;
  std::string previous = dp::FirstPrevious();
  while (!text.empty()) {
    const auto end = text.find('\n');
    const auto content = nlohmann::json::parse(text.substr(0, end), nullptr, false);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!content.is_object() || content.contains("previous") || content.contains("hash")) continue;
    const auto line = dp::SealLine(content, previous);
    previous = dp::OpenLine(line, previous).hash;
    chained += line + '\n';
  }
  return chained;
}

}  // namespace

void Read(std::span<const std::uint8_t> input) {
  const InputFile file(Text(input));
  ReadAs<DataError>([&] { (void)runtime::ReadLedger(file.path()); });
  const InputFile chained(Chained(Text(input)));
  ReadAs<DataError>([&] {
    const auto view = runtime::ReadLedger(chained.path());
    Check(view.may_be_alive.size() == view.ledger.jobs().size(), "jobs of which nothing is known");
  });
  const runtime::PopulationClaim claim{.population = "visitors",
                                       .data = std::string(64, 'b'),
                                       .records = {.key = "0123456789abcdef", .tags = {1, 2, 3}}};
  ReadAs<ConfigError>([&] {
    ReadAs<DataError>([&] {
      const auto equal = runtime::KnownRecords(chained.path(), "ledger.jsonl").Compare(claim);
      Check(equal.count <= equal.fresh && equal.fresh <= 3, "records that were not asked for");
    });
  });
}

const Target kTarget("ledger", Read);

}  // namespace trefoil::fuzz::ledger_target
