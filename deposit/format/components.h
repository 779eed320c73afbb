#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/secrets/random.h"
#include "data/dataset/table.h"
#include "deposit/format/row_layout.h"
#include "deposit/study.h"
#include "jobs/files/sealed_file.h"
#include "mpc/ring.h"

namespace trefoil::deposit {

/// Which of the three components of every number, x = x_0 + x_1 + x_2, has words; those of the other two come
/// from seeds. Party i holds components i and i + 1 (mod 3).
inline constexpr int kWordComponent = 2;

/// Bytes of a component: a seed, or `capacity` rows.
[[nodiscard]] std::size_t ComponentBytes(const RowLayout& layout, std::uint64_t capacity, int component);

/// Of what a party's body holds: for each of its two components a salt, then the component.
[[nodiscard]] std::size_t BodyBytes(const RowLayout& layout, std::uint64_t capacity, int party);

/// The most rows that a deposit may have: of its largest file no more than base/files/files.h lets one write.
[[nodiscard]] std::uint64_t LargestCapacity(const RowLayout& layout);

/// A component, with the salt of the commitment to it.
struct SaltedComponent {
  jobs::SecretBytes salt;  ///< 32 bytes
  jobs::SecretBytes content;
};

/// Components of `capacity` rows: the records of the table in slots drawn uniformly, rows of zeros in all
/// others. Of a study of batches these stand one below the other, the first step's first: each with each
/// record at its sampling rate, cut at random to its height, in slots drawn uniformly and anew (ml/records.h,
/// DrawRows and PlaceRows). Salts, seeds, what a batch has and slots come from `coins`. Pre: features as the
/// study's records have them (jobs/records/load_records.h, WithFeatures), a label a row, `capacity` rows at
/// most; of batches RowsOfBatches() is the capacity, and rows are its records at most. Throws DataError for a
/// feature that is not finite, or a class out of range.
/// Memory: that of component 2, one row at a time besides. `slots`, where it is asked for: of each row which
/// record it has, counted from 0, or ml::kPadding.
[[nodiscard]] std::array<SaltedComponent, 3> ShareRows(const jobs::RecordSchema& records,
                                                       const data::Table& table, std::uint64_t capacity,
                                                       RandomStream& coins,
                                                       std::vector<std::int64_t>* slots = nullptr);

/// SHA-256 of what the component is, of which deposit, and its salt (docs/reference/deposits.md,
/// "Commitments").
[[nodiscard]] Hash Commitment(const Hash& study, const Hash& nonce, int component,
                              std::span<const std::uint8_t> salt, std::span<const std::uint8_t> content);

/// Whether every feature of a component is below 2^feature_bits, as ShareRows has them. Pre: of
/// ComponentBytes bytes.
[[nodiscard]] bool IsInRange(const RowLayout& layout, int component, std::span<const std::uint8_t> content);

/// A component's numbers, from the first row on: a row of the deposit in a row, with features, mask bit,
/// label.
class ComponentRows {
 public:
  /// `content` must outlive this. Pre: as IsInRange.
  ComponentRows(const RowLayout& layout, int component, std::span<const std::uint8_t> content);
  /// The next rows, so many. Pre: they are there.
  [[nodiscard]] mpc::RingMatrix Next(std::uint64_t rows);
  void Skip(std::uint64_t rows);

 private:
  [[nodiscard]] std::span<const std::uint8_t> TakeWords(std::uint64_t rows);

  RowLayout layout_;
  std::span<const std::uint8_t> words_{};  ///< what is left of them
  std::optional<RandomStream> stream_{};   ///< of a component that comes from a seed
};

/// All rows of a component. Pre: as IsInRange.
[[nodiscard]] mpc::RingMatrix NumbersOf(const RowLayout& layout, std::uint64_t capacity, int component,
                                        std::span<const std::uint8_t> content);

}  // namespace trefoil::deposit
