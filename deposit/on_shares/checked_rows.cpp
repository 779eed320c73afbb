#include "deposit/on_shares/checked_rows.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/secrets/sha256.h"
#include "deposit/format/row_layout.h"
#include "deposit/on_shares/deposit_rows.h"
#include "ml/plan/settings.h"
#include "ml/records.h"
#include "protocols/arithmetic/agreement.h"
#include "protocols/arithmetic/component_check.h"
#include "protocols/arithmetic/lift.h"
#include "protocols/arithmetic/reveal.h"
#include "protocols/comparison/bit_tree.h"

namespace trefoil::deposit {
namespace {

using mpc::ArithShare;
using mpc::BoolShare;
using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;

/// What a party said of what it is about to use: the study's id, then its deposits', a line each.
struct Listed {
  std::string study;
  std::set<std::string> deposits;
};

/// Of an id in hexadecimal.
constexpr std::size_t kBytesOfALine = 2 * sizeof(Hash) + 1;

std::string TextOfLists(const Hash& study, const std::vector<Hash>& ids) {
  std::string text = ToHex(study) + "\n";
  for (const auto& id : ids) text += ToHex(id) + "\n";
  return text;
}

/// Reads what TextOfLists() makes; nothing where the text is anything else.
std::optional<Listed> ParseLists(const std::string& text) {
  constexpr std::size_t kDigits = kBytesOfALine - 1;
  if (text.empty()) return {};
  Listed listed;
  for (std::size_t begin = 0; begin < text.size(); begin += kBytesOfALine) {
    const auto line = text.substr(begin, kBytesOfALine);
    if (line.find_first_not_of("0123456789abcdef") != kDigits || line.back() != '\n') return {};
    if (begin == 0) {
      listed.study = line.substr(0, kDigits);
    } else {
      listed.deposits.insert(line.substr(0, kDigits));
    }
  }
  return listed;
}

/// The first difference, in words that are the same at all three; empty where there is none.
std::string DifferenceIn(const std::array<Listed, net::kParties>& lists) {
  for (std::size_t k = 1; k < lists.size(); ++k) {
    if (lists.at(k).study != lists[0].study)
      return fmt::format(
          "study: found {} at party 0 and {} at party {}, expected the same file study.toml at all three",
          lists[0].study, lists.at(k).study, k);
  }
  std::set<std::string> all;
  for (const auto& listed : lists) all.insert(listed.deposits.begin(), listed.deposits.end());
  for (const auto& id : all) {
    for (std::size_t k = 0; k < lists.size(); ++k) {
      if (!lists.at(k).deposits.contains(id))
        return fmt::format(
            "deposit {}: not in the store of party {}, expected it at all three: accept it there or, if it "
            "was withdrawn or set aside there, run trefoil store withdraw or store set-aside at the others",
            id, k);
    }
  }
  return {};
}

/// A block with its features lifted, after its holders have compared their components.
ArithShare LiftedBlock(mpc::Context& party, const RowLayout& layout, const ArithShare& block,
                       const std::string& id) {
  protocols::RequireSharesOfOne(party, {&block},
                                {.common = "deposit " + id,
                                 .what = "component of deposit " + id,
                                 .remedy = "expected what its owner deposited; accept it anew there"});
  const ArithShare features = protocols::Lift(party, Columns(block, 0, layout.features), layout.feature_bits);
  return SideBySide(features, Columns(block, layout.features, 1 + layout.label_words));
}

/// Of each block but the last.
Index RowsAtATime(const RowLayout& layout, Index numbers_at_a_time) {
  return std::max<Index>(jobs::kFewestCheckedRows, numbers_at_a_time / static_cast<Index>(layout.numbers()));
}

/// Whether all rows of a deposit are as BoundsOf() says. visit(first, rows) gets each block, lifted, before
/// that is known; `first` is the number of its first row.
template <typename Visit>
bool CheckBlocks(mpc::Context& party, const jobs::RecordSchema& records, const OpenedDeposit& deposit,
                 Index numbers_at_a_time, const Visit& visit) {
  const auto layout = LayoutOf(records);
  const auto bounds = BoundsOf(records);
  const auto all = static_cast<Index>(deposit.header.capacity);
  const Index rows_at_a_time = RowsAtATime(layout, numbers_at_a_time);
  DepositRows rows(layout, party.self(), deposit);
  std::optional<BoolShare> faulty;  // one plane for each block
  for (Index first = 0; first < all; first += rows_at_a_time) {
    const auto count = static_cast<std::uint64_t>(std::min(rows_at_a_time, all - first));
    const ArithShare lifted = LiftedBlock(party, layout, rows.Next(count), ToHex(deposit.id));
    visit(first, lifted);
    BoolShare any = protocols::AnyItem(party, protocols::FaultyRows(party, bounds, lifted));
    faulty = faulty ? Stacked(*faulty, any) : std::move(any);
  }
  Require(faulty.has_value(), "CheckBlocks: at least one row");
  const auto fate = protocols::RevealBits(party, protocols::AnyPlane(party, *faulty),
                                          protocols::ReleaseReason::kDepositFate);
  return !fate.bit(0, 0);
}

}  // namespace

protocols::RowBounds BoundsOf(const jobs::RecordSchema& records) {
  const auto layout = LayoutOf(records);
  return {.features = layout.features,
          .largest_squared_norm = ml::LargestSquaredNorm(records.features.row_norm, records.fraction_bits),
          .label_words = layout.label_words,
          .largest_label = records.data.target ? Word{1} << ml::kTargetBits : Word{1}};
}

std::vector<Hash> AgreeOnDeposits(mpc::Context& party, const Hash& study, std::vector<Hash> ids) {
  std::sort(ids.begin(), ids.end());
  Require(std::adjacent_find(ids.begin(), ids.end()) == ids.end(), "AgreeOnDeposits: each deposit once");
  if (ids.size() > static_cast<std::size_t>(kMostDeposits))
    throw ConfigError(
        fmt::format("found {} deposits, expected at most {}: trefoil store set-aside leaves out "
                    "those that the three do not want to use",
                    ids.size(), kMostDeposits));
  const std::size_t limit = kBytesOfALine * (static_cast<std::size_t>(kMostDeposits) + 1);
  const auto texts = protocols::ExchangeTexts(party, TextOfLists(study, ids), limit);
  std::array<Listed, net::kParties> lists;
  for (std::size_t k = 0; k < lists.size(); ++k) {
    auto listed = ParseLists(texts.at(k));
    if (!listed)
      throw ProtocolError(
          fmt::format("party {}: found a list of deposits that cannot be read, expected one id a line", k),
          static_cast<int>(k));
    lists.at(k) = std::move(*listed);
  }
  if (const auto difference = DifferenceIn(lists); !difference.empty())
    protocols::RefuseTogether(party, ConfigError(difference));
  return ids;
}

mpc::Cost AgreeOnDepositsCost(std::int64_t deposits) {
  const auto bytes = kBytesOfALine * static_cast<std::uint64_t>(1 + deposits);
  return protocols::ExchangeTextsCost({bytes, bytes, bytes});
}

std::optional<ArithShare> CheckedRows(mpc::Context& party, const jobs::RecordSchema& records,
                                      const OpenedDeposit& deposit, Index numbers_at_a_time) {
  const auto rows = static_cast<Index>(deposit.header.capacity);
  RingMatrix own(rows, static_cast<Index>(LayoutOf(records).numbers()));
  RingMatrix next(rows, own.cols());
  const auto keep = [&](Index first, const ArithShare& lifted) {
    own.middleRows(first, lifted.rows()) = lifted.own();
    next.middleRows(first, lifted.rows()) = lifted.next();
  };
  if (!CheckBlocks(party, records, deposit, numbers_at_a_time, keep)) return std::nullopt;
  return ArithShare(std::move(own), std::move(next));
}

ml::SessionPart CheckedRowsCost(const jobs::RecordSchema& records, Index rows, Index numbers_at_a_time) {
  const auto layout = LayoutOf(records);
  const auto bounds = BoundsOf(records);
  const Index rows_at_a_time = RowsAtATime(layout, numbers_at_a_time);
  ml::SessionPart part;
  Index blocks = 0;
  for (Index first = 0; first < rows; first += rows_at_a_time) {
    const Index count = std::min(rows_at_a_time, rows - first);
    const auto lifted =
        Then(protocols::RequireSharesOfOneCost(), protocols::LiftCost(count * bounds.features));
    const auto seen = Then(protocols::FaultyRowsCost(bounds, count), protocols::AnyItemCost(count));
    part.messages = Then(part.messages, Then(lifted, seen));
    part.work.comparison_seconds += protocols::FaultyRowsSeconds(bounds, count);
    ++blocks;
  }
  part.messages =
      Then(Then(part.messages, protocols::AnyPlaneCost(blocks, 1)), protocols::RevealBitsCost(1, 1));
  part.work.elements = static_cast<double>(rows) * static_cast<double>(layout.numbers());
  return part;
}

bool AreRows(mpc::Context& party, const jobs::RecordSchema& records, const OpenedDeposit& deposit,
             Index numbers_at_a_time, const std::function<void(const ArithShare& rows)>& each) {
  return CheckBlocks(party, records, deposit, numbers_at_a_time, [&](Index, const ArithShare& rows) {
    if (each) each(rows);
  });
}

}  // namespace trefoil::deposit
