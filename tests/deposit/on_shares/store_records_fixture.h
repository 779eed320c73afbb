#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/secrets/sha256.h"
#include "deposit/on_shares/store_records.h"
#include "deposit/store/open_store.h"
#include "protocols/arithmetic/reveal.h"
#include "tests/deposit/sample_deposit.h"
#include "tests/support/error_text.h"
#include "tests/support/run_parties.h"

namespace trefoil::deposit {

inline constexpr mpc::Index kMaskColumn = 4;  // the sample's columns: four features, mask bit, three classes

/// Three parties' stores.
class StoreRecordsTest : public testing::Test {
 protected:
  StoreRecordsTest() {
    const auto key = folder_.Write("key", std::string(32, 'k'));
    std::filesystem::permissions(key, std::filesystem::perms::owner_read);
    records_.store = {.on = true, .study = ToHex(IdOf(study_))};
    records_.data.rows = {100, 0, 0};
  }

  [[nodiscard]] jobs::PartyFile PartyOf(int party) const {
    jobs::PartyFile file;
    file.id = party;
    file.private_key = folder_.path() / "key";
    file.deposits = {.key = {}, .owners = {}, .store = folder_.path() / ("s" + std::to_string(party))};
    return file;
  }

  [[nodiscard]] MadeDeposit Made(std::uint8_t coins, std::uint64_t capacity = 8,
                                 const std::string& purpose = "train",
                                 const std::string& population = "default") const {
    auto terms = SampleTerms(capacity);
    terms.adds = true;
    terms.purpose = purpose;
    terms.population = population;
    RandomStream stream(testing_support::FixedKey(coins));
    return MakeDeposit(study_, SampleTable(), terms, SamplePair(KeyKind::kOwner, 10), stream);
  }

  /// At these parties. Returns its id.
  Hash Accept(const MadeDeposit& made, const std::vector<int>& parties = {0, 1, 2}) const {
    Hash id{};
    for (const int party : parties) {
      const auto& file = made.files.at(static_cast<std::size_t>(party));
      const auto opened = ReadDeposit(folder_.Write("x.deposit", file), SampleReader(study_, party));
      OpenStore(PartyOf(party)).Accept(opened, study_, "x.deposit", 1);
      id = opened.id;
    }
    return id;
  }

  void Withdraw(const Hash& id, const std::vector<int>& parties = {0, 1, 2}) const {
    const auto content = SignWithdrawal(id, 1, SamplePair(KeyKind::kOwner, 10));
    for (const int party : parties)
      (void)OpenStore(PartyOf(party))
          .Withdraw(ParseWithdrawal(content, "w"), SampleReader(study_, party).owners, "w", 2);
  }

  [[nodiscard]] std::unique_ptr<StoreRecords> Opened(int party) const {
    return std::make_unique<StoreRecords>(PartyOf(party), "party.toml");
  }

  struct Seen {
    std::vector<mpc::Index> heights{};
    std::vector<mpc::Word> classes{};  ///< of each matrix, its records' by class, opened
    std::string summary{};
    std::string error{};
    std::vector<std::string> warnings{};
    std::vector<std::string> populations{};
    std::vector<mpc::RingMatrix> batches{};  ///< of each step, opened: as they were deposited
  };

  /// What each party gets; `between`: what happens once all have loaded.
  template <typename Between>
  [[nodiscard]] std::array<Seen, 3> Shared(const Between& between) const {
    std::array<std::unique_ptr<StoreRecords>, 3> all;
    for (int party = 0; party < 3; ++party) {
      all.at(static_cast<std::size_t>(party)) = Opened(party);
      (void)all.at(static_cast<std::size_t>(party))->Load(records_);
    }
    between();
    return testing_support::RunParties(testing_support::Seed{1}, [&](mpc::Context& party) {
      Seen seen;
      try {
        const auto checked =
            all.at(static_cast<std::size_t>(party.self()))
                ->Share(
                    party, [&](const jobs::Population& one) { return cap_(party.self(), one); }, run_);
        for (const auto& rows : checked.rows) {
          seen.heights.push_back(rows.rows());
          const auto sums = protocols::Reveal(party, Transposed(RowSums(Transposed(rows))),
                                              protocols::ReleaseReason::kTest);
          for (mpc::Index k = kMaskColumn; k < sums.cols(); ++k) seen.classes.push_back(sums(0, k));
        }
        for (int step = 0; checked.batch && step < kSampleSteps; ++step)
          seen.batches.push_back(
              protocols::Reveal(party, checked.batch(step), protocols::ReleaseReason::kTest));
        seen.summary = checked.summary.dump();
        seen.warnings = checked.warnings;
        for (const auto& one : checked.populations) seen.populations.push_back(one.owner + "/" + one.name);
      } catch (const ConfigError& error) {
        seen.error = error.what();
      } catch (const BudgetError& error) {
        seen.error = error.what();
      }
      return seen;
    });
  }
  [[nodiscard]] std::array<Seen, 3> Shared() const {
    return Shared([] {});
  }

  [[nodiscard]] std::string WhyNot(int party = 0) const {
    const auto records = Opened(party);
    return testing_support::ErrorText<std::runtime_error>([&] { (void)records->Load(records_); });
  }

  std::function<std::string(int, const jobs::Population&)> cap_ = [](int, const jobs::Population&) {
    return std::string();
  };
  std::string run_ = "5eed";
  TemporaryFolder folder_;
  Study study_ = SampleStudy(folder_);
  jobs::RecordSchema records_ = SampleRecords(folder_);
};

}  // namespace trefoil::deposit
