#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "data/dataset/table.h"

namespace trefoil::data {

/// Lengths of n-grams, from `least` to `most`; none where `most` is 0.
struct NgramRange {
  int least = 0;
  int most = 0;
};

/// Parameters of hashed n-grams.
struct HashTextSpec {
  std::int64_t dimension = 4096;
  NgramRange characters{3, 5};
  NgramRange words{1, 2};
  bool fold_case = true;  ///< A to Z count as a to z; other letters are left as they are
};

/// Throws ConfigError "features.KEY: found X, expected Y" unless the dimension is 1 ... 10^6, both ranges are
/// none or within 1 ... 16 in order, and one of them is not none.
void ValidateHashText(const HashTextSpec& spec);

/// Counts of n-grams, hashed to `dimension` columns: an n-gram adds +1 or -1 to one column, so that those
/// that meet in one cancel on average (signed feature hashing). One row a record; texts[i][c] is field c of
/// record i, and the same n-gram in two fields counts apart. Words are runs of ASCII letters and digits and
/// of characters beyond ASCII; an n-gram of words is joined by blanks. For characters (code points of UTF-8;
/// a byte that is none counts as one) a text begins and ends with a blank, and white space is one blank. The
/// hash of an n-gram is SipHash-2-4 of 'w' or 'c', the field's number (4 bytes, little-endian) and the
/// n-gram, under the public key "trefoil-features", as a little-endian number h: column (h / 2) mod
/// dimension, minus where h is odd. Source: K. Weinberger et al.: Feature hashing for large scale multitask
/// learning, ICML 2009, section 2. Throws as ValidateHashText().
[[nodiscard]] Matrix HashText(const std::vector<std::vector<std::string>>& texts, const HashTextSpec& spec,
                              ThreadPool& pool);

}  // namespace trefoil::data
