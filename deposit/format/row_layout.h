#pragma once
#include <cstddef>
#include <cstdint>

#include "jobs/records/schema.h"

namespace trefoil::deposit {

/// How a row of a study's records lies in a deposit: features modulo 2^feature_bits, at the study's fraction
/// bits; then, as words modulo 2^64 and unscaled, its mask bit (1: a record, 0: padding) and its label: with
/// two classes 0 or 1, with more a 1 among zeros, a target in steps of 2^-24 of its range.
struct RowLayout {
  std::int64_t features = 0;  ///< p
  int feature_bits = 0;       ///< b
  int label_words = 0;        ///< c

  /// As many as hold a feature, the least significant first.
  [[nodiscard]] std::size_t feature_bytes() const { return (static_cast<std::size_t>(feature_bits) + 7) / 8; }
  /// Numbers of a row.
  [[nodiscard]] std::size_t numbers() const {
    return static_cast<std::size_t>(features) + 1 + static_cast<std::size_t>(label_words);
  }
  [[nodiscard]] std::size_t row_bytes() const {
    return static_cast<std::size_t>(features) * feature_bytes() +
           sizeof(std::uint64_t) * (1 + static_cast<std::size_t>(label_words));
  }
};

/// The layout of a study's rows. b is the least with R 2^f < 2^(b - 2), for rows of norm R and f fraction
/// bits. Throws ConfigError unless (p + 1) 2^(2b + 2) < 2^63: then whatever numbers modulo 2^b an owner hands
/// in, once they are lifted to below 2^(b + 1), squared norms of rows cannot wrap
/// (docs/explanation/deposits.md, "The modulus").
[[nodiscard]] RowLayout LayoutOf(const jobs::RecordSchema& records);

}  // namespace trefoil::deposit
