#include "deposit/format/components.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/files/files.h"
#include "base/secrets/sealed_box.h"
#include "base/secrets/sha256.h"
#include "deposit/format/bytes.h"
#include "deposit/format/sealed_body.h"
#include "ml/plan/settings.h"
#include "ml/records.h"

namespace trefoil::deposit {
namespace {

using mpc::Word;

constexpr std::string_view kCommitmentDomain = "trefoil deposit commitment 1\n";

Word MaskOf(const RowLayout& layout) { return (Word{1} << layout.feature_bits) - 1; }

jobs::SecretBytes DrawBytes(RandomStream& coins) {
  std::vector<std::uint8_t> bytes(SecretKey::kBytes);
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(Word))
    PutNumber(std::span(bytes).subspan(at, sizeof(Word)), coins.NextWord());
  return jobs::SecretBytes(std::move(bytes));
}

/// The words of a component that comes from a seed, in the order of the rows.
RandomStream StreamOf(std::span<const std::uint8_t> seed) {
  Require(seed.size() == SecretKey::kBytes, "StreamOf: a seed");
  return RandomStream(SecretKey(seed.first<SecretKey::kBytes>()));
}

/// A record as a row of numbers. Pre: the row is all zeros.
void EncodeRecord(const jobs::RecordSchema& records, const data::Table& table, std::int64_t record,
                  std::span<Word> row) {
  const auto features = static_cast<std::size_t>(table.x.cols());
  (void)ml::EncodeFeatures(table.x.row(record).cast<double>(), record, records.features.row_norm,
                           records.fraction_bits, row.first(features));
  row[features] = 1;
  const auto label = row.subspan(features + 1);
  const int found = table.y.at(static_cast<std::size_t>(record));
  const int most = records.data.target ? 1 << ml::kTargetBits : records.data.classes - 1;
  if (found < 0 || found > most)
    throw DataError("record " + std::to_string(record + 1) + ": found a label out of its range");
  if (label.size() == 1) {
    label[0] = static_cast<Word>(found);
  } else {
    label[static_cast<std::size_t>(found)] = 1;
  }
}

/// Walks over the numbers of component 2, a span of bytes each: visit(row, number in the row, its bytes).
template <typename Bytes, typename Visit>
void ForEachNumber(const RowLayout& layout, Bytes bytes, const Visit& visit) {
  const auto features = static_cast<std::size_t>(layout.features);
  for (std::size_t row = 0; !bytes.empty(); ++row) {
    for (std::size_t k = 0; k < layout.numbers(); ++k) {
      const auto count = k < features ? layout.feature_bytes() : sizeof(Word);
      visit(row, k, bytes.first(count));
      bytes = bytes.subspan(count);
    }
  }
}

/// What seeds leave of the rows. `slots`: of each row its record, or padding.
std::vector<std::uint8_t> WordsOf(const jobs::RecordSchema& records, const data::Table& table,
                                  const std::vector<std::int64_t>& slots, const RowLayout& layout,
                                  std::array<RandomStream, 2>& streams) {
  std::vector<std::uint8_t> words(slots.size() * layout.row_bytes());
  std::vector<Word> row(layout.numbers());
  const Word mask = MaskOf(layout);
  ForEachNumber(layout, std::span(words), [&](std::size_t slot, std::size_t k, std::span<std::uint8_t> out) {
    if (k == 0) {
      std::fill(row.begin(), row.end(), 0);
      if (slots[slot] != ml::kPadding) EncodeRecord(records, table, slots[slot], row);
    }
    const Word word = row[k] - streams[0].NextWord() - streams[1].NextWord();
    PutNumber(out, out.size() == sizeof(Word) ? word : word & mask);
  });
  Wipe(std::span(row));
  return words;
}

/// Of each row of a deposit of so many records which one it has, or padding.
std::vector<std::int64_t> DrawSlots(const jobs::RecordSchema& records, std::size_t count,
                                    std::uint64_t capacity, RandomStream& coins) {
  const auto& batches = records.store.batches;
  if (!batches) {
    std::vector<std::int64_t> listed(count);
    std::iota(listed.begin(), listed.end(), std::int64_t{0});
    return ml::PlaceRows(coins, std::move(listed), static_cast<std::int64_t>(capacity));
  }
  std::vector<std::int64_t> slots;
  slots.reserve(capacity);
  for (std::int64_t step = 0; step < batches->steps; ++step) {
    auto drawn = ml::DrawRows(coins, static_cast<std::int64_t>(count), batches->sampling_rate, batches->rows);
    const auto batch = ml::PlaceRows(coins, std::move(drawn), batches->rows);
    slots.insert(slots.end(), batch.begin(), batch.end());
  }
  return slots;
}

}  // namespace

std::size_t ComponentBytes(const RowLayout& layout, std::uint64_t capacity, int component) {
  return component == kWordComponent ? capacity * layout.row_bytes() : SecretKey::kBytes;
}

std::size_t BodyBytes(const RowLayout& layout, std::uint64_t capacity, int party) {
  return 2 * SecretKey::kBytes + ComponentBytes(layout, capacity, party) +
         ComponentBytes(layout, capacity, (party + 1) % 3);
}

std::uint64_t LargestCapacity(const RowLayout& layout) {
  // Tags are 17 bytes in 64 KiB; seeds, salts, header and prefix take less than a mebibyte.
  return (kLargestOwnFile - kLargestOwnFile / 2048 - (std::uint64_t{1} << 20)) / layout.row_bytes();
}

std::array<SaltedComponent, 3> ShareRows(const jobs::RecordSchema& records, const data::Table& table,
                                         std::uint64_t capacity, RandomStream& coins,
                                         std::vector<std::int64_t>* slots) {
  const auto layout = LayoutOf(records);
  const auto rows = static_cast<std::size_t>(table.x.rows());
  const auto batches = RowsOfBatches(records);
  const auto most = batches ? static_cast<std::uint64_t>(records.store.batches->records) : capacity;
  Require(rows <= most && capacity <= LargestCapacity(layout) && capacity == batches.value_or(capacity),
          "ShareRows: no more rows than there is room for");
  Require(table.x.cols() == layout.features && table.y.size() == rows,
          "ShareRows: features and labels of the study");
  auto drawn = DrawSlots(records, rows, capacity, coins);
  auto first = DrawBytes(coins);
  auto second = DrawBytes(coins);
  std::array<RandomStream, 2> streams{StreamOf(first.bytes()), StreamOf(second.bytes())};
  jobs::SecretBytes words(WordsOf(records, table, drawn, layout, streams));
  if (slots != nullptr) *slots = std::move(drawn);
  return {{{.salt = DrawBytes(coins), .content = std::move(first)},
           {.salt = DrawBytes(coins), .content = std::move(second)},
           {.salt = DrawBytes(coins), .content = std::move(words)}}};
}

Hash Commitment(const Hash& study, const Hash& nonce, int component, std::span<const std::uint8_t> salt,
                std::span<const std::uint8_t> content) {
  Sha256 hash;
  hash.Update(kCommitmentDomain);
  hash.Update(TextOf(study));
  hash.Update(TextOf(nonce));
  const auto number = static_cast<std::uint8_t>(component);
  hash.Update(TextOf({&number, 1}));
  hash.Update(TextOf(salt));
  hash.Update(TextOf(content));
  return hash.Digest();
}

bool IsInRange(const RowLayout& layout, int component, std::span<const std::uint8_t> content) {
  if (component != kWordComponent) return true;
  Word beyond = 0;
  ForEachNumber(layout, content, [&](std::size_t, std::size_t, std::span<const std::uint8_t> bytes) {
    if (bytes.size() < sizeof(Word)) beyond |= TakeNumber(bytes) >> layout.feature_bits;
  });
  return beyond == 0;
}

ComponentRows::ComponentRows(const RowLayout& layout, int component, std::span<const std::uint8_t> content)
    : layout_(layout) {
  if (component == kWordComponent) {
    words_ = content;
  } else {
    stream_.emplace(StreamOf(content));
  }
}

std::span<const std::uint8_t> ComponentRows::TakeWords(std::uint64_t rows) {
  const auto bytes = rows * layout_.row_bytes();
  Require(bytes <= words_.size(), "ComponentRows: rows that are there");
  const auto taken = words_.first(bytes);
  words_ = words_.subspan(bytes);
  return taken;
}

mpc::RingMatrix ComponentRows::Next(std::uint64_t rows) {
  mpc::RingMatrix numbers(static_cast<mpc::Index>(rows), static_cast<mpc::Index>(layout_.numbers()));
  if (!stream_) {
    ForEachNumber(layout_, TakeWords(rows),
                  [&](std::size_t row, std::size_t k, std::span<const std::uint8_t> bytes) {
                    numbers(static_cast<mpc::Index>(row), static_cast<mpc::Index>(k)) = TakeNumber(bytes);
                  });
    return numbers;
  }
  const Word mask = MaskOf(layout_);
  for (mpc::Index row = 0; row < numbers.rows(); ++row) {
    for (mpc::Index k = 0; k < numbers.cols(); ++k)
      numbers(row, k) = stream_->NextWord() & (k < layout_.features ? mask : ~Word{0});
  }
  return numbers;
}

void ComponentRows::Skip(std::uint64_t rows) {
  if (!stream_) {
    (void)TakeWords(rows);
    return;
  }
  for (std::uint64_t k = 0; k < rows * layout_.numbers(); ++k) (void)stream_->NextWord();
}

mpc::RingMatrix NumbersOf(const RowLayout& layout, std::uint64_t capacity, int component,
                          std::span<const std::uint8_t> content) {
  Require(content.size() == ComponentBytes(layout, capacity, component), "NumbersOf: a whole component");
  return ComponentRows(layout, component, content).Next(capacity);
}

}  // namespace trefoil::deposit
