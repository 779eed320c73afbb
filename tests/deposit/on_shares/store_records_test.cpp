#include "deposit/on_shares/store_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sodium.h>

#include <filesystem>
#include <functional>
#include <memory>

#include "base/error.h"
#include "base/secrets/sha256.h"
#include "deposit/on_shares/checked_rows.h"
#include "deposit/predictions.h"
#include "deposit/store/open_store.h"
#include "jobs/deposited_records.h"
#include "ml/records.h"
#include "protocols/arithmetic/agreement.h"
#include "protocols/arithmetic/reveal.h"
#include "tests/deposit/sample_deposit.h"
#include "tests/support/error_text.h"
#include "tests/support/run_parties.h"

namespace trefoil::deposit {
namespace {

using mpc::Index;
using testing::HasSubstr;
using testing::IsEmpty;
using testing_support::ErrorText;
using testing_support::RunParties;
using testing_support::Seed;

constexpr Index kMaskColumn = 4;  // the sample's columns: four features, mask bit, three classes

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
    std::vector<Index> heights{};
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
    return RunParties(Seed{1}, [&](mpc::Context& party) {
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
          for (Index k = kMaskColumn; k < sums.cols(); ++k) seen.classes.push_back(sums(0, k));
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
    return ErrorText<std::runtime_error>([&] { (void)records->Load(records_); });
  }

  std::function<std::string(int, const jobs::Population&)> cap_ = [](int, const jobs::Population&) {
    return std::string();
  };
  std::string run_ = "5eed";
  TemporaryFolder folder_;
  Study study_ = SampleStudy(folder_);
  jobs::RecordSchema records_ = SampleRecords(folder_);
};

TEST_F(StoreRecordsTest, AreTheRowsOfAllDepositsOfTheStudyAndPurpose) {
  const auto first = Accept(Made(5));
  const auto second = Accept(Made(6, 12));
  Accept(Made(7, 9, "test"));
  EXPECT_EQ(Opened(1)->Load(records_), "2 deposits of 20 rows");
  const auto all = Shared();
  const std::vector<Index> heights{first < second ? 8 : 12, first < second ? 12 : 8};
  const auto summary = nlohmann::json::parse(all[0].summary);
  for (const auto& seen : all) {
    EXPECT_EQ(seen.error, "");
    EXPECT_EQ(seen.heights, heights);
    EXPECT_EQ(seen.classes, (std::vector<mpc::Word>{3, 1, 1, 1, 3, 1, 1, 1}));
    EXPECT_EQ(seen.summary, all[0].summary);
    EXPECT_THAT(seen.warnings, IsEmpty());
    EXPECT_THAT(seen.populations, testing::SizeIs(1));
  }
  EXPECT_EQ(summary.at("study"), records_.store.study);
  EXPECT_EQ(summary.at("used").at(0).at("deposit"), ToHex(std::min(first, second)));
  EXPECT_EQ(summary.at("used").at(1).at("rows"), heights[1]);
  EXPECT_TRUE(summary.at("left_out").empty());
}

TEST_F(StoreRecordsTest, AreNamedWhereOnePartyLacksThem) {
  Accept(Made(5));
  const auto missing = Accept(Made(6), {0, 2});
  for (const auto& seen : Shared())
    EXPECT_THAT(seen.error, HasSubstr("deposit " + ToHex(missing) + ": not in the store of party 1"));
}

TEST_F(StoreRecordsTest, AreLeftOutAtAllThreeWhereOnePartysBudgetOfThePopulationIsSpent) {
  const auto first = Accept(Made(5));
  const auto spent = Accept(Made(6, 8, "train", "ward"));
  const auto also_spent = Accept(Made(7, 8, "train", "ward"));
  cap_ = [](int party, const jobs::Population& one) -> std::string {
    return party == 1 && one.name == "ward" ? "ledger of ward: spent" : "";
  };
  records_.store.capped = jobs::CappedDeposits::kLeaveOut;
  const auto all = Shared();
  for (std::size_t party = 0; party < 3; ++party) {
    EXPECT_EQ(all.at(party).error, "");
    EXPECT_EQ(all.at(party).heights, std::vector<Index>{8});
    EXPECT_EQ(all.at(party).summary, all[0].summary);
    const auto* why = party == 1 ? "is left out: ledger of ward: spent"
                                 : "is left out: its population has no budget left for this job at party 1";
    EXPECT_THAT(all.at(party).warnings, testing::ElementsAre(HasSubstr(why), HasSubstr(why)));
    EXPECT_THAT(all.at(party).populations, testing::ElementsAre(testing::EndsWith("/default")));
  }
  const auto summary = nlohmann::json::parse(all[0].summary);
  EXPECT_EQ(summary.at("used").at(0).at("deposit"), ToHex(first));
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_EQ(summary.at("left_out").at(k).at("why"), "capped");
    EXPECT_THAT((std::vector{ToHex(spent), ToHex(also_spent)}),
                testing::Contains(summary.at("left_out").at(k).at("deposit").get<std::string>()));
  }

  records_.store.capped = jobs::CappedDeposits::kEnd;
  const auto ended = Shared();
  EXPECT_THAT(ended[1].error, HasSubstr(": ledger of ward: spent; with data.capped = \"leave-out\""));
  for (const std::size_t party : {0U, 2U})
    EXPECT_THAT(ended.at(party).error, HasSubstr("no budget left for this job at party 1; with data.capped"));
}

TEST_F(StoreRecordsTest, AreNoneWhereAPartySaysSomethingElseThanWhatIsCapped) {
  const auto id = Accept(Made(5));
  for (const std::string& text : {std::string(), std::string("2"), std::string("00")}) {
    const auto errors = RunParties(Seed{1}, [&](mpc::Context& party) -> std::string {
      if (party.self() == 0) {
        (void)AgreeOnDeposits(party, IdOf(study_), {id});
        (void)protocols::ExchangeTexts(party, text, 10);
        return "party 0: sent";
      }
      const auto records = Opened(party.self());
      (void)records->Load(records_);
      return ErrorText<ProtocolError>([&] {
        (void)records->Share(
            party, [&](const jobs::Population& one) { return cap_(party.self(), one); }, run_);
      });
    });
    for (const auto& error : errors) EXPECT_THAT(error, testing::ContainsRegex("party 0:? sent")) << text;
  }
}

TEST_F(StoreRecordsTest, AreNotThoseThatWereWithdrawn) {
  const auto first = Accept(Made(5));
  const auto second = Accept(Made(6));
  const auto third = Accept(Made(7));
  Withdraw(first);
  EXPECT_EQ(Opened(2)->Load(records_), "2 deposits of 16 rows");
  // Nor those that are withdrawn while a party waits for the others.
  for (const auto& seen : Shared([&] { Withdraw(second); })) {
    EXPECT_EQ(seen.heights, std::vector<Index>{8});
    EXPECT_THAT(seen.summary, HasSubstr(ToHex(third)));
    EXPECT_THAT(seen.summary, Not(HasSubstr(ToHex(second))));
  }
  Accept(Made(8));
  for (const auto& seen : Shared([&] { Withdraw(third, {1}); }))
    EXPECT_THAT(seen.error, HasSubstr("not in the store of party 1"));
}

// Three blocks of 1334 rows, of which the first ends in the second deposit, and the last has padding of no deposit. What is
// withdrawn since counts in the next session, as without blocks.
TEST_F(StoreRecordsTest, AreReadAgainAndAgainInBlocksWhereMemoryIsSet) {
  records_.store.memory = 1;
  records_.data.rows = {4000, 0, 0};
  ASSERT_EQ(jobs::BlockRows(records_), 1334);
  const auto id = Accept(Made(5, 1300));
  Accept(Made(6, 1500));
  const auto opened = RunParties(Seed{1}, [&](mpc::Context& party) {
    const auto records = Opened(party.self());
    (void)records->Load(records_);
    const auto checked = records->Share(
        party, [](const jobs::Population&) { return std::string(); }, run_);
    EXPECT_THAT(checked.rows, IsEmpty());
    Withdraw(id, {party.self()});
    std::vector<mpc::RingMatrix> blocks;
    for (int number = 0; number < 6; ++number)
      blocks.push_back(protocols::Reveal(party, checked.batch(number), protocols::ReleaseReason::kTest));
    EXPECT_THROW((void)checked.batch(8), ContractError);
    return blocks;
  });
  std::vector<mpc::Word> classes(4);
  for (std::size_t block = 0; block < 3; ++block) {
    const auto& rows = opened[0].at(block);
    ASSERT_EQ(rows.rows(), 1334);
    EXPECT_TRUE((rows == opened[0].at(block + 3)).all()) << "the same in the next step";
    EXPECT_TRUE((rows == opened[2].at(block)).all());
    for (Index k = 0; k < 4; ++k) classes.at(static_cast<std::size_t>(k)) += rows.col(kMaskColumn + k).sum();
  }
  EXPECT_EQ(classes, (std::vector<mpc::Word>{6, 2, 2, 2}));
  EXPECT_EQ(opened[0].at(2).bottomRows(1200).sum(), 0U);
}

TEST_F(StoreRecordsTest, HaveToFitIntoAQuarterOfTheMemory) {
  records_.store.memory = 1;
  records_.data.rows = {20'000, 0, 0};
  Accept(Made(5, 5'000));
  EXPECT_EQ(WhyNot(), "");
  const auto id = Accept(Made(6, 7'000));
  EXPECT_THAT(WhyNot(),
              HasSubstr("data.memory: found 1, expected at least 2, four times what deposit " + ToHex(id)));
}

TEST_F(StoreRecordsTest, AreRefusedAtAllThreeWhereTheyBecomeTooManyRows) {
  records_.data.rows = {17, 0, 0};
  Accept(Made(5));
  for (const auto& seen : Shared([&] { Accept(Made(6, 10)); }))
    EXPECT_THAT(seen.error, HasSubstr("data.capacity: found 17, expected at least 18"));
}

TEST_F(StoreRecordsTest, SayWhatIsWrongBeforePeersAreMet) {
  EXPECT_THAT(WhyNot(),
              HasSubstr("found no deposit of study " + records_.store.study + " and purpose train"));
  Accept(Made(5));
  EXPECT_EQ(WhyNot(), "");
  const auto whole = records_;
  records_.data.rows = {7, 0, 0};
  EXPECT_EQ(WhyNot(),
            "data.capacity: found 7, expected at least 8, the rows of the 1 deposits that the job is about");
  records_ = whole;
  records_.store.study.clear();
  EXPECT_THAT(WhyNot(), HasSubstr("data.study: missing"));
  records_ = whole;
  records_.fraction_bits = 15;
  EXPECT_EQ(WhyNot(),
            "data.study: the job's records are not the study's: fraction_bits: found 15, expected 16");
  records_ = whole;
  records_.data.columns[1].mean = 2;
  EXPECT_THAT(WhyNot(), HasSubstr("columns.column.1.mean: found 2.0, expected 1.0"));
  records_ = whole;
  records_.name = "another";
  records_.data.name = "else";
  EXPECT_EQ(WhyNot(), "");
  const auto bodies = folder_.path() / "s1/bodies";
  for (const auto& body : std::filesystem::directory_iterator(bodies))
    std::filesystem::resize_file(body.path(), std::filesystem::file_size(body.path()) - 1);
  EXPECT_THAT(WhyNot(1), HasSubstr(".sealed"));
  auto party = PartyOf(0);
  party.deposits.reset();
  StoreRecords none(party, "party.toml");
  EXPECT_THAT(ErrorText<ConfigError>([&] { (void)none.Load(records_); }),
              HasSubstr("party.toml: found no [deposits]"));
}

// What a hostile owner could do: a key by which it can sign, and to which nothing can be sealed.
TEST_F(StoreRecordsTest, OfRowsToPredictAreSealedToTheOwnerOfEach) {
  records_.store.purpose = "predict";
  records_.store.table = "predict";
  const auto good = Accept(Made(5, 8, "predict"));
  const auto made = Made(6, 8, "predict");
  PublicKey mixed{};
  const auto small = FromHex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05").value();
  ASSERT_EQ(crypto_core_ed25519_add(mixed.data(), SamplePair(KeyKind::kOwner, 10).known.data(), small.data()),
            0);
  Hash hostile{};
  for (int party = 0; party < 3; ++party) {
    const auto& file = made.files.at(static_cast<std::size_t>(party));
    auto opened = ReadDeposit(folder_.Write("x.deposit", file), SampleReader(study_, party));
    opened.header.owner = mixed;
    hostile = opened.id = DepositId(EncodeHeader(opened.header));
    OpenStore(PartyOf(party)).Accept(opened, study_, "x.deposit", 1);
  }
  std::array<std::unique_ptr<StoreRecords>, 3> all;
  for (int party = 0; party < 3; ++party) {
    all.at(static_cast<std::size_t>(party)) = Opened(party);
    EXPECT_EQ(all.at(static_cast<std::size_t>(party))->Load(records_), "2 deposits of 16 rows");
  }
  const auto files = RunParties(Seed{1}, [&](mpc::Context& party) {
    auto& records = *all.at(static_cast<std::size_t>(party.self()));
    const auto checked = records.Share(
        party, [](const jobs::Population&) { return std::string(); }, "");
    EXPECT_THAT(checked.deposits, testing::ElementsAre(ToHex(good)));
    EXPECT_EQ(checked.rows.size(), 1U);
    EXPECT_EQ(checked.summary.at("left_out").at(0).at("deposit"), ToHex(hostile));
    EXPECT_EQ(checked.summary.at("left_out").at(0).at("why"), "key");
    jobs::PartForOwner part{
        .deposit = checked.deposits.at(0), .run = std::string(32, 'b'), .job = std::string(64, 'c')};
    part.components.fill(mpc::RingMatrix::Constant(8, 1, 7));
    return records.SealForOwner(part);
  });
  for (int party = 0; party < 3; ++party) {
    const auto opened =
        OpenPredictions(files.at(static_cast<std::size_t>(party)), SamplePair(KeyKind::kOwner, 10), "f");
    EXPECT_EQ(opened.party, party);
    EXPECT_EQ(opened.header.deposit, good);
  }
  records_.store.study = std::string();
  EXPECT_THAT(WhyNot(), HasSubstr("predict.study: missing"));
}

/// The same of batches, of which the job takes two deposits.
class BatchRecordsTest : public StoreRecordsTest {
 protected:
  BatchRecordsTest() {
    study_ = SampleStudyOfBatches(folder_);
    records_ = SampleRecordsOfBatches(folder_);
    records_.store.on = true;
    records_.store.study = ToHex(IdOf(study_));
  }

  [[nodiscard]] MadeDeposit Batches(std::uint8_t coins) const {
    return Made(coins, kSampleSteps * kSampleBatch);
  }

  /// Which record is where in each batch of Batches(coins), or padding.
  [[nodiscard]] static std::vector<std::int64_t> SlotsOf(std::uint8_t coins) {
    RandomStream stream(testing_support::FixedKey(coins));
    for (int word = 0; word < 4; ++word) (void)stream.NextWord();  // the nonce
    std::vector<std::int64_t> all;
    for (int step = 0; step < kSampleSteps; ++step) {
      const auto slots =
          ml::PlaceRows(stream, ml::DrawRows(stream, 3, kSampleRate, kSampleBatch), kSampleBatch);
      all.insert(all.end(), slots.begin(), slots.end());
    }
    return all;
  }

  [[nodiscard]] std::string SpentBy(int party, const Hash& id) const {
    for (const auto& one : OpenStore(PartyOf(party)).List())
      if (one.id == id) return one.spent_by;
    return "no deposit";
  }
};

TEST_F(BatchRecordsTest, AreTheBatchesOfEachStepOneBelowTheOther) {
  const auto first = Accept(Batches(5));
  const auto second = Accept(Batches(6));
  const std::array below{SlotsOf(first < second ? 5 : 6), SlotsOf(first < second ? 6 : 5)};
  for (const auto& seen : Shared()) {
    EXPECT_EQ(seen.error, "");
    EXPECT_THAT(seen.heights, IsEmpty());
    ASSERT_EQ(seen.batches.size(), static_cast<std::size_t>(kSampleSteps));
    for (std::int64_t step = 0; step < kSampleSteps; ++step) {
      const auto& rows = seen.batches.at(static_cast<std::size_t>(step));
      ASSERT_EQ(rows.rows(), 2 * kSampleBatch);
      for (Index row = 0; row < rows.rows(); ++row) {
        const auto record = below.at(static_cast<std::size_t>(row / kSampleBatch))
                                .at(static_cast<std::size_t>(step * kSampleBatch + row % kSampleBatch));
        EXPECT_EQ(rows(row, kMaskColumn), record == ml::kPadding ? 0U : 1U) << step << ' ' << row;
        if (record == ml::kPadding) continue;
        EXPECT_EQ(rows(row, kMaskColumn + 1 + SampleTable().y.at(static_cast<std::size_t>(record))), 1U);
      }
    }
  }
  for (int party = 0; party < 3; ++party) EXPECT_EQ(SpentBy(party, first), run_) << party;
}

TEST_F(BatchRecordsTest, AreOfOneRunAndSpentAtOnePartyIsSpent) {
  const auto first = Accept(Batches(5));
  const auto second = Accept(Batches(6));
  OpenStore(PartyOf(1)).Spend({first}, "another", 1);
  for (const auto& seen : Shared()) {
    EXPECT_EQ(seen.error, "");
    const auto summary = nlohmann::json::parse(seen.summary);
    EXPECT_EQ(summary.at("used").at(0).at("deposit"), ToHex(second));
    EXPECT_EQ(summary.at("left_out").at(0).at("deposit"), ToHex(first));
    EXPECT_EQ(summary.at("left_out").at(0).at("why"), "spent");
    for (const auto& rows : seen.batches)
      EXPECT_TRUE((rows.bottomRows(kSampleBatch) == 0).all()) << "padding";
  }
  EXPECT_EQ(SpentBy(0, first), "") << "no party notes what it does not use";
  // The same run takes them again, where one party alone had noted it, too; no other does.
  for (const auto& seen : Shared()) EXPECT_EQ(seen.batches.size(), static_cast<std::size_t>(kSampleSteps));
  run_ = "0ther";
  const auto all = RunParties(Seed{1}, [&](mpc::Context& party) {
    const auto records = Opened(party.self());
    (void)records->Load(records_);
    return ErrorText<DataError>([&] {
      (void)records->Share(
          party, [](const jobs::Population&) { return std::string(); }, run_);
    });
  });
  for (const auto& error : all)
    EXPECT_THAT(error, HasSubstr("that can be used, expected one at least: 2 are"));
}

TEST_F(BatchRecordsTest, AreThoseThatARunBeganWith) {
  const auto first = Accept(Batches(5));
  for (const auto& seen : Shared()) EXPECT_EQ(seen.error, "");
  const auto late = Accept(Batches(6));
  for (const auto& seen : Shared()) {
    const auto summary = nlohmann::json::parse(seen.summary);
    EXPECT_EQ(summary.at("used").at(0).at("deposit"), ToHex(first));
    EXPECT_EQ(summary.at("left_out").at(0).at("deposit"), ToHex(late));
    EXPECT_EQ(summary.at("left_out").at(0).at("why"), "late");
  }
  EXPECT_EQ(SpentBy(2, late), "");
  run_ = "0ther";
  for (const auto& seen : Shared())
    EXPECT_EQ(nlohmann::json::parse(seen.summary).at("used").at(0).at("deposit"), ToHex(late));
}

// Their owner draws anew from records of which the run has released something.
TEST_F(BatchRecordsTest, AreLateAlsoWhereAllThatTheRunBeganWithWereWithdrawn) {
  const auto first = Accept(Batches(5));
  for (const auto& seen : Shared()) EXPECT_EQ(seen.error, "");
  Withdraw(first);
  const auto late = Accept(Batches(6));
  EXPECT_THAT(ErrorText<DataError>([&] { (void)Shared(); }),
              HasSubstr("expected one at least: 1 are left out"));
  for (const int party : {0, 1, 2}) EXPECT_EQ(SpentBy(party, late), "");
}

TEST_F(BatchRecordsTest, AreNotedAtAllThreeBeforeAnythingOfThemIsSent) {
  const auto id = Accept(Batches(5));
  // Another run takes them at party 1 between the parties' agreement and their notes.
  cap_ = [&](int party, const jobs::Population&) {
    if (party == 1) OpenStore(PartyOf(1)).Spend({id}, "another", 1);
    return std::string();
  };
  std::array<std::uint64_t, 3> sent{};
  EXPECT_ANY_THROW((void)RunParties(Seed{1}, [&](mpc::Context& party) {
    const auto records = Opened(party.self());
    (void)records->Load(records_);
    const auto cap = [&](const jobs::Population& one) { return cap_(party.self(), one); };
    try {
      return records->Share(party, cap, run_).summary.dump();
    } catch (...) {
      sent.at(static_cast<std::size_t>(party.self())) = party.transport().counters().bytes_sent;
      throw;
    }
  }));
  // Agreements alone: a check of the smallest batch sends more than a thousand bytes from each party.
  for (const auto bytes : sent) EXPECT_LT(bytes, 1000U);
}

TEST_F(BatchRecordsTest, AreRefusedAtAllThreeWhereTheyAreTooMany) {
  for (const int coins : {5, 6, 7}) Accept(Batches(static_cast<std::uint8_t>(coins)));
  for (const auto& seen : Shared())
    EXPECT_EQ(
        seen.error,
        "batches.deposits: found 2, expected at least 3, the deposits of batches that the job is about");
}

TEST_F(BatchRecordsTest, AreOfTheJobThatTheStudyNames) {
  Accept(Batches(5));
  EXPECT_EQ(WhyNot(), "");
  records_.store.batches->job = std::string(64, 'b');
  EXPECT_THAT(WhyNot(), HasSubstr("the job's records are not the study's: batches.job: found"));
  records_.store.batches->job = std::string(64, 'a');
  records_.store.batches->run = "summer";
  EXPECT_THAT(WhyNot(), HasSubstr("batches.run: found \"summer\", expected \"spring\""));
  records_.store.batches.reset();
  EXPECT_THAT(WhyNot(), HasSubstr("batches.job: found nothing"));
}

}  // namespace
}  // namespace trefoil::deposit
