#include "deposit/on_shares/store_records.h"

#include <sodium.h>

#include "deposit/on_shares/checked_rows.h"
#include "deposit/predictions.h"
#include "jobs/deposited_records.h"
#include "protocols/arithmetic/agreement.h"
#include "tests/deposit/on_shares/store_records_fixture.h"

namespace trefoil::deposit {
namespace {

using mpc::Index;
using testing::HasSubstr;
using testing::IsEmpty;
using testing_support::ErrorText;
using testing_support::RunParties;
using testing_support::Seed;

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

// What an owner hands to some parties alone, or makes larger than the job has room for, ends runs until each
// party that has it sets it aside.
TEST_F(StoreRecordsTest, AreNotThoseThatEachPartyThatHasThemSetAside) {
  const auto kept = Accept(Made(5));
  const auto lone = Accept(Made(6), {0, 2});
  const auto large = Accept(Made(7, 1'000));
  const auto set_aside = [&](const Hash& id, const std::vector<int>& parties, bool aside = true) {
    for (const int party : parties) EXPECT_TRUE(OpenStore(PartyOf(party)).SetAside(id, aside, 1));
  };
  EXPECT_THAT(WhyNot(1), HasSubstr("data.capacity: found 100, expected at least 1008"));
  set_aside(large, {0, 1, 2});
  set_aside(lone, {2});
  for (const auto& seen : Shared())
    EXPECT_THAT(seen.error,
                testing::AllOf(HasSubstr("deposit " + ToHex(lone) + ": not in the store of party 1"),
                               HasSubstr("store set-aside at the others")));
  set_aside(lone, {0});
  EXPECT_EQ(Opened(0)->Load(records_), "1 deposits of 8 rows");
  for (const auto& seen : Shared()) {
    EXPECT_EQ(seen.error, "");
    EXPECT_EQ(seen.heights, std::vector<Index>{8});
    EXPECT_THAT(seen.summary, HasSubstr(ToHex(kept)));
    EXPECT_THAT(seen.warnings, IsEmpty());
  }
  set_aside(large, {0, 1, 2}, false);
  EXPECT_THAT(WhyNot(1), HasSubstr("data.capacity"));
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

// Three blocks of 234 rows, of which the first ends in the second deposit, and the last has padding of no
// deposit. What is withdrawn since counts in the next session, as without blocks.
TEST_F(StoreRecordsTest, AreReadAgainAndAgainInBlocksWhereMemoryIsSet) {
  records_.store.memory = 1;
  records_.data.rows = {700, 0, 0};
  ASSERT_EQ(jobs::BlockRows(records_), 234);
  const auto id = Accept(Made(5, 200));
  Accept(Made(6, 300));
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
    ASSERT_EQ(rows.rows(), 234);
    EXPECT_TRUE((rows == opened[0].at(block + 3)).all()) << "the same in the next step";
    EXPECT_TRUE((rows == opened[2].at(block)).all());
    for (Index k = 0; k < 4; ++k) classes.at(static_cast<std::size_t>(k)) += rows.col(kMaskColumn + k).sum();
  }
  EXPECT_EQ(classes, (std::vector<mpc::Word>{6, 2, 2, 2}));
  EXPECT_EQ(opened[0].at(2).bottomRows(202).sum(), 0U);
}

TEST_F(StoreRecordsTest, AreLeftOutWhereTheyDoNotFitIntoAQuarterOfTheMemory) {
  records_.store.memory = 1;
  records_.data.rows = {20'000, 0, 0};
  Accept(Made(5, MostRowsOpened(records_)));
  const auto id = Accept(Made(6, MostRowsOpened(records_) + 1));
  for (const auto& seen : Shared()) {
    const auto left_out = nlohmann::json::parse(seen.summary).at("left_out");
    ASSERT_EQ(left_out.size(), 1U) << seen.error;
    EXPECT_EQ(left_out.at(0).at("deposit"), ToHex(id));
    EXPECT_EQ(left_out.at(0).at("why"), "size");
    EXPECT_THAT(seen.warnings, testing::ElementsAre(HasSubstr("more than a quarter of data.memory")));
  }
}

TEST_F(StoreRecordsTest, WantRoomOnDiskWhereMemoryIsSet) {
  records_.store.memory = std::int64_t{1} << 24;
  records_.data.rows = {std::int64_t{1} << 50, 0, 0};
  Accept(Made(5));
  EXPECT_THAT(WhyNot(), HasSubstr("MB for rows with data.memory"));
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
  records_.vectors.emplace();
  EXPECT_EQ(WhyNot(),
            "data.study: found a job of type \"sum\", expected one on records, which the study is for");
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

constexpr const char* kHogJob = R"(version = 1
type = "dpsgd"
name = "digits"
[data]
name = "digits"
format = "idx"
rows = [10, 10, 10]
features = 64
classes = 2
[features]
method = "hog"
fraction_bits = 10
[training]
steps = 4
expected_batch = 3
max_batch_per_owner = 5
learning_rate = 1.0
[privacy]
sigma = 20.0
delta = 1e-5
clip = 1.0
)";

// What a training's own steps have alone is no part of what is deposited; what rows are moved by is.
TEST_F(StoreRecordsTest, AreOfTheStudyWhateverBitsTheStepsOfATrainingHad) {
  auto records = *jobs::ReadJob(folder_.Write("hog.toml", kHogJob))->Records();
  ASSERT_EQ(records.features.fraction_bits, 10);
  std::array<PublicKey, 3> keys{};
  for (std::size_t i = 0; i < keys.size(); ++i) keys.at(i) = study_.parties[i].key;
  const auto study = ParseStudy(JsonOf(MakeStudy(records, keys)), "study");
  records.store.table = "predict";
  EXPECT_NO_THROW(RequireRecordsOf(study, records));
  records.features.means = std::vector<double>(36, 0.5);
  EXPECT_THAT(ErrorText<ConfigError>([&] { RequireRecordsOf(study, records); }),
              HasSubstr("predict.study: the job's records are not the study's: features.means"));
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

}  // namespace
}  // namespace trefoil::deposit
