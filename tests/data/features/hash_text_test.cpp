#include "data/features/hash_text.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>
#include <vector>

#include "tests/data/temporary_folder.h"

namespace trefoil::data {
namespace {

using Texts = std::vector<std::vector<std::string>>;

/// SipHash-2-4 from its definition (J.-P. Aumasson, D. J. Bernstein, 2012).
class SipHash {
 public:
  static std::uint64_t Of(const std::string& message, const std::string& key) {
    SipHash state;
    const std::uint64_t k0 = Word(key, 0);
    const std::uint64_t k1 = Word(key, 8);
    state.v_ = {k0 ^ 0x736f6d6570736575U, k1 ^ 0x646f72616e646f6dU, k0 ^ 0x6c7967656e657261U,
                k1 ^ 0x7465646279746573U};
    std::string padded = message;
    while (padded.size() % 8 != 7) padded += '\0';
    padded += static_cast<char>(message.size() & 0xFFU);
    for (std::size_t i = 0; i < padded.size(); i += 8) {
      const std::uint64_t word = Word(padded, i);
      state.v_[3] ^= word;
      state.Rounds(2);
      state.v_[0] ^= word;
    }
    state.v_[2] ^= 0xFFU;
    state.Rounds(4);
    return state.v_[0] ^ state.v_[1] ^ state.v_[2] ^ state.v_[3];
  }

 private:
  static std::uint64_t Word(const std::string& bytes, std::size_t at) {
    std::uint64_t word = 0;
    for (std::size_t k = 0; k < 8; ++k)
      word |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[at + k])) << (8 * k);
    return word;
  }
  static std::uint64_t Turn(std::uint64_t x, int bits) { return x << bits | x >> (64 - bits); }
  void Half(std::size_t a, std::size_t b, int turn) {
    v_[a] += v_[b];
    v_[b] = Turn(v_[b], turn) ^ v_[a];
  }
  void Rounds(int count) {
    for (int i = 0; i < count; ++i) {
      Half(0, 1, 13);
      v_[0] = Turn(v_[0], 32);
      Half(2, 3, 16);
      Half(0, 3, 21);
      Half(2, 1, 17);
      v_[2] = Turn(v_[2], 32);
    }
  }
  std::array<std::uint64_t, 4> v_{};
};

/// The row that these n-grams make, each "c" or "w" and its text, all of field `field`.
Matrix RowOf(const std::map<std::string, int>& ngrams, std::int64_t dimension, char field = 0) {
  Matrix row = Matrix::Zero(1, dimension);
  for (const auto& [ngram, count] : ngrams) {
    const std::string bytes = ngram.substr(0, 1) + std::string{field, 0, 0, 0} + ngram.substr(1);
    const auto hash = SipHash::Of(bytes, "trefoil-features");
    row(0, static_cast<Eigen::Index>(hash / 2 % static_cast<std::uint64_t>(dimension))) +=
        static_cast<float>(hash % 2 == 0 ? count : -count);
  }
  return row;
}

Matrix Hash(const Texts& texts, const HashTextSpec& spec) {
  ThreadPool pool(2);
  return HashText(texts, spec, pool);
}

constexpr HashTextSpec kWords{.dimension = 1009, .characters = {0, 0}, .words = {1, 2}, .fold_case = true};
constexpr HashTextSpec kCharacters{
    .dimension = 1009, .characters = {2, 3}, .words = {0, 0}, .fold_case = true};

TEST(HashText, SipHashOfTheTestIsThatOfItsAuthors) {
  std::string key;
  std::string message;
  for (char i = 0; i < 16; ++i) key += i;
  for (char i = 0; i < 15; ++i) message += i;
  EXPECT_EQ(SipHash::Of(message, key), 0xa129ca6149be45e5U);  // the paper's appendix A
}

TEST(HashText, CountsWordsAndPairs) {
  EXPECT_EQ(Hash({{"To be, or not to be"}}, kWords), RowOf({{"wto", 2},
                                                            {"wbe", 2},
                                                            {"wor", 1},
                                                            {"wnot", 1},
                                                            {"wto be", 2},
                                                            {"wbe or", 1},
                                                            {"wor not", 1},
                                                            {"wnot to", 1}},
                                                           1009));
}

TEST(HashText, CountsAnNgramOnceARecordAndFieldIfAsked) {
  auto spec = kWords;
  spec.binary = true;
  const Texts texts{{"To be, or not to be", "be"}, {"to", ""}};
  const Matrix both = Hash(texts, spec);
  EXPECT_EQ(both.row(0), (RowOf({{"wto", 1},
                                 {"wbe", 1},
                                 {"wor", 1},
                                 {"wnot", 1},
                                 {"wto be", 1},
                                 {"wbe or", 1},
                                 {"wor not", 1},
                                 {"wnot to", 1}},
                                1009) +
                          RowOf({{"wbe", 1}}, 1009, 1))
                             .row(0));
  EXPECT_EQ(both.row(1), RowOf({{"wto", 1}}, 1009).row(0));
}

TEST(HashText, CountsCharactersBetweenBlanks) {
  EXPECT_EQ(
      Hash({{"\t a\n\n b"}}, kCharacters),
      RowOf({{"c a", 1}, {"ca ", 1}, {"c b", 1}, {"cb ", 1}, {"c a ", 1}, {"ca b", 1}, {"c b ", 1}}, 1009));
}

TEST(HashText, TakesCodePointsAsCharactersAndLettersBeyondAsciiAsWords) {
  const HashTextSpec single{.dimension = 97, .characters = {1, 1}, .words = {1, 1}, .fold_case = true};
  EXPECT_EQ(Hash({{"Zürich €𝄞"}}, single), RowOf({{"c ", 3},
                                                  {"cz", 1},
                                                  {"cü", 1},
                                                  {"cr", 1},
                                                  {"ci", 1},
                                                  {"cc", 1},
                                                  {"ch", 1},
                                                  {"c€", 1},
                                                  {"c𝄞", 1},
                                                  {"wzürich", 1},
                                                  {"w€𝄞", 1}},
                                                 97));
  // Bytes that are no UTF-8: a continuation alone, a cut character, a byte that never occurs.
  EXPECT_EQ(Hash({{"\x80"
                   "a\xC3"},
                  {"\xFF\xE2\x82"}},
                 {97, {1, 1}, {0, 0}, true})
                .row(0),
            RowOf({{"c ", 2}, {"c\x80", 1}, {"ca", 1}, {"c\xC3", 1}}, 97).row(0));
  EXPECT_EQ(Hash({{"\xFF\xE2\x82"}}, {97, {1, 1}, {0, 0}, true}),
            RowOf({{"c ", 2}, {"c\xFF", 1}, {"c\xE2", 1}, {"c\x82", 1}}, 97));
}

TEST(HashText, FoldsCaseOnlyIfAsked) {
  auto spec = kWords;
  EXPECT_EQ(Hash({{"UP"}}, spec), Hash({{"up"}}, spec));
  spec.fold_case = false;
  EXPECT_EQ(Hash({{"UP"}}, spec), RowOf({{"wUP", 1}}, 1009));
}

TEST(HashText, KeepsFieldsApartAndAddsThemUp) {
  const Matrix both = Hash({{"one", "two"}}, kWords);
  EXPECT_EQ(both, RowOf({{"wone", 1}}, 1009) + RowOf({{"wtwo", 1}}, 1009, 1));
  EXPECT_NE(both, Hash({{"two", "one"}}, kWords));
}

TEST(HashText, OfNothingIsZero) {
  EXPECT_EQ(Hash({{""}, {" .,; \n"}}, kWords), Matrix::Zero(2, 1009));
  EXPECT_EQ(Hash({}, kWords).rows(), 0);
  // Two blanks are one n-gram of two characters.
  EXPECT_EQ(Hash({{""}}, kCharacters), RowOf({{"c  ", 1}}, 1009));
}

TEST(HashText, DependsOnTheRecordAloneForAnyNumberOfThreads) {
  Texts texts;
  for (int i = 0; i < 500; ++i) texts.push_back({"record number " + std::to_string(i * i)});
  ThreadPool one(1);
  ThreadPool three(3);
  const Matrix all = HashText(texts, {}, three);
  EXPECT_EQ(all, HashText(texts, {}, one));
  EXPECT_EQ(all.row(321), HashText({texts[321]}, {}, one).row(0));
  EXPECT_EQ(all.cols(), 4096);
}

TEST(ValidateHashText, RefusesWhatIsOutOfRange) {
  const auto text = [](HashTextSpec spec) { return ErrorText<ConfigError>([&] { ValidateHashText(spec); }); };
  EXPECT_EQ(text({}), "");
  EXPECT_EQ(text({.dimension = 0}), "features.dimension: found 0, expected 1 to 1000000");
  EXPECT_EQ(text({.characters = {2, 1}}),
            "features.characters: found [2, 1], expected [least, most] from 1 to 16, or []");
  EXPECT_EQ(text({.words = {0, 1}}),
            "features.words: found [0, 1], expected [least, most] from 1 to 16, or []");
  EXPECT_EQ(text({.words = {1, 17}}),
            "features.words: found [1, 17], expected [least, most] from 1 to 16, or []");
  EXPECT_EQ(
      text({.characters = {0, 0}, .words = {0, 0}}),
      "features.words: found [] beside features.characters = [], expected n-grams of words or characters");
}

}  // namespace
}  // namespace trefoil::data
