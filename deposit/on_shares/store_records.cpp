#include "deposit/on_shares/store_records.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/secrets/sha256.h"
#include "deposit/on_shares/checked_rows.h"
#include "deposit/on_shares/deposit_rows.h"
#include "deposit/on_shares/rows_on_disk.h"
#include "deposit/predictions.h"
#include "deposit/store/open_store.h"
#include "jobs/deposited_records.h"
#include "jobs/deposited_vectors.h"
#include "protocols/arithmetic/agreement.h"

namespace trefoil::deposit {
namespace {

std::int64_t RowsOf(const std::map<Hash, StoredDeposit>& deposits) {
  std::int64_t rows = 0;
  for (const auto& one : deposits) rows += static_cast<std::int64_t>(one.second.header.capacity);
  return rows;
}

jobs::Population PopulationOf(const StoredDeposit& deposit) {
  return {.owner = deposit.owner, .name = deposit.header.population};
}

std::vector<Hash> KeysOf(const std::map<Hash, StoredDeposit>& deposits) {
  std::vector<Hash> ids;
  for (const auto& one : deposits) ids.push_back(one.first);
  return ids;
}

nlohmann::ordered_json LineOf(const StoredDeposit& one) {
  return {{"deposit", ToHex(one.id)}, {"population", one.header.population}, {"rows", one.header.capacity}};
}

/// What each party says of each deposit, a mark of `marks` each; `what` names it in errors. Cost: 1 round, a
/// byte a deposit from a party to each other one.
std::array<std::string, net::kParties> ExchangeMarks(mpc::Context& party, const std::string& own,
                                                     const char* marks, const char* what) {
  auto all = protocols::ExchangeTexts(party, own, own.size());
  for (std::size_t of = 0; of < all.size(); ++of) {
    if (all.at(of).size() != own.size() || all.at(of).find_first_not_of(marks) != std::string::npos)
      throw ProtocolError(fmt::format("party {}: sent something else than {}", of, what),
                          static_cast<int>(of));
  }
  return all;
}

/// The first party that says this of a deposit.
std::optional<std::size_t> WhoSays(const std::array<std::string, net::kParties>& all, std::size_t deposit,
                                   char mark) {
  for (std::size_t of = 0; of < all.size(); ++of)
    if (all.at(of)[deposit] == mark) return of;
  return {};
}

// A deposit is opened twice its size, and that may be half of data.memory.
constexpr double kShareOfADeposit = 4;

constexpr char kRoom = '0';
constexpr char kCapped = '1';

constexpr char kUnused = '0';
constexpr char kSpentByAnother = '1';
constexpr char kSpentByThis = '2';

}  // namespace

mpc::Index CheckedAtOnce(const jobs::RecordSchema& records) {
  if (!records.store.memory) return kCheckedAtOnce;
  return std::min(kCheckedAtOnce,
                  static_cast<mpc::Index>(jobs::RowMemory(records) / 2 / jobs::kBytesOfACheckedNumber));
}

std::uint64_t MostRowsOpened(const jobs::RecordSchema& records) {
  const auto layout = LayoutOf(records);
  const auto most = LargestCapacity(layout);
  if (!records.store.memory) return most;
  // Of a party that holds rows, and what is there beside them.
  const auto beside = static_cast<double>(BodyBytes(layout, 0, 1));
  const double rows =
      (jobs::RowMemory(records) / kShareOfADeposit - beside) / static_cast<double>(layout.row_bytes());
  return std::min(most, static_cast<std::uint64_t>(std::max(rows, 0.0)));
}

/// What becomes of deposits, for summary.json and for the operator.
struct StoreRecords::DepositFates {
  nlohmann::ordered_json used = nlohmann::ordered_json::array();
  nlohmann::ordered_json left_out = nlohmann::ordered_json::array();
  std::vector<std::string> warnings{};

  void LeaveOut(const StoredDeposit& one, const char* short_why, const std::string& why) {
    auto line = LineOf(one);
    line["why"] = short_why;
    left_out.push_back(std::move(line));
    warnings.push_back(fmt::format("deposit {} of {} is left out: {}", ToHex(one.id), one.owner, why));
  }
};

StoreRecords::StoreRecords(jobs::PartyFile party, std::string party_file)
    : party_(std::move(party)), party_file_(std::move(party_file)) {}

std::map<Hash, StoredDeposit> StoreRecords::Deposits() {
  std::map<Hash, StoredDeposit> deposits;
  for (auto& one : store_->List()) {
    if (ToHex(one.header.study) != records_.store.study || one.header.purpose != records_.store.purpose)
      continue;
    if (one.set_aside != 0) continue;
    const auto id = one.id;
    deposits.emplace(id, std::move(one));
  }
  return deposits;
}

/// Empty where they fit.
std::string StoreRecords::ExcessOf(const std::map<Hash, StoredDeposit>& deposits) const {
  if (const auto& batches = records_.store.batches) {
    if (static_cast<std::int64_t>(deposits.size()) <= batches->deposits) return {};
    return fmt::format(
        "batches.deposits: found {}, expected at least {}, the deposits of batches that the job is about",
        batches->deposits, deposits.size());
  }
  const auto rows = RowsOf(deposits);
  const auto most = records_.data.rows[0];
  if (rows > most)
    return fmt::format(
        "{}.capacity: found {}, expected at least {}, the rows of the {} deposits that the job is about",
        records_.store.table, most, rows, deposits.size());
  return {};
}

/// Before peers are troubled: throws ConfigError where the rows do not find room on disk.
void StoreRecords::RequireDisk() const {
  const auto& folder = party_.deposits->store;
  const double wanted = jobs::RowDisk(records_);
  std::error_code unknown;
  const auto space = std::filesystem::space(folder, unknown);
  if (unknown || static_cast<double>(space.available) >= wanted) return;
  throw ConfigError(
      fmt::format("{}: found {:.1f} MB free, expected at least {:.1f} MB for rows with data.memory",
                  folder.string(), static_cast<double>(space.available) / 1e6, wanted / 1e6));
}

/// With data.memory: where rows lie that are used in blocks.
std::shared_ptr<RowsOnDisk> StoreRecords::DiskForRows() const {
  if (!records_.store.memory) return nullptr;
  return std::make_shared<RowsOnDisk>(
      party_.deposits->store,
      RowsOnDisk::Shape{.columns = static_cast<mpc::Index>(LayoutOf(records_).numbers()),
                        .block_rows = jobs::BlockRows(records_),
                        .capacity = records_.data.rows[0]});
}

std::unique_ptr<jobs::SharedRecords> OpenStoreRecords(const jobs::PartyFile& party,
                                                      const std::string& party_file) {
  return std::make_unique<StoreRecords>(party, party_file);
}

void RequireRecordsOf(const Study& study, const jobs::RecordSchema& records) {
  const auto kind = jobs::KindOfDeposits(records);
  const auto expected_kind = jobs::KindOfDeposits(study.records);
  if (kind != expected_kind)
    throw ConfigError(fmt::format("{}.study: found a job {}, expected one {}, which the study is for",
                                  records.store.table, jobs::JobsOn(kind), jobs::JobsOn(expected_kind)));
  auto meant = study;
  meant.records = records;
  meant.records.name = study.records.name;  // several jobs may have one study
  // Of a training's own steps: neither what is deposited nor what a prediction computes with has it.
  meant.records.features.fraction_bits.reset();
  const auto found = JsonOf(meant);
  const auto expected = JsonOf(study);
  if (found != expected)
    throw ConfigError(fmt::format("{}.study: the job's records are not the study's: {}", records.store.table,
                                  jobs::DescribeDifference(found, expected)));
}

std::string StoreRecords::Load(const jobs::RecordSchema& records) {
  records_ = records;
  RequireDeposits(party_, party_file_);
  if (records_.store.study.empty())
    throw ConfigError(
        fmt::format("{}.study: missing, expected the id of the deposits' study, which trefoil study show "
                    "prints",
                    records_.store.table));
  store_.emplace(OpenStore(party_));
  auto deposits = Deposits();
  if (deposits.empty())
    throw DataError(
        fmt::format("{}: found no deposit of study {} and purpose {}, expected one at least: trefoil accept",
                    party_.deposits->store.string(), records_.store.study, records_.store.purpose));
  const auto& first = deposits.begin()->second;
  study_ = ParseStudy(first.study, "study " + records_.store.study);
  if (IdOf(study_) != first.header.study)
    throw DataError(fmt::format("{}: found another study under the id {}", party_.deposits->store.string(),
                                records_.store.study));
  RequireRecordsOf(study_, records_);
  RequireDisk();
  // Of batches the peers know which are spent.
  if (const auto excess = records_.store.batches ? std::string() : ExcessOf(deposits); !excess.empty())
    throw ConfigError(excess);
  // What is damaged is said before peers are troubled.
  std::erase_if(deposits, [&](const auto& one) { return !store_->Verify(one.second); });
  const auto spent = std::count_if(deposits.begin(), deposits.end(),
                                   [](const auto& one) { return !one.second.spent_by.empty(); });
  return fmt::format("{} deposits of {} rows{}", deposits.size(), RowsOf(deposits),
                     spent > 0 ? fmt::format(", {} of them spent by a run", spent) : "");
}

std::vector<jobs::Population> StoreRecords::Populations() {
  std::set<jobs::Population> all;
  for (const auto& one : Deposits()) all.insert(PopulationOf(one.second));
  return {all.begin(), all.end()};
}

std::vector<std::string> StoreRecords::CapsOf(mpc::Context& party, const std::vector<Hash>& ids,
                                              const std::map<Hash, StoredDeposit>& deposits,
                                              const jobs::CapOf& cap) const {
  std::map<jobs::Population, std::string> known;
  std::vector<std::string> why;
  for (const auto& id : ids) {
    const auto population = PopulationOf(deposits.at(id));
    const auto found = known.find(population);
    why.push_back(found != known.end() ? found->second
                                       : known.emplace(population, cap(population)).first->second);
  }
  std::string own;
  for (const auto& one : why) own += one.empty() ? kRoom : kCapped;
  const auto all = ExchangeMarks(party, own, "01", "which deposits are capped");
  for (std::size_t k = 0; k < why.size(); ++k) {
    const auto of = WhoSays(all, k, kCapped);
    if (of && why[k].empty())
      why[k] = fmt::format("its population has no budget left for this job at party {}", *of);
  }
  return why;
}

/// Takes out of `deposits` what another run has used at one of the parties; and, of a run that has begun at
/// one of them, what came since: its owner may have drawn from the same records again.
void StoreRecords::LeaveOutSpent(mpc::Context& party, const std::string& run,
                                 std::map<Hash, StoredDeposit>& deposits, DepositFates& fates) {
  std::string own;
  for (const auto& [id, one] : deposits)
    own += one.spent_by.empty() ? kUnused : one.spent_by == run ? kSpentByThis : kSpentByAnother;
  // Last, for deposits that were withdrawn since, whether the run has begun.
  own += store_->HasSpent(run) ? kSpentByThis : kUnused;
  const auto all = ExchangeMarks(party, own, "012", "which deposits are spent");
  const bool begun = std::any_of(all.begin(), all.end(), [](const std::string& marks) {
    return marks.find(kSpentByThis) != std::string::npos;
  });
  std::size_t k = 0;
  std::erase_if(deposits, [&](const auto& one) {
    const auto of = WhoSays(all, k, kSpentByAnother);
    const bool late = begun && !WhoSays(all, k, kSpentByThis);
    ++k;
    if (of) {
      fates.LeaveOut(one.second, "spent",
                     fmt::format("another run used its batches, as party {} has noted", *of));
    } else if (late) {
      fates.LeaveOut(one.second, "late", "it came after the run had begun");
    }
    return of || late;
  });
}

/// Those of `ids` that nothing speaks against, before anything of them is sent. Throws BudgetError at all
/// three where one is capped and the job leaves none out.
std::vector<Hash> StoreRecords::Uncapped(mpc::Context& party, const std::vector<Hash>& ids,
                                         const std::map<Hash, StoredDeposit>& deposits,
                                         const jobs::CapOf& cap, DepositFates& fates) const {
  std::vector<Hash> uncapped;
  if (ids.empty()) return uncapped;
  const auto caps = CapsOf(party, ids, deposits, cap);
  for (std::size_t k = 0; k < ids.size(); ++k) {
    if (caps[k].empty()) {
      uncapped.push_back(ids[k]);
      continue;
    }
    if (records_.store.capped == jobs::CappedDeposits::kEnd)
      protocols::RefuseTogether(
          party, BudgetError(fmt::format(
                     "deposit {}: {}; with data.capped = \"leave-out\" a job goes on without such deposits",
                     ToHex(ids[k]), caps[k])));
    fates.LeaveOut(deposits.at(ids[k]), "capped", caps[k]);
  }
  if (uncapped.empty())
    protocols::RefuseTogether(party, BudgetError(fmt::format("all {} deposits are left out; deposit {}: {}",
                                                             ids.size(), ToHex(ids[0]), caps[0])));
  return uncapped;
}

jobs::SharedRecords::Checked StoreRecords::Share(mpc::Context& party, const jobs::CapOf& cap,
                                                 const std::string& run) {
  const auto& batches = records_.store.batches;
  Require(!batches || !run.empty(), "StoreRecords: batches are for a run, which has an id");
  auto deposits = Deposits();
  (void)AgreeOnDeposits(party, IdOf(study_), KeysOf(deposits));
  DepositFates fates;
  if (batches) LeaveOutSpent(party, run, deposits, fates);
  if (const auto excess = ExcessOf(deposits); !excess.empty())
    protocols::RefuseTogether(party, ConfigError(excess));
  const auto ids = Uncapped(party, KeysOf(deposits), deposits, cap, fates);
  if (batches) {
    store_->Spend(ids, run, static_cast<std::uint64_t>(std::time(nullptr)));
    protocols::Barrier(party);  // nothing of them is sent before all three have noted it
  }
  Checked checked;
  std::set<jobs::Population> populations;
  std::vector<OpenedDeposit> kept;
  const auto on_disk = DiskForRows();
  for (const auto& id : ids) {
    const auto& one = deposits.at(id);
    if (jobs::IsToPredict(records_.store.purpose) && !SealingKeyOf(one.header.owner)) {
      fates.LeaveOut(one, "key", "nothing can be sealed to its owner's key");
      continue;
    }
    if (one.header.capacity > MostRowsOpened(records_)) {
      fates.LeaveOut(one, "size", "to open it takes more than a quarter of data.memory");
      continue;
    }
    auto opened = store_->Read(one);
    bool passes = false;
    if (batches) {
      passes = AreRows(party, study_.records, opened);
      if (passes) kept.push_back(std::move(opened));
    } else if (on_disk) {
      const auto before = on_disk->additions();
      passes = AreRows(party, study_.records, opened, CheckedAtOnce(records_),
                       [&](const mpc::ArithShare& rows) { on_disk->Add(rows); });
      if (!passes) on_disk->TakeBack(before);
    } else if (auto rows = CheckedRows(party, study_.records, opened)) {
      passes = true;
      checked.rows.push_back(std::move(*rows));
      checked.deposits.push_back(ToHex(id));
      owners_.emplace(ToHex(id), one.header.owner);
    }
    if (!passes) {
      fates.LeaveOut(one, "rows", "a row is neither a record within the study's bounds nor padding");
      continue;
    }
    fates.used.push_back(LineOf(one));
    populations.insert(PopulationOf(one));
  }
  if (fates.used.empty())
    protocols::RefuseTogether(
        party, DataError(fmt::format(
                   "found no deposit of study {} that can be used, expected one at least: {} are left out",
                   records_.store.study, fates.left_out.size())));
  if (batches)
    checked.batch = [steps = std::make_shared<DepositedSteps>(records_, party.self(), std::move(kept))](
                        std::int64_t step) { return steps->Batch(static_cast<int>(step)); };
  if (on_disk) checked.batch = [on_disk](std::int64_t block) { return on_disk->Block(block); };
  checked.populations.assign(populations.begin(), populations.end());
  checked.summary = {{"study", records_.store.study}, {"purpose", records_.store.purpose}};
  checked.summary["used"] = std::move(fates.used);
  checked.summary["left_out"] = std::move(fates.left_out);
  checked.warnings = std::move(fates.warnings);
  return checked;
}

std::string StoreRecords::SealForOwner(const jobs::PartForOwner& part) {
  return SealPredictions(part, party_.id, owners_.at(part.deposit));
}

}  // namespace trefoil::deposit
