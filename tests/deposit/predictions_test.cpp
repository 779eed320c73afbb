#include "deposit/predictions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/secrets/sha256.h"
#include "deposit/format/sealed_body.h"
#include "mpc/fixed_point.h"
#include "tests/deposit/sample_study.h"
#include "tests/support/error_text.h"
#include "tests/support/protocol_test.h"

namespace trefoil::deposit {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;
using testing::HasSubstr;
using testing_support::ErrorText;

Word Of(double logit) { return mpc::Encode(logit, 32, 8); }

const std::vector<std::filesystem::path> kNames{"a", "b", "c"};

/// What the three parties hand out of results.
class PredictionsTest : public testing::Test {
 protected:
  PredictionsTest() { Share(testing_support::Column({0, 2, 1, 1, 2})); }

  void Share(const RingMatrix& results) {
    results_ = results;
    components_[0] = testing_support::RandomWords(1, results.rows(), results.cols());
    components_[1] = testing_support::RandomWords(2, results.rows(), results.cols());
    components_[2] = results - components_[0] - components_[1];
  }

  [[nodiscard]] jobs::PartForOwner PartOf(std::size_t party) const {
    auto part = part_;
    part.components = {components_.at(party), components_.at((party + 1) % 3)};
    return part;
  }

  [[nodiscard]] std::string FileOf(std::size_t party) const {
    return SealPredictions(PartOf(party), static_cast<int>(party), owner_.known);
  }

  [[nodiscard]] std::vector<PredictionsPart> Parts() const {
    std::vector<PredictionsPart> parts;
    for (std::size_t party = 0; party < 3; ++party)
      parts.push_back(OpenPredictions(FileOf(party), owner_, "f"));
    return parts;
  }

  KeyPair owner_ = SamplePair(KeyKind::kOwner, 10);
  RingMatrix results_;
  std::array<RingMatrix, 3> components_;
  jobs::PartForOwner part_{
      .deposit = std::string(64, 'a'), .run = std::string(32, 'b'), .job = std::string(64, 'c')};
};

TEST_F(PredictionsTest, AreWhatTheThreePartsAddUpTo) {
  const auto parts = Parts();
  EXPECT_TRUE((AddUp(parts, kNames) == results_).all());
  EXPECT_TRUE((AddUp({parts[2], parts[0], parts[1]}, kNames) == results_).all());
  const auto& header = parts[1].header;
  EXPECT_EQ(ToHex(header.deposit), part_.deposit);
  EXPECT_EQ(ToHex(header.run), part_.run);
  EXPECT_EQ(ToHex(header.job), part_.job);
  EXPECT_EQ(header.rows, 5U);
  EXPECT_EQ(header.columns, 1U);
  EXPECT_FALSE(header.scores);
  EXPECT_EQ(parts[2].party, 2);
  EXPECT_EQ(FileOf(0).size(), kPredictionsHeaderBytes + SealedBytes(2 * 8 * 5));
  EXPECT_NE(FileOf(0), FileOf(0)) << "sealed by a key of its own each time";
}

TEST_F(PredictionsTest, LieByteByByteAsTheReferenceSays) {
  part_.scores = true;
  part_.fraction_bits = 32;
  part_.decision = ~Word{0};
  Share(testing_support::RandomWords(3, 2, 3));
  const auto file = FileOf(1);
  const std::string header = std::string("trefoil predictions\n") + std::string("\1\0\0\0\1\0\0\0", 8) +
                             std::string(32, '\xaa') + std::string(16, '\xbb') + std::string(32, '\xcc') +
                             std::string("\2\0\0\0\0\0\0\0\3\0\0\0\1\0\x20\0", 16) + std::string(8, '\xff');
  ASSERT_EQ(file.substr(0, kPredictionsHeaderBytes), header);
  const auto body = OpenBody(
      {reinterpret_cast<const std::uint8_t*>(file.data()) + header.size(), file.size() - header.size()},
      SealingPairOf(owner_), header);
  ASSERT_TRUE(body);
  ASSERT_EQ(body->bytes().size(), 2 * 8 * 6U);
  for (std::size_t at = 0; at < 6; ++at) {
    const auto row = static_cast<Index>(at / 3);
    const auto column = static_cast<Index>(at % 3);
    EXPECT_EQ(std::memcmp(body->bytes().data() + 8 * at, &components_[1](row, column), 8), 0);
    EXPECT_EQ(std::memcmp(body->bytes().data() + 48 + 8 * at, &components_[2](row, column), 8), 0);
  }
}

TEST_F(PredictionsTest, OpenForTheirOwnerAloneAndAsTheyWereSealed) {
  const auto file = FileOf(0);
  const auto error = [&](const std::string& content, const KeyPair& owner) {
    return ErrorText<DataError>([&] { (void)OpenPredictions(content, owner, "f"); });
  };
  EXPECT_THAT(error(file, SamplePair(KeyKind::kOwner, 11)),
              HasSubstr("f: found what this owner's key does not open"));
  for (std::size_t at = 0; at < file.size(); ++at) {
    auto changed = file;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_THAT(error(changed, owner_), HasSubstr("f: found")) << at;
  }
  for (std::size_t length = 0; length < file.size(); ++length)
    EXPECT_THAT(error(file.substr(0, length), owner_), HasSubstr("f: found")) << length;
  EXPECT_THAT(error(file + "x", owner_), HasSubstr("expected as many as its header says"));
}

TEST_F(PredictionsTest, OfAPartyThatGarblesItsPartNameIt) {
  const auto error = [&](const std::vector<PredictionsPart>& parts) {
    return ErrorText<DataError>([&] { (void)AddUp(parts, kNames); });
  };
  for (std::size_t party = 0; party < 3; ++party) {
    auto parts = Parts();
    parts[party].components[0](3, 0) += 1;  // that the party before holds, too
    const auto before = (party + 2) % 3;
    EXPECT_THAT(error(parts), HasSubstr("the parts of parties " + std::to_string(before) + " and " +
                                        std::to_string(party) + " differ"));
    EXPECT_THAT(error(parts), HasSubstr(kNames[before].string() + " and " + kNames[party].string()));
    parts[party].components[1](0, 0) += 1;
    EXPECT_THAT(error(parts), HasSubstr(kNames[party].string() + ": party " + std::to_string(party) +
                                        "'s part is not what both others have"));
    parts[(party + 1) % 3].components[1](0, 0) += 1;
    EXPECT_THAT(error(parts), HasSubstr("no two of them agree"));
  }
}

TEST_F(PredictionsTest, OfDifferentRunsJobsOrPartiesDoNotGoTogether) {
  const auto error = [&](const std::vector<PredictionsPart>& parts) {
    return ErrorText<DataError>([&] { (void)AddUp(parts, kNames); });
  };
  auto parts = Parts();
  parts[2].party = 1;
  EXPECT_THAT(error(parts), HasSubstr("c: found party 1's file again"));
  parts.pop_back();
  EXPECT_THAT(ErrorText<DataError>([&] {
                (void)AddUp(parts, {"a", "b"});
              }),
              HasSubstr("found no file of party 2"));
  parts = Parts();
  parts[1].header.run[3] ^= 1;
  EXPECT_THAT(error(parts), HasSubstr("a and b: are of different deposits, runs or jobs"));
  parts = Parts();
  parts[2].header.job[0] ^= 1;
  EXPECT_THAT(error(parts), HasSubstr("a and c: are of different deposits, runs or jobs"));
}

TEST_F(PredictionsTest, AreWrittenInTheOrderOfTheRecords) {
  const TemporaryFolder folder;
  const auto records = SampleRecords(folder);
  const auto header = Parts()[0].header;
  EXPECT_EQ(PredictionsCsvOf(header, results_, {4, 0, 2}, records), "row,label\n1,r\n2,p\n3,q\n");
  results_(2, 0) = 3;
  EXPECT_THAT(ErrorText<DataError>([&] {
                (void)PredictionsCsvOf(header, results_, {4, 0, 2}, records);
              }),
              HasSubstr("record 3: found class 3, expected one of the study's 3"));
}

TEST_F(PredictionsTest, OfScoresHaveTheClassThatTheyMean) {
  const TemporaryFolder folder;
  auto records = SampleRecords(folder);
  PredictionsHeader header{.rows = 2, .columns = 3, .scores = true, .fraction_bits = 32};
  RingMatrix logits(2, 3);
  logits << Of(0.5), Of(-1.25), Of(0.75),  //
      Of(2.0), Of(2.0), Of(1.0);
  EXPECT_EQ(PredictionsCsvOf(header, logits, {1, 0}, records),
            "row,label,score_p,score_q,score_r\n1,p,2,2,1\n2,r,0.5,-1.25,0.75\n");
  records.data.classes = 2;
  records.data.label.values = {"no", "yes"};
  EXPECT_THAT(ErrorText<DataError>([&] {
                (void)PredictionsCsvOf(header, logits, {1, 0}, records);
              }),
              HasSubstr("found 3 logits a row, expected the study's 1"));
  header.decision = Of(0.6);
  RingMatrix two(2, 1);
  two << Of(0.5), Of(0.75);
  EXPECT_EQ(PredictionsCsvOf(header, two, {0, 1}, records), "row,label,score_yes\n1,no,0.5\n2,yes,0.75\n");
}

}  // namespace
}  // namespace trefoil::deposit
