#include "mpc/dcf/dcf.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/secrets/constant_time.h"
#include "mpc/dcf/dcf_kernels.h"
#include "mpc/dcf/dcf_paths.h"
#include "mpc/dcf/seed_hash.h"

namespace trefoil::mpc {
namespace {

constexpr Word kControlBits = 3;
/// Points evaluated at a time: enough for AES to run at its throughput, few enough to stay in the
/// second-level cache.
constexpr std::size_t kPointsAtOnce = 1024;

Block operator^(const Block& a, const Block& b) { return {.low = a.low ^ b.low, .high = a.high ^ b.high}; }

Block Seed(const Block& block) { return {.low = block.low & ~kControlBits, .high = block.high}; }

Block Select(Word mask, const Block& yes, const Block& no) {
  return {.low = trefoil::Select(mask, yes.low, no.low), .high = trefoil::Select(mask, yes.high, no.high)};
}

/// Minus the value if the bit is set.
Word SignedBy(Word bit, Word value) {
  const Word mask = MaskOf(bit);
  return (value ^ mask) - mask;
}

/// One party's state while keys are made: the seeds on the paths to the points, and their control bits.
struct PathState {
  std::vector<Block> seeds;
  std::vector<Word> control;
};

/// Both children of a batch of seeds, and the values that go with them (low word: left, high word: right).
struct Expansion {
  Expansion(const SeedHash& hash, std::size_t count)
      : left(count), right(count), values(count), hash_(hash), asked_(count) {}

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
    hash_.Hash(asked_, out);
  }

  const SeedHash& hash_;
  std::vector<Block> asked_;
};

std::vector<Block> Seeds(const std::vector<Block>& roots) {
  std::vector<Block> seeds(roots.size());
  std::transform(roots.begin(), roots.end(), seeds.begin(), Seed);
  return seeds;
}

/// What the generation of one level needs of key j, both parties' expansions at hand.
struct LevelInputs {
  Word right;  ///< all ones if the point's bit at this level is set: the right child is kept
  Word payload;
  std::array<Block, 2> keep;  ///< of each party, control bit included
  std::array<Block, 2> lose;
  std::array<Word, 2> keep_value;
  std::array<Word, 2> lose_value;
};

LevelInputs InputsOf(const std::array<Expansion, 2>& expansions, std::size_t key, Word right, Word payload) {
  LevelInputs in{
      .right = right, .payload = payload, .keep = {}, .lose = {}, .keep_value = {}, .lose_value = {}};
  for (std::size_t party = 0; party < 2; ++party) {
    const Expansion& e = expansions[party];
    in.keep[party] = Select(right, e.right[key], e.left[key]);
    in.lose[party] = Select(right, e.left[key], e.right[key]);
    in.keep_value[party] = trefoil::Select(right, e.values[key].high, e.values[key].low);
    in.lose_value[party] = trefoil::Select(right, e.values[key].low, e.values[key].high);
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
  const Word wanted = in.right & in.payload;
  const Word value = SignedBy(sign, in.lose_value[1] - in.lose_value[0] - sum + wanted);
  sum += in.keep_value[0] - in.keep_value[1] + SignedBy(sign, value);
  const Word control_keep = (in.keep[0].low ^ in.keep[1].low ^ 1) & 1;
  const Word control_lose = (in.lose[0].low ^ in.lose[1].low) & 1;
  for (std::size_t party = 0; party < 2; ++party) {
    const Word control = paths[party].control[key];
    const Block kept = Seed(in.keep[party]);
    paths[party].seeds[key] = {.low = kept.low ^ (MaskOf(control) & seed.low),
                               .high = kept.high ^ (MaskOf(control) & seed.high)};
    paths[party].control[key] = (in.keep[party].low ^ (control & control_keep)) & 1;
  }
  const Word left_control = trefoil::Select(in.right, control_lose, control_keep);
  const Word right_control = trefoil::Select(in.right, control_keep, control_lose);
  return {seed.low | left_control | (right_control << 1), seed.high, value};
}

/// Evaluates a batch's keys on the paths of a plan.
class PrefixWalk {
 public:
  PrefixWalk(const DcfCorrections& corrections, const DcfPathPlan& plan, const SeedHash& hash)
      : corrections_(corrections), plan_(plan), hash_(hash), slots_(plan.points().size()) {
    ids_.reserve(slots_.size());
    common_.reserve(slots_.size());
    keys_.reserve(slots_.size());
    states_.reserve(slots_.size());
    sums_.reserve(slots_.size());
  }

  void Evaluate(bool first, const std::vector<Block>& roots, RingMatrix& out) {
    for (const std::uint32_t path : plan_.Roots()) {
      Block state = Seed(roots[plan_.points()[path].key]);
      state.low |= first ? 0 : 1;
      AddPath(path, state, {});
    }
    const DcfSchedule births = plan_.Births();
    const DcfSchedule ends = plan_.Ends();
    const DcfSchedule deaths = plan_.Deaths();
    const DcfShape& shape = corrections_.shape;
    std::size_t output = 0;
    for (int level = 0; level < shape.levels(); ++level) {
      const int shift = shape.bits() - 1 - level;
      for (const std::uint32_t path : births.At(shift)) {
        const std::uint32_t parent = slots_[plan_.parent(path)];
        AddPath(path, states_[parent], sums_[parent]);
      }
      DcfDescend(hash_, &corrections_.levels(level * corrections_.keys, 0), shift,
                 {.states = states_.data(),
                  .sums = sums_.data(),
                  .points = common_.data(),
                  .keys = keys_.data(),
                  .count = states_.size()});
      if (shift != shape.unread()[output]) continue;
      Write(ends.At(shift), output++, first, out);
      for (const std::uint32_t path : deaths.At(shift)) RemovePath(path);
    }
  }

 private:
  void AddPath(std::uint32_t path, const Block& state, const Block& sum) {
    const DcfPathPlan::Point& point = plan_.points()[path];
    slots_[path] = static_cast<std::uint32_t>(ids_.size());
    ids_.push_back(path);
    common_.push_back({.low = point.value, .high = point.value});
    keys_.push_back(point.key);
    states_.push_back(state);
    sums_.push_back(sum);
  }

  /// The last path takes its place.
  void RemovePath(std::uint32_t path) {
    const std::uint32_t slot = slots_[path];
    slots_[ids_.back()] = slot;
    const auto move_last = [slot](auto& of_paths) {
      of_paths[slot] = of_paths.back();
      of_paths.pop_back();
    };
    move_last(ids_);
    move_last(common_);
    move_last(keys_);
    move_last(states_);
    move_last(sums_);
  }

  /// The results of points that end at a level: output number `output`.
  void Write(std::span<const std::uint32_t> points, std::size_t output, bool first, RingMatrix& out) {
    HashOutputs(points, output);
    for (std::size_t n = 0; n < points.size(); ++n) {
      const DcfPathPlan::Point& point = plan_.points()[points[n]];
      const std::uint32_t slot = slots_[plan_.holder(points[n])];
      const auto row = static_cast<Index>(output) * corrections_.keys + point.key;
      const Word total =
          sums_[slot].low + outputs_[n].high + (MaskOf(states_[slot].low) & corrections_.last(row, 0));
      out(point.row, point.key) = first ? total : Word{0} - total;
    }
  }

  /// The last level's output is its state, which nothing else comes from.
  void HashOutputs(std::span<const std::uint32_t> points, std::size_t output) {
    outputs_.resize(points.size());
    const auto state = [&](std::size_t n) { return states_[slots_[plan_.holder(points[n])]]; };
    if (output + 1 == corrections_.shape.unread().size()) {
      for (std::size_t n = 0; n < points.size(); ++n) outputs_[n] = state(n);
      return;
    }
    asked_.resize(points.size());
    for (std::size_t n = 0; n < points.size(); ++n)
      asked_[n] = {.low = (state(n).low & ~kControlBits) | kDcfOutput, .high = state(n).high};
    hash_.Hash(asked_, outputs_);
  }

  const DcfCorrections& corrections_;
  const DcfPathPlan& plan_;
  const SeedHash& hash_;
  std::vector<std::uint32_t> slots_;  ///< where a path is among the living:
  std::vector<std::uint32_t> ids_;
  std::vector<Block> common_;  ///< its first point, twice
  std::vector<std::uint32_t> keys_;
  std::vector<Block> states_;
  std::vector<Block> sums_;
  std::vector<Block> asked_;
  std::vector<Block> outputs_;
};

/// How far the sum of both parties' values on the way to the point is from 0, for each key: their outputs are
/// corrected by it.
class OutputCorrections {
 public:
  OutputCorrections(const SeedHash& hash, std::size_t keys)
      : hash_(hash), asked_(keys), hashed_{std::vector<Block>(keys), {}} {
    hashed_[1].resize(keys);
  }

  /// Of a level that is not the last: `column` is what its part of the corrections begins with.
  void OfHash(const std::array<PathState, 2>& paths, const std::vector<Word>& sums, Word* column) {
    for (std::size_t party = 0; party < 2; ++party) {
      for (std::size_t key = 0; key < asked_.size(); ++key) {
        const Block& seed = paths[party].seeds[key];
        asked_[key] = {.low = seed.low | kDcfOutput, .high = seed.high};
      }
      hash_.Hash(asked_, hashed_[party]);
    }
    Write(hashed_[0], hashed_[1], paths[1].control, sums, column);
  }

  static void OfState(const std::array<PathState, 2>& paths, const std::vector<Word>& sums, Word* column) {
    Write(paths[0].seeds, paths[1].seeds, paths[1].control, sums, column);
  }

 private:
  static void Write(const std::vector<Block>& first, const std::vector<Block>& second,
                    const std::vector<Word>& control, const std::vector<Word>& sums, Word* column) {
    for (std::size_t key = 0; key < sums.size(); ++key)
      column[key] = SignedBy(control[key], second[key].high - first[key].high - sums[key]);
  }

  const SeedHash& hash_;
  std::vector<Block> asked_;
  std::array<std::vector<Block>, 2> hashed_;
};

}  // namespace

DcfShape::DcfShape(int bits, std::vector<int> unread) : bits_(bits), unread_(std::move(unread)) {
  Require(bits_ >= 1 && bits_ <= 64, "DcfShape: 1 to 64 bits");
  Require(!unread_.empty() && unread_.front() < bits_ && unread_.back() >= 0 &&
              std::adjacent_find(unread_.begin(), unread_.end(), std::less_equal()) == unread_.end(),
          "DcfShape: descending numbers of unread bits, of those that there are");
}

Index DcfWords(const DcfShape& shape, Index keys) { return (3 * shape.levels() + shape.outputs()) * keys; }

DcfCorrections DcfGenerate(const DcfShape& shape, const HashKey& hash_key, const RingMatrix& points,
                           const RingMatrix& payloads, const std::vector<Block>& roots_first,
                           const std::vector<Block>& roots_second) {
  const auto keys = static_cast<std::size_t>(points.size());
  Require(static_cast<std::size_t>(payloads.size()) == keys && roots_first.size() == keys &&
              roots_second.size() == keys,
          "DcfGenerate: one payload and two roots a point");
  DcfCorrections out{.shape = shape,
                     .hash_key = hash_key,
                     .keys = points.size(),
                     .levels = RingMatrix(shape.levels() * points.size(), 3),
                     .last = RingMatrix(shape.outputs() * points.size(), 1)};
  std::array<PathState, 2> paths{PathState{Seeds(roots_first), std::vector<Word>(keys, 0)},
                                 PathState{Seeds(roots_second), std::vector<Word>(keys, 1)}};
  const SeedHash hash(hash_key);
  std::array<Expansion, 2> expansions{Expansion(hash, keys), Expansion(hash, keys)};
  std::vector<Word> sums(keys, 0);
  OutputCorrections corrections(hash, keys);
  std::size_t output = 0;
  for (int level = 0; level < shape.levels(); ++level) {
    const int shift = shape.bits() - 1 - level;
    for (std::size_t party = 0; party < 2; ++party) expansions[party].Of(paths[party].seeds);
    for (std::size_t key = 0; key < keys; ++key) {
      const Word right = MaskOf(points.data()[key] >> shift);
      const auto words =
          CorrectLevel(InputsOf(expansions, key, right, payloads.data()[key]), key, sums[key], paths);
      const auto row = static_cast<Index>(static_cast<std::size_t>(level) * keys + key);
      for (Index word = 0; word < 3; ++word) out.levels(row, word) = words[static_cast<std::size_t>(word)];
    }
    if (shift != shape.unread()[output]) continue;
    Word* const column = out.last.data() + output++ * keys;
    if (output < shape.unread().size()) {
      corrections.OfHash(paths, sums, column);
    } else {
      OutputCorrections::OfState(paths, sums, column);
    }
  }
  return out;
}

RingMatrix DcfEvaluate(ThreadPool& pool, bool first, const DcfCorrections& corrections,
                       const std::vector<Block>& roots, const RingMatrix& inputs,
                       const std::vector<int>& unread) {
  Require(inputs.cols() == corrections.keys && roots.size() == static_cast<std::size_t>(corrections.keys),
          "DcfEvaluate: one column a key");
  const std::vector<int>& offered = corrections.shape.unread();
  const auto rows = static_cast<std::size_t>(inputs.rows());
  const std::vector<int> of_rows = unread.empty() ? std::vector<int>(rows, offered.back()) : unread;
  Require(of_rows.size() == rows &&
              std::all_of(
                  of_rows.begin(), of_rows.end(),
                  [&](int bits) { return std::find(offered.begin(), offered.end(), bits) != offered.end(); }),
          "DcfEvaluate: for each row a number of unread bits that the keys were made for");
  RingMatrix out(inputs.rows(), inputs.cols());
  if (rows == 0) return out;
  const SeedHash hash(corrections.hash_key);
  const std::size_t keys_at_once = std::max<std::size_t>(1, kPointsAtOnce / rows);
  pool.ParallelFor(roots.size(), keys_at_once, [&](std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end; at += keys_at_once) {
      const DcfPathPlan plan(inputs, of_rows, offered, at, std::min(at + keys_at_once, end));
      PrefixWalk(corrections, plan, hash).Evaluate(first, roots, out);
    }
  });
  return out;
}

}  // namespace trefoil::mpc
