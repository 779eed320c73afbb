#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/threads/thread_pool.h"
#include "data/dataset/table.h"

namespace trefoil::data {

/// Lengths of n-grams, from `least` to `most`; there are none where `most` is 0.
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
  bool binary = false;    ///< an n-gram counts once a record, however often it occurs
};

/// Throws ConfigError "features.KEY: found X, expected Y" unless the dimension is within 1 ... 10^6, each
/// range is empty or ascends within 1 ... 16, and at least one of them is not empty.
void ValidateHashText(const HashTextSpec& spec);

/// Counts of n-grams, hashed to `dimension` columns: an n-gram adds +1 or -1 to one column each time that it
/// occurs (binary: the first time), so that n-grams that meet in one column cancel on average (signed feature
/// hashing). One row a record; texts[i][c] is field c of record i, and an n-gram that two fields have is two
/// n-grams. Words are runs of ASCII letters and digits and of characters beyond ASCII; an n-gram of words is
/// joined by blanks. For n-grams of characters (code points of UTF-8; an invalid byte counts as one) a blank
/// is put before and behind the text, and each run of white space is one blank. The hash of an n-gram is
/// SipHash-2-4 of 'w' or 'c', the field's number (4 bytes, little-endian) and the n-gram, under the public
/// key "trefoil-features", as a little-endian number h: column (h / 2) mod dimension, minus where h is odd.
/// Source: K. Weinberger et al.: Feature hashing for large scale multitask learning, ICML 2009, section 2.
/// Throws as ValidateHashText().
[[nodiscard]] Matrix HashText(const std::vector<std::vector<std::string>>& texts, const HashTextSpec& spec,
                              ThreadPool& pool);

}  // namespace trefoil::data
