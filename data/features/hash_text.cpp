#include "data/features/hash_text.h"

#include <sodium.h>

#include <array>
#include <string_view>
#include <unordered_set>

#include "base/error.h"

namespace trefoil::data {
namespace {

constexpr std::size_t kTextsATask = 64;  // records that one task takes at a time, at least
constexpr int kLongestNgram = 16;
constexpr std::int64_t kMaxColumns = 1'000'000;
constexpr std::array<unsigned char, crypto_shorthash_KEYBYTES> kPublicKey{
    't', 'r', 'e', 'f', 'o', 'i', 'l', '-', 'f', 'e', 'a', 't', 'u', 'r', 'e', 's'};

/// Where the pieces (characters or words) of a text begin and end.
using Pieces = std::vector<std::string_view>;

bool IsSpace(unsigned char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

bool IsWordByte(unsigned char byte) {
  return byte >= 0x80 || (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
         (byte >= 'A' && byte <= 'Z');
}

/// The text between blanks, with one blank for each run of white space.
std::string Normalised(std::string_view text, bool fold_case) {
  std::string normal = " ";
  for (const char letter : text) {
    if (IsSpace(static_cast<unsigned char>(letter))) {
      if (normal.back() != ' ') normal += ' ';
    } else {
      const bool capital = letter >= 'A' && letter <= 'Z';
      normal += capital && fold_case ? static_cast<char>(letter - 'A' + 'a') : letter;
    }
  }
  if (normal.back() != ' ' || normal.size() == 1) normal += ' ';
  return normal;
}

/// Bytes of the character that begins `text`: as its first byte says if the others continue it, else 1.
std::size_t CharacterLength(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1;
  if (length > text.size() || first >= 0xF8) return 1;
  for (std::size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U) return 1;
  }
  return length;
}

Pieces CharactersOf(std::string_view text) {
  Pieces characters;
  while (!text.empty()) {
    characters.push_back(text.substr(0, CharacterLength(text)));
    text.remove_prefix(characters.back().size());
  }
  return characters;
}

Pieces WordsOf(std::string_view text) {
  Pieces words;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && IsWordByte(static_cast<unsigned char>(text[end]))) ++end;
    if (end > i) words.push_back(text.substr(i, end - i));
    i = end + 1;
  }
  return words;
}

/// Adds the n-grams of one record to its row.
class Hasher {
 public:
  Hasher(float* row, const HashTextSpec& spec)
      : row_(row), dimension_(static_cast<std::uint64_t>(spec.dimension)), binary_(spec.binary) {}

  void Add(std::size_t field, char kind, const Pieces& pieces, const NgramRange& range,
           std::string_view joint) {
    std::string ngram(1, kind);
    for (int k = 0; k < 4; ++k) ngram += static_cast<char>(field >> (8 * k) & 0xFFU);
    const std::size_t prefix = ngram.size();
    for (std::size_t first = 0; first < pieces.size(); ++first) {
      ngram.resize(prefix);
      for (int n = 1; n <= range.most && first + static_cast<std::size_t>(n) <= pieces.size(); ++n) {
        if (n > 1) ngram += joint;
        ngram += pieces[first + static_cast<std::size_t>(n) - 1];
        if (n >= range.least) Count(ngram);
      }
    }
  }

 private:
  void Count(const std::string& ngram) {
    std::array<unsigned char, crypto_shorthash_BYTES> bytes{};
    crypto_shorthash(bytes.data(), reinterpret_cast<const unsigned char*>(ngram.data()), ngram.size(),
                     kPublicKey.data());
    std::uint64_t hash = 0;
    for (std::size_t k = bytes.size(); k > 0; --k) hash = hash << 8 | bytes[k - 1];
    if (binary_ && !seen_.insert(hash).second) return;
    row_[(hash >> 1) % dimension_] += (hash & 1U) != 0 ? -1.0F : 1.0F;
  }

  float* row_;
  std::uint64_t dimension_;
  bool binary_;
  std::unordered_set<std::uint64_t> seen_;  // of n-grams' hashes
};

void HashRecord(const std::vector<std::string>& fields, const HashTextSpec& spec, float* row) {
  Hasher hasher(row, spec);
  for (std::size_t field = 0; field < fields.size(); ++field) {
    const std::string text = Normalised(fields[field], spec.fold_case);
    if (spec.characters.most > 0) hasher.Add(field, 'c', CharactersOf(text), spec.characters, "");
    if (spec.words.most > 0) hasher.Add(field, 'w', WordsOf(text), spec.words, " ");
  }
}

void CheckRange(const char* key, const NgramRange& range) {
  const bool none = range.least == 0 && range.most == 0;
  if (none || (range.least >= 1 && range.least <= range.most && range.most <= kLongestNgram)) return;
  throw ConfigError(std::string("features.") + key + ": found [" + std::to_string(range.least) + ", " +
                    std::to_string(range.most) + "], expected [least, most] from 1 to " +
                    std::to_string(kLongestNgram) + ", or []");
}

}  // namespace

void ValidateHashText(const HashTextSpec& spec) {
  if (spec.dimension < 1 || spec.dimension > kMaxColumns) {
    throw ConfigError("features.dimension: found " + std::to_string(spec.dimension) + ", expected 1 to " +
                      std::to_string(kMaxColumns));
  }
  CheckRange("characters", spec.characters);
  CheckRange("words", spec.words);
  if (spec.characters.most == 0 && spec.words.most == 0) {
    throw ConfigError(
        "features.words: found [] beside features.characters = [], expected n-grams of words or characters");
  }
}

Matrix HashText(const std::vector<std::vector<std::string>>& texts, const HashTextSpec& spec,
                ThreadPool& pool) {
  ValidateHashText(spec);
  Matrix features = Matrix::Zero(static_cast<Eigen::Index>(texts.size()), spec.dimension);
  pool.ParallelFor(texts.size(), kTextsATask, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      HashRecord(texts[i], spec, features.row(static_cast<Eigen::Index>(i)).data());
  });
  return features;
}

}  // namespace trefoil::data
