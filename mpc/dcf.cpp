#include "mpc/dcf.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <utility>

#include "base/error.h"
#include "mpc/dcf_kernels.h"
#include "mpc/fixed_key_aes.h"

namespace trefoil::mpc {
namespace {

constexpr Word kControlBits = 3;
/// Points evaluated at a time: enough for AES to run at its throughput, few enough to stay in the
/// second-level cache.
constexpr std::size_t kPointsAtOnce = 1024;

Block operator^(const Block& a, const Block& b) { return {.low = a.low ^ b.low, .high = a.high ^ b.high}; }

Block Seed(const Block& block) { return {.low = block.low & ~kControlBits, .high = block.high}; }

/// All ones if the bit is set.
Word Mask(Word bit) { return Word{0} - (bit & 1); }

Word SignedBy(Word bit, Word value) { return (bit & 1) != 0 ? Word{0} - value : value; }

/// One party's state while keys are made: the seeds on the paths to the points, and their control bits.
struct PathState {
  std::vector<Block> seeds;
  std::vector<Word> control;
};

/// Both children of a batch of seeds, and the values that go with them (low word: left, high word: right).
struct Expansion {
  explicit Expansion(std::size_t count) : left(count), right(count), values(count), asked_(count) {}

  void Of(const std::vector<Block>& seeds) {
    Ask(seeds, 0, left);
    Ask(seeds, 1, right);
    Ask(seeds, kDcfValues, values);
  }

  std::vector<Block> left;
  std::vector<Block> right;
  std::vector<Block> values;

 private:
  void Ask(const std::vector<Block>& seeds, Word what, std::vector<Block>& out) {
    for (std::size_t k = 0; k < seeds.size(); ++k)
      asked_[k] = {.low = seeds[k].low | what, .high = seeds[k].high};
    FixedKeyHash(asked_, out);
  }

  std::vector<Block> asked_;
};

std::vector<Block> Seeds(const std::vector<Block>& roots) {
  std::vector<Block> seeds(roots.size());
  std::transform(roots.begin(), roots.end(), seeds.begin(), Seed);
  return seeds;
}

/// What the generation of one level needs of key j, both parties' expansions at hand.
struct LevelInputs {
  bool right;  ///< the point's bit at this level: which child is kept
  Word payload;
  std::array<Block, 2> keep;  ///< of each party, control bit included
  std::array<Block, 2> lose;
  std::array<Word, 2> keep_value;
  std::array<Word, 2> lose_value;
};

LevelInputs InputsOf(const std::array<Expansion, 2>& expansions, std::size_t key, bool right, Word payload) {
  LevelInputs in{
      .right = right, .payload = payload, .keep = {}, .lose = {}, .keep_value = {}, .lose_value = {}};
  for (std::size_t party = 0; party < 2; ++party) {
    const Expansion& e = expansions[party];
    in.keep[party] = right ? e.right[key] : e.left[key];
    in.lose[party] = right ? e.left[key] : e.right[key];
    in.keep_value[party] = right ? e.values[key].high : e.values[key].low;
    in.lose_value[party] = right ? e.values[key].low : e.values[key].high;
  }
  return in;
}

/// The correction word of one level of one key; `sum` (V_alpha in the source) and the paths are moved one
/// level down.
std::array<Word, 3> CorrectLevel(const LevelInputs& in, std::size_t key, Word& sum,
                                 std::array<PathState, 2>& paths) {
  const Block seed = Seed(in.lose[0]) ^ Seed(in.lose[1]);
  const Word sign = paths[1].control[key];
  // The value corrects the subtree that is left: beta if it lies below the point, that is, left of the kept
  // one.
  const Word wanted = in.right ? in.payload : 0;
  const Word value = SignedBy(sign, in.lose_value[1] - in.lose_value[0] - sum + wanted);
  sum += in.keep_value[0] - in.keep_value[1] + SignedBy(sign, value);
  const Word control_keep = (in.keep[0].low ^ in.keep[1].low ^ 1) & 1;
  const Word control_lose = (in.lose[0].low ^ in.lose[1].low) & 1;
  for (std::size_t party = 0; party < 2; ++party) {
    const Word control = paths[party].control[key];
    const Block kept = Seed(in.keep[party]);
    paths[party].seeds[key] = {.low = kept.low ^ (Mask(control) & seed.low),
                               .high = kept.high ^ (Mask(control) & seed.high)};
    paths[party].control[key] = (in.keep[party].low ^ (control & control_keep)) & 1;
  }
  const Word left_control = in.right ? control_lose : control_keep;
  const Word right_control = in.right ? control_keep : control_lose;
  return {seed.low | left_control | (right_control << 1), seed.high, value};
}

/// Evaluates a batch's keys [begin, end). A key's points that begin with the same bits share one path until
/// they part: points of one key are differences to nearby thresholds.
class PrefixWalk {
 public:
  PrefixWalk(const DcfCorrections& corrections, const std::vector<Block>& roots, const RingMatrix& inputs,
             std::size_t begin, std::size_t end)
      : corrections_(corrections) {
    const auto rows = static_cast<std::size_t>(inputs.rows());
    const auto keys = static_cast<std::size_t>(corrections.keys);
    points_.reserve(rows * (end - begin));
    for (std::size_t key = begin; key < end; ++key) {
      const std::size_t from = points_.size();
      for (std::size_t at = key; at < rows * keys; at += keys) points_.push_back({inputs.data()[at], at});
      std::sort(points_.begin() + static_cast<std::ptrdiff_t>(from), points_.end(),
                [](const Point& a, const Point& b) { return a.value < b.value; });
      AddPath(static_cast<std::uint32_t>(key), {.begin = from, .end = points_.size()}, Seed(roots[key]));
    }
  }

  void Evaluate(bool first, RingMatrix& out) {
    for (Block& state : states_) state.low |= first ? 0 : 1;
    sums_.resize(states_.size());
    for (int level = 0; level < corrections_.bits; ++level) {
      const int shift = corrections_.bits - 1 - level;
      for (const std::size_t path : parting_[static_cast<std::size_t>(shift)]) Part(path, shift);
      DcfDescend(&corrections_.levels(level * corrections_.keys, 0), shift,
                 {.states = states_.data(),
                  .sums = sums_.data(),
                  .points = common_.data(),
                  .keys = keys_.data(),
                  .count = states_.size()});
    }
    for (std::size_t k = 0; k < states_.size(); ++k) {
      const Word last = corrections_.last(keys_[k], 0);
      const Word total = sums_[k].low + states_[k].high + (Mask(states_[k].low) & last);
      for (std::size_t at = ranges_[k].begin; at < ranges_[k].end; ++at)
        out.data()[points_[at].at] = first ? total : Word{0} - total;
    }
  }

 private:
  struct Point {
    Word value;
    std::size_t at;  ///< where its result goes
  };
  /// The points [begin, end), one key's in increasing order: their bits are the same so far.
  struct Range {
    std::size_t begin;
    std::size_t end;
  };

  void AddPath(std::uint32_t key, const Range& range, const Block& state) {
    PartLater(ranges_.size(), range);
    ranges_.push_back(range);
    const Word point = points_[range.begin].value;
    common_.push_back({.low = point, .high = point});
    keys_.push_back(key);
    states_.push_back(state);
  }

  void PartLater(std::size_t path, const Range& range) {
    const Word differing = points_[range.begin].value ^ points_[range.end - 1].value;
    if (differing != 0) parting_[static_cast<std::size_t>(std::bit_width(differing) - 1)].push_back(path);
  }

  /// Moves the points that have a one here to a path of their own.
  void Part(std::size_t path, int shift) {
    Range& range = ranges_[path];
    const auto begin = points_.begin();
    const auto middle = std::partition_point(
        begin + static_cast<std::ptrdiff_t>(range.begin), begin + static_cast<std::ptrdiff_t>(range.end),
        [shift](const Point& point) { return ((point.value >> shift) & 1) == 0; });
    const auto parted = static_cast<std::size_t>(middle - begin);
    const Range ones{.begin = parted, .end = range.end};
    range.end = parted;
    PartLater(path, range);
    sums_.push_back(sums_[path]);
    AddPath(keys_[path], ones, states_[path]);
  }

  const DcfCorrections& corrections_;
  std::vector<Point> points_;
  std::array<std::vector<std::size_t>, 64> parting_;  ///< the paths whose points part at each bit
  // Of each path:
  std::vector<Range> ranges_;
  std::vector<Block> common_;  ///< one of its points, twice
  std::vector<std::uint32_t> keys_;
  std::vector<Block> states_;
  std::vector<Block> sums_;
};

}  // namespace

Index DcfWords(int bits, Index keys) { return (3 * bits + 1) * keys; }

DcfCorrections DcfGenerate(int bits, const RingMatrix& points, const RingMatrix& payloads,
                           const std::vector<Block>& roots_first, const std::vector<Block>& roots_second) {
  Require(bits >= 1 && bits <= 64, "DcfGenerate: 1 to 64 bits");
  const auto keys = static_cast<std::size_t>(points.size());
  Require(static_cast<std::size_t>(payloads.size()) == keys && roots_first.size() == keys &&
              roots_second.size() == keys,
          "DcfGenerate: one payload and two roots a point");
  DcfCorrections out{.bits = bits,
                     .keys = points.size(),
                     .levels = RingMatrix(bits * points.size(), 3),
                     .last = RingMatrix(points.size(), 1)};
  std::array<PathState, 2> paths{PathState{Seeds(roots_first), std::vector<Word>(keys, 0)},
                                 PathState{Seeds(roots_second), std::vector<Word>(keys, 1)}};
  std::array<Expansion, 2> expansions{Expansion(keys), Expansion(keys)};
  std::vector<Word> sums(keys, 0);
  for (int level = 0; level < bits; ++level) {
    for (std::size_t party = 0; party < 2; ++party) expansions[party].Of(paths[party].seeds);
    for (std::size_t key = 0; key < keys; ++key) {
      const bool right = ((points.data()[key] >> (bits - 1 - level)) & 1) != 0;
      const auto words =
          CorrectLevel(InputsOf(expansions, key, right, payloads.data()[key]), key, sums[key], paths);
      const auto row = static_cast<Index>(static_cast<std::size_t>(level) * keys + key);
      for (Index word = 0; word < 3; ++word) out.levels(row, word) = words[static_cast<std::size_t>(word)];
    }
  }
  for (std::size_t key = 0; key < keys; ++key) {
    const Word difference = paths[1].seeds[key].high - paths[0].seeds[key].high - sums[key];
    out.last(static_cast<Index>(key), 0) = SignedBy(paths[1].control[key], difference);
  }
  return out;
}

RingMatrix DcfEvaluate(ThreadPool& pool, bool first, const DcfCorrections& corrections,
                       const std::vector<Block>& roots, const RingMatrix& inputs) {
  Require(inputs.cols() == corrections.keys && roots.size() == static_cast<std::size_t>(corrections.keys),
          "DcfEvaluate: one column a key");
  RingMatrix out(inputs.rows(), inputs.cols());
  const std::size_t rows = std::max<std::size_t>(1, static_cast<std::size_t>(inputs.rows()));
  const std::size_t keys_at_once = std::max<std::size_t>(1, kPointsAtOnce / rows);
  pool.ParallelFor(roots.size(), keys_at_once, [&](std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end; at += keys_at_once) {
      PrefixWalk(corrections, roots, inputs, at, std::min(at + keys_at_once, end)).Evaluate(first, out);
    }
  });
  return out;
}

}  // namespace trefoil::mpc
