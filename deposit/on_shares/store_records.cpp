#include "deposit/on_shares/store_records.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/secrets/sha256.h"
#include "deposit/on_shares/checked_rows.h"
#include "deposit/store/open_store.h"
#include "jobs/job.h"
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

/// What a party says of a deposit.
constexpr char kRoom = '0';
constexpr char kCapped = '1';

}  // namespace

StoreRecords::StoreRecords(jobs::RecordSchema records, jobs::PartyFile party, std::string party_file)
    : records_(std::move(records)), party_(std::move(party)), party_file_(std::move(party_file)) {}

std::map<Hash, StoredDeposit> StoreRecords::Deposits() {
  std::map<Hash, StoredDeposit> deposits;
  for (auto& one : store_->List()) {
    if (ToHex(one.header.study) != records_.store.study || one.header.purpose != records_.store.purpose)
      continue;
    const auto id = one.id;
    deposits.emplace(id, std::move(one));
  }
  return deposits;
}

/// Empty where they fit.
std::string StoreRecords::ExcessOf(const std::map<Hash, StoredDeposit>& deposits) const {
  const auto rows = RowsOf(deposits);
  const auto most = records_.data.rows[0];
  if (rows <= most) return {};
  return fmt::format(
      "data.capacity: found {}, expected at least {}, the rows of the {} deposits that the job is about",
      most, rows, deposits.size());
}

std::unique_ptr<jobs::SharedRecords> OpenStoreRecords(const jobs::RecordSchema& records,
                                                      const jobs::PartyFile& party,
                                                      const std::string& party_file) {
  return std::make_unique<StoreRecords>(records, party, party_file);
}

void RequireRecordsOf(const Study& study, const jobs::RecordSchema& records) {
  auto meant = study;
  meant.records = records;
  meant.records.name = study.records.name;  // several jobs may have one study
  const auto found = JsonOf(meant);
  const auto expected = JsonOf(study);
  if (found != expected)
    throw ConfigError(fmt::format("data.study: the job's records are not the study's: {}",
                                  jobs::DescribeDifference(found, expected)));
}

std::string StoreRecords::Load() {
  RequireDeposits(party_, party_file_);
  if (records_.store.study.empty())
    throw ConfigError(
        "data.study: missing, expected the id of the deposits' study, which trefoil study show prints");
  store_.emplace(OpenStore(party_));
  const auto deposits = Deposits();
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
  if (const auto excess = ExcessOf(deposits); !excess.empty()) throw ConfigError(excess);
  for (const auto& one : deposits)
    store_->Verify(one.second);  // what is damaged is said before peers are troubled
  return fmt::format("{} deposits of {} rows", deposits.size(), RowsOf(deposits));
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
  std::string own;
  for (const auto& id : ids) {
    const auto population = PopulationOf(deposits.at(id));
    const auto found = known.find(population);
    why.push_back(found != known.end() ? found->second
                                       : known.emplace(population, cap(population)).first->second);
    own += why.back().empty() ? kRoom : kCapped;
  }
  const auto all = protocols::ExchangeTexts(party, own, ids.size());
  for (std::size_t of = 0; of < all.size(); ++of) {
    const auto unknown = std::count_if(all.at(of).begin(), all.at(of).end(),
                                       [](char said) { return said != kRoom && said != kCapped; });
    if (all.at(of).size() != ids.size() || unknown > 0)
      throw ProtocolError(fmt::format("party {}: sent something else than which deposits are capped", of),
                          static_cast<int>(of));
    for (std::size_t k = 0; k < ids.size(); ++k) {
      if (all.at(of)[k] == kCapped && why[k].empty())
        why[k] = fmt::format("its population has no budget left for this job at party {}", of);
    }
  }
  return why;
}

jobs::SharedRecords::Checked StoreRecords::Share(mpc::Context& party, const jobs::CapOf& cap) {
  const auto deposits = Deposits();
  std::vector<Hash> ids;
  for (const auto& one : deposits) ids.push_back(one.first);
  Checked checked{.summary = {{"study", records_.store.study}, {"purpose", records_.store.purpose}}};
  auto used = nlohmann::ordered_json::array();
  auto left_out = nlohmann::ordered_json::array();
  ids = AgreeOnDeposits(party, IdOf(study_), ids);
  if (const auto excess = ExcessOf(deposits); !excess.empty())
    protocols::RefuseTogether(party, ConfigError(excess));
  const auto caps = CapsOf(party, ids, deposits, cap);
  const auto capped = std::find_if(caps.begin(), caps.end(), [](const auto& why) { return !why.empty(); });
  if (capped != caps.end() && records_.store.capped == jobs::CappedDeposits::kEnd)
    protocols::RefuseTogether(
        party, BudgetError(fmt::format(
                   "deposit {}: {}; with data.capped = \"leave-out\" a job goes on without such deposits",
                   ToHex(ids[static_cast<std::size_t>(capped - caps.begin())]), *capped)));
  std::set<jobs::Population> populations;
  for (std::size_t k = 0; k < ids.size(); ++k) {
    const auto& one = deposits.at(ids[k]);
    nlohmann::ordered_json line{
        {"deposit", ToHex(ids[k])}, {"population", one.header.population}, {"rows", one.header.capacity}};
    const auto leave_out = [&](const char* short_why, const std::string& why) {
      line["why"] = short_why;
      left_out.push_back(std::move(line));
      checked.warnings.push_back(
          fmt::format("deposit {} of {} is left out: {}", ToHex(ids[k]), one.owner, why));
    };
    if (!caps[k].empty()) {
      leave_out("capped", caps[k]);
      continue;
    }
    auto rows = CheckedRows(party, study_.records, store_->Read(one));
    if (!rows) {
      leave_out("rows", "a row is neither a record within the study's bounds nor padding");
      continue;
    }
    used.push_back(std::move(line));
    checked.rows.push_back(std::move(*rows));
    populations.insert(PopulationOf(one));
  }
  if (checked.rows.empty() &&
      std::all_of(caps.begin(), caps.end(), [](const auto& why) { return !why.empty(); }))
    protocols::RefuseTogether(party, BudgetError(fmt::format("all {} deposits are left out; deposit {}: {}",
                                                             ids.size(), ToHex(ids[0]), caps[0])));
  if (checked.rows.empty())
    protocols::RefuseTogether(
        party, DataError(fmt::format(
                   "found no deposit of study {} that can be used, expected one at least: {} are left out",
                   records_.store.study, left_out.size())));
  checked.populations.assign(populations.begin(), populations.end());
  checked.summary["used"] = std::move(used);
  checked.summary["left_out"] = std::move(left_out);
  return checked;
}

}  // namespace trefoil::deposit
