#include "deposit/read_deposit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "base/error.h"
#include "base/files/files.h"
#include "deposit/format/bytes.h"
#include "deposit/format/sealed_body.h"
#include "tests/deposit/sample_deposit.h"

namespace trefoil::deposit {
namespace {

using testing::HasSubstr;

/// A deposit of the sample study and what is needed to forge others.
class ReadDepositTest : public testing::Test {
 protected:
  /// Why party 1, or another, refuses this file; nothing where it takes it.
  [[nodiscard]] std::optional<Reason> ReasonOf(const std::string& file) const {
    return ReasonOf(file, reader_);
  }
  [[nodiscard]] std::optional<Reason> ReasonOf(const std::string& file, const DepositReader& reader) const {
    try {
      (void)ReadDeposit(folder_.Write("x.deposit", file), reader);
    } catch (const RefusedDeposit& refused) {
      EXPECT_THAT(refused.what(),
                  HasSubstr(std::string("x.deposit: refused (") + CodeOf(refused.reason()) + "): found "));
      return refused.reason();
    }
    return {};
  }

  /// The header of the sample deposit.
  [[nodiscard]] Header SampleHeader() const {
    return *DecodeHeader(std::string_view(made_.files[1]).substr(kPrefixBytes, kHeaderBytes));
  }
  /// Its body for party 1.
  [[nodiscard]] std::string SampleBody() const { return made_.files[1].substr(kPrefixBytes + kHeaderBytes); }

  /// Party 1's file with this header and body, well signed by an owner that it lists.
  [[nodiscard]] std::string Forged(const Header& header, const std::string& body) const {
    return SignDeposit(header, {"", body, ""}, SamplePair(KeyKind::kOwner, 10)).files[1];
  }
  /// The same, with the body sealed as it must be.
  [[nodiscard]] std::string Sealed(const Header& header, std::span<const std::uint8_t> body) const {
    return Forged(header, SealBody(body, header.recipients[1], EncodeHeader(header)));
  }
  /// What is in the sample's body of party 1: two salts, two components.
  [[nodiscard]] std::vector<std::uint8_t> OpenedBody() const {
    const auto body =
        OpenBody(BytesOf(SampleBody()), SamplePair(KeyKind::kParty, 1), EncodeHeader(SampleHeader()));
    return {body->bytes().begin(), body->bytes().end()};
  }

  TemporaryFolder folder_;
  Study study_ = SampleStudy(folder_);
  MadeDeposit made_ = SampleDeposit(study_);
  DepositReader reader_ = SampleReader(study_, 1);
};

TEST_F(ReadDepositTest, TakesWhatAnOwnerMade) {
  for (int party = 0; party < 3; ++party)
    EXPECT_FALSE(ReasonOf(made_.files.at(static_cast<std::size_t>(party)), SampleReader(study_, party)));
  EXPECT_EQ(DepositId(EncodeHeader(SampleHeader())), made_.id);
  EXPECT_FALSE(ReasonOf(Forged(SampleHeader(), SampleBody()))) << "what the forgeries below begin with";
  EXPECT_FALSE(ReasonOf(Sealed(SampleHeader(), OpenedBody())));
}

TEST_F(ReadDepositTest, RefusesEachBitThatIsNotTheOwners) {
  const auto& file = made_.files[1];
  for (std::size_t at = 0; at < file.size(); ++at) {
    auto changed = file;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    const auto expected = at < 16    ? Reason::kMagic
                          : at < 20  ? Reason::kVersion
                          : at < 24  ? Reason::kParty
                          : at < 40  ? Reason::kSize
                          : at < 264 ? Reason::kSignature
                          : at < 704 ? Reason::kHeader
                                     : Reason::kBody;
    EXPECT_EQ(ReasonOf(changed), expected) << at;
  }
}

TEST_F(ReadDepositTest, RefusesEachOtherLength) {
  const auto& file = made_.files[1];
  for (std::size_t length = 0; length < file.size(); ++length)
    EXPECT_EQ(ReasonOf(file.substr(0, length)), Reason::kSize) << length;
  EXPECT_EQ(ReasonOf(file + "x"), Reason::kSize);
}

TEST_F(ReadDepositTest, RefusesAnotherPartysFileStudyOrKey) {
  EXPECT_EQ(ReasonOf(made_.files[0]), Reason::kParty);
  auto reader = SampleReader(study_, 1);
  reader.study.records.features.row_norm = 1.5;
  EXPECT_EQ(ReasonOf(made_.files[1], reader), Reason::kStudy);
  reader = SampleReader(study_, 1);
  reader.key = SamplePair(KeyKind::kParty, 7);  // made anew since the study
  EXPECT_EQ(ReasonOf(made_.files[1], reader), Reason::kRecipients);
  reader = SampleReader(study_, 1);
  reader.owners[0].key = SamplePair(KeyKind::kOwner, 11).known;
  EXPECT_EQ(ReasonOf(made_.files[1], reader), Reason::kOwner);
  reader.owners.clear();
  EXPECT_EQ(ReasonOf(made_.files[1], reader), Reason::kOwner);
}

TEST_F(ReadDepositTest, RefusesAHeaderWithOneCommitmentTwice) {
  auto header = SampleHeader();
  header.commitments[2] = header.commitments[0];
  EXPECT_EQ(ReasonOf(Forged(header, SampleBody())), Reason::kHeader);
}

TEST_F(ReadDepositTest, RefusesABodyUnderAnotherHeader) {
  // The second owner signs the first one's body as its own, or with other terms: it does not open.
  auto reader = SampleReader(study_, 1);
  reader.owners.push_back({.name = "thief", .key = SamplePair(KeyKind::kOwner, 12).known});
  auto header = SampleHeader();
  header.owner = SamplePair(KeyKind::kOwner, 12).known;
  const auto copy = SignDeposit(header, {"", SampleBody(), ""}, SamplePair(KeyKind::kOwner, 12));
  EXPECT_EQ(ReasonOf(copy.files[1], reader), Reason::kSealing);
  header = SampleHeader();
  header.population = "ward-4";
  EXPECT_EQ(ReasonOf(Forged(header, SampleBody())), Reason::kSealing);
  header = SampleHeader();
  header.nonce[0] ^= 1;
  EXPECT_EQ(ReasonOf(Forged(header, SampleBody())), Reason::kSealing);
  // That of another party, whose key opens it, in this one's place.
  EXPECT_EQ(ReasonOf(Forged(SampleHeader(), made_.files[2].substr(kPrefixBytes + kHeaderBytes))),
            Reason::kSealing);
}

TEST_F(ReadDepositTest, RefusesWellSignedHeadersThatSayNothing) {
  const auto signed_header = [&](const std::string& encoded) {
    // As SignDeposit, but for the header, which no Header gives.
    Prefix prefix{.party = 1,
                  .header_bytes = encoded.size(),
                  .body_bytes = SampleBody().size(),
                  .owner = SamplePair(KeyKind::kOwner, 10).known,
                  .id = DepositId(encoded)};
    const auto text = SignedText(prefix);
    prefix.signature = Sign(SamplePair(KeyKind::kOwner, 10), {text.data(), text.size()});
    return EncodePrefix(prefix) + encoded + SampleBody();
  };
  const auto encoded = EncodeHeader(SampleHeader());
  const auto with = [&](std::size_t at, char byte) {
    auto changed = encoded;
    changed.at(at) = byte;
    return changed;
  };
  EXPECT_EQ(ReasonOf(signed_header(encoded)), Reason::kBody) << "whose hash is that of nothing";
  for (const auto& bad : {encoded.substr(1), encoded + "x", with(72, '/'), with(72, '\0'), with(72 + 63, 'x'),
                          with(136, '.'), with(200, 2), with(207, 1)})
    EXPECT_EQ(ReasonOf(signed_header(bad)), Reason::kHeader);
  auto header = SampleHeader();
  header.owner = SamplePair(KeyKind::kOwner, 12).known;
  EXPECT_EQ(ReasonOf(signed_header(EncodeHeader(header))), Reason::kHeader)
      << "another owner than the signer";
}

TEST_F(ReadDepositTest, RefusesACapacityThatTheBodyDoesNotHave) {
  for (const std::uint64_t capacity : {std::uint64_t{0}, std::uint64_t{7}, std::uint64_t{9},
                                       std::uint64_t{1} << 40, std::uint64_t{1} << 61, ~std::uint64_t{0}}) {
    auto header = SampleHeader();
    header.capacity = capacity;
    EXPECT_EQ(ReasonOf(Sealed(header, OpenedBody())), Reason::kCapacity) << capacity;
  }
  auto header = SampleHeader();
  header.recipients[2] = SamplePair(KeyKind::kParty, 9).known;
  EXPECT_EQ(ReasonOf(Sealed(header, OpenedBody())), Reason::kRecipients);
}

TEST_F(ReadDepositTest, TakesBatchesOfTheStudysSizeAlone) {
  const auto study = SampleStudyOfBatches(folder_);
  // A study of the same id as a hostile owner would have it, which says nothing of batches where it makes the
  // deposit.
  auto without = study;
  without.records.store = {};
  RandomStream coins(testing_support::FixedKey(5));
  const auto owner = SamplePair(KeyKind::kOwner, 10);
  const auto good = MakeDeposit(study, SampleTable(), SampleTerms(20), owner, coins);
  EXPECT_EQ(ReasonOf(good.files[1], SampleReader(study, 1)), std::nullopt);
  EXPECT_EQ(ReasonOf(good.files[1]), Reason::kStudy) << "of another study, and so of another job or run";
  for (const std::uint64_t capacity : {19, 21, 40}) {
    auto header = *DecodeHeader(std::string_view(good.files[1]).substr(kPrefixBytes, kHeaderBytes));
    header.capacity = capacity;
    const auto parts = ShareRows(without.records, SampleTable(), capacity, coins);
    std::vector<std::uint8_t> body;
    for (const std::size_t k : {1U, 2U}) {
      header.commitments.at(k) = Commitment(header.study, header.nonce, static_cast<int>(k),
                                            parts.at(k).salt.bytes(), parts.at(k).content.bytes());
      for (const auto& part : {parts.at(k).salt.bytes(), parts.at(k).content.bytes()})
        body.insert(body.end(), part.begin(), part.end());
    }
    EXPECT_EQ(ReasonOf(Sealed(header, body), SampleReader(study, 1)), Reason::kCapacity) << capacity;
  }
}

TEST_F(ReadDepositTest, RefusesComponentsThatTheHeaderDoesNotCommitTo) {
  const auto body = OpenedBody();
  for (const std::size_t at : {std::size_t{0}, std::size_t{40}, std::size_t{70}, body.size() - 1}) {
    auto changed = body;
    changed[at] ^= 1;
    EXPECT_EQ(ReasonOf(Sealed(SampleHeader(), changed)), Reason::kCommitment) << at;
  }
}

TEST_F(ReadDepositTest, RefusesNumbersBeyondTheModulus) {
  const auto layout = LayoutOf(study_.records);
  ASSERT_EQ(layout.feature_bits, 20);
  auto body = OpenedBody();
  const std::size_t component = 3 * 32;  // behind salt, seed and salt
  auto header = SampleHeader();
  for (const auto& [bits, reason] :
       {std::pair{0x0F, std::optional<Reason>{}}, std::pair{0x10, std::optional(Reason::kContent)}}) {
    body[component + 2] = static_cast<std::uint8_t>(bits);
    const std::span<const std::uint8_t> all(body);
    header.commitments[2] =
        Commitment(header.study, header.nonce, 2, all.subspan(2 * 32, 32), all.subspan(3 * 32));
    EXPECT_EQ(ReasonOf(Sealed(header, body)), reason) << bits;
  }
}

TEST(Refusals, HaveCodesThatTheReferenceExplains) {
  const auto page = ReadTextFile(TREFOIL_SOURCE_DIR "/docs/reference/deposits.md", "the page");
  auto before = page.find("\n## Refusals\n");
  ASSERT_NE(before, std::string::npos);
  for (int k = 0; k < kReasons; ++k) {
    const auto at = page.find(std::string("- `") + CodeOf(static_cast<Reason>(k)) + "`", before);
    ASSERT_NE(at, std::string::npos) << CodeOf(static_cast<Reason>(k)) << ", in their order";
    before = at;
  }
}

}  // namespace
}  // namespace trefoil::deposit
