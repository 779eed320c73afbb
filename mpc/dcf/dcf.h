#pragma once
#include <cstdint>
#include <vector>

#include "base/threads/thread_pool.h"
#include "mpc/dcf/seed_hash.h"
#include "mpc/ring.h"

namespace trefoil::mpc {

/// On what inputs a batch of comparison functions is asked, and how exactly.
class DcfShape {
 public:
  /// `bits` of an input, 1 to 64; `unread`: numbers of its low bits that an evaluation may leave unread,
  /// descending, from below `bits` to 0 or more. With u of them f(x) becomes payload if floor(x / 2^u) <
  /// floor(point / 2^u), else 0. Throws: ContractError on other numbers.
  explicit DcfShape(int bits, std::vector<int> unread = std::vector<int>(1));
  /// Of one bit.
  DcfShape() : DcfShape(1) {}

  [[nodiscard]] int bits() const { return bits_; }
  [[nodiscard]] const std::vector<int>& unread() const { return unread_; }
  /// Levels of a key: down to the last bit that anybody reads.
  [[nodiscard]] int levels() const { return bits_ - unread_.back(); }
  [[nodiscard]] Index outputs() const { return static_cast<Index>(unread_.size()); }

 private:
  int bits_;
  std::vector<int> unread_;
};

/// A batch of distributed comparison functions: key j is for f(x) = payload_j if x < point_j, else 0, with
/// outputs in Z_2^64 shared between two parties. What is public to both of them:
struct DcfCorrections {
  DcfShape shape;
  HashKey hash_key{};  ///< under which both expand seeds; both know it before, so that it is not sent
  Index keys = 0;
  RingMatrix levels;  ///< levels * keys rows of 3 words: seed correction (low word's bits 0, 1: control
                      ///< bits), high word, value
  RingMatrix last;    ///< keys rows of 1 word for each number of bits left unread, in their order
};

/// Words of all corrections of a batch: 3 a level and 1 for each number of bits left unread, a key.
[[nodiscard]] Index DcfWords(const DcfShape& shape, Index keys);

/// Makes the keys of a batch from both parties' root seeds (uniform; their two lowest bits are ignored), in a
/// time, and with accesses to memory, that do not depend on points, payloads or roots.
/// Pre:    points below 2^bits; all lists of one length; `hash_key` is of no other batch (mpc/prss.h).
/// Source: Boyle et al., EUROCRYPT 2021 (eprint 2020/1392), figure 1; a result above the last level as in the
///         incremental functions of Boneh et al., IEEE S&P 2021 (eprint 2021/017), section 4: the level's own
///         output, of a hash that no child and no value comes from, and a correction of it. The generator is
///         AES-128 under the batch's public key in the Matyas-Meyer-Oseas mode (mpc/dcf/seed_hash.h) on
///         126-bit seeds: the two low bits tell left child, right child, values and output apart. What is
///         lost with the number of keys: docs/reference/protocols.md, "Many thresholds from one key".
[[nodiscard]] DcfCorrections DcfGenerate(const DcfShape& shape, const HashKey& hash_key,
                                         const RingMatrix& points, const RingMatrix& payloads,
                                         const std::vector<Block>& roots_first,
                                         const std::vector<Block>& roots_second);

/// Party `first` or second's share of f_j(x) for every row of `inputs` (row k: a point for each key, column
/// j: key j), with the low `unread`[k] bits of row k left unread (empty: the shape's last number for all).
/// The two parties' results add up to the payload or zero. Pre: inputs below 2^bits, one column a key; a
/// number for each row, of the shape's. Cost: 2 AES blocks a bit that is read and prefix: points of one key
/// with common leading bits share their work; fastest where the rows are differences to ascending thresholds.
[[nodiscard]] RingMatrix DcfEvaluate(ThreadPool& pool, bool first, const DcfCorrections& corrections,
                                     const std::vector<Block>& roots, const RingMatrix& inputs,
                                     const std::vector<int>& unread = {});

}  // namespace trefoil::mpc
