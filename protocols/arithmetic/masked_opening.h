#pragma once
#include <functional>

#include "mpc/context.h"
#include "mpc/cost.h"
#include "mpc/share.h"

namespace trefoil::protocols {

/// One use of the masked opening with a dealer, the pattern behind truncation, bit conversion and
/// trigonometric series (docs/reference/protocols.md, "Masked opening"): dealer D knows a uniform mask r and
/// deals shares of what depends on r alone; A and B open c = x + r to each other only; the result is a 2-of-2
/// sharing between A and B, linear in what was dealt with coefficients that both know, and is re-shared to
/// all three. D never sees c, A and B never see r.
///
/// An object is one operation: it draws each of its streams once, and opens one value. Every step that draws,
/// sends or receives is taken at most once, in one of its forms; a second time it throws ContractError at all
/// three parties, before it does anything. Every party makes the same calls; where a role has no part in a
/// step, it returns an empty matrix and sends nothing.
class MaskedOpening {
 public:
  /// Takes the next roles and operation numbers.
  explicit MaskedOpening(mpc::Context& party);
  /// What was moved from takes no step any more.
  MaskedOpening(MaskedOpening&& other) noexcept;
  MaskedOpening(const MaskedOpening&) = delete;
  MaskedOpening& operator=(const MaskedOpening&) = delete;
  MaskedOpening& operator=(MaskedOpening&&) = delete;
  ~MaskedOpening() = default;
  /// A follow-up with the same roles (no turn taken) and fresh randomness.
  [[nodiscard]] static MaskedOpening WithRolesOf(const MaskedOpening& other);

  [[nodiscard]] bool dealer() const { return party_.self() == roles_.dealer; }
  [[nodiscard]] bool first() const { return party_.self() == roles_.a; }  ///< whether this party is A
  [[nodiscard]] const mpc::Roles& roles() const { return roles_; }
  [[nodiscard]] ThreadPool& pool() { return party_.pool(); }

  /// Draws the mask r = r_A + r_B: A and B get their half. D gets nothing: it draws r where it deals. Only
  /// the low `bits` of r matter where the opening is modulo 2^bits.
  [[nodiscard]] mpc::RingMatrix DrawMask(mpc::Index rows, mpc::Index cols);
  [[nodiscard]] mpc::BitMatrix DrawBitMask(mpc::Index planes, mpc::Index count);
  /// The same r once more, all of it, for what D deals online. Pre: at D.
  [[nodiscard]] mpc::BitMatrix DrawDealersBitMask(mpc::Index planes, mpc::Index count);

  /// What D deals, from its masks alone: it may be made before the operation, elsewhere, so that it must hold
  /// what it needs by value.
  using Dealing = std::function<mpc::RingMatrix(const mpc::Dealer&)>;

  /// D's `values` become a 2-of-2 sharing: A's part from the PRG it shares with D, B's part sent by D.
  /// Modulo 2^width: of a part only the low `width` bits matter.
  /// Offline: width / 8 bytes an element from D.
  [[nodiscard]] mpc::RingMatrix Deal(mpc::Index rows, mpc::Index cols, const Dealing& values, int width = 64);
  /// The same modulo 2^32, for what no more than 32 bits are opened of. Offline: 4 bytes an element from D.
  /// The same step as Deal.
  using DealingHalves = std::function<mpc::HalfMatrix(const mpc::Dealer&)>;
  [[nodiscard]] mpc::HalfMatrix DealHalves(mpc::Index rows, mpc::Index cols, const DealingHalves& values);
  /// The same for a quantity that depends on D's shares of x, so that it counts as online; of A's and B's
  /// values only the shape is used.
  [[nodiscard]] mpc::RingMatrix DealOnline(const mpc::RingMatrix& values, mpc::Index rows, mpc::Index cols);

  /// A 2-of-2 sharing, and words that A and B both get as they are (one column).
  struct SharedAndSame {
    mpc::RingMatrix shared;
    mpc::RingMatrix same;
  };
  using DealingBoth = std::function<SharedAndSame(const mpc::Dealer&)>;

  /// Both at once: what D shares, `rows` x `cols`, modulo 2^width, and `words` words. Offline: width / 8 bytes
  /// an element and 16 a word from D. The same step as Deal.
  [[nodiscard]] SharedAndSame DealBoth(mpc::Index rows, mpc::Index cols, mpc::Index words,
                                       const DealingBoth& values, int width = 64);
  /// A's or B's own private root seeds, known to it and D: count rows of two words, from the PRG.
  [[nodiscard]] mpc::RingMatrix DrawRoots(mpc::Index count);

  /// The public key of this operation's hash, the same at A, B and D.
  [[nodiscard]] mpc::HashKey HashKey() const { return party_.HashKeyOf(operation_); }

  /// A party's part of a masked value between BeginOpen and FinishOpen.
  struct Part {
    mpc::RingMatrix words;
    int bits = 64;
    bool from_dealer = false;  ///< D has a part of its own
  };

  /// Opens x + offset + r to A and B: they send their parts here and receive in FinishOpen. Between the two
  /// comes what is dealt, so that an opening does not wait for the dealer before it sends. `mask` is what
  /// DrawMask returned. Online: bits / 8 bytes an element from A and from B, packed to the bit over the whole
  /// matrix.
  [[nodiscard]] Part BeginOpen(const mpc::ArithShare& x, mpc::Word offset, const mpc::RingMatrix& mask,
                               int bits = 64);
  /// The same for a 3-of-3 sharing, of which D sends its part to both. Online: as above from A and B, twice
  /// that from D.
  [[nodiscard]] Part BeginOpen(const mpc::AdditiveShare& x, mpc::Word offset, const mpc::RingMatrix& mask,
                               int bits = 64);
  /// The same for floor(x / 2^dropped), or one or two less where the parts' low bits carry, modulo 2^(64 -
  /// dropped): each part loses its low bits before it is masked. Pre: 0 <= dropped, bits + dropped <= 64.
  [[nodiscard]] Part BeginOpenQuotient(const mpc::AdditiveShare& x, int dropped, const mpc::RingMatrix& mask,
                                       int bits);
  /// The same for a value that A and B share 2-of-2; D needs no part in it.
  [[nodiscard]] Part BeginOpenPair(const mpc::RingMatrix& half, mpc::Word offset, const mpc::RingMatrix& mask,
                                   int bits = 64);
  /// What A and B have opened; of each word only the low `bits` are meaningful. D sends its part here.
  [[nodiscard]] mpc::RingMatrix FinishOpen(Part part);

  /// The same for bits: b ^ r, of which A and B send their half here. Online: one bit a bit from A and from
  /// B.
  [[nodiscard]] mpc::BitMatrix BeginOpen(const mpc::BoolShare& b, const mpc::BitMatrix& mask);
  /// A and B get b ^ r from what BeginOpen returned.
  [[nodiscard]] mpc::BitMatrix FinishOpen(const mpc::BitMatrix& half);

  /// From 2-of-2 between A and B to replicated, both modulo 2^width: the result's components are below it.
  /// Online: width / 8 bytes an element from A and from B.
  [[nodiscard]] mpc::ArithShare Reshare(mpc::RingMatrix half, mpc::Index rows, mpc::Index cols,
                                        int width = 64);

 private:
  /// What is done once: another time would draw a stream again, or open a second value under the same mask.
  enum class Step : unsigned {
    kMask = 1,
    kDealersMask = 2,
    kDeal = 4,
    kDealOnline = 8,
    kRoots = 16,
    kOpen = 32,
    kFinish = 64,
    kReshare = 128
  };

  MaskedOpening(mpc::Context& party, mpc::Roles roles);

  /// Throws: ContractError if the step has been taken.
  void Take(Step step);

  /// A's or B's part, sent to the other.
  Part SentPart(mpc::RingMatrix words, int bits, bool from_dealer);
  void SendLow(int peer, const mpc::RingMatrix& words, int bits);
  void AddReceivedLow(int peer, int bits, mpc::RingMatrix& sum);
  [[nodiscard]] int other() const { return first() ? roles_.b : roles_.a; }
  /// The component that A or B shares with the dealer.
  [[nodiscard]] int ComponentWithDealer(int role) const {
    return role == roles_.a ? roles_.a : roles_.dealer;
  }

  mpc::Context& party_;
  mpc::Roles roles_;
  mpc::OperationId operation_;
  unsigned taken_ = 0;  ///< steps
};

/// A and B (P0 and P1 before any turn) send each other `bytes`.
[[nodiscard]] mpc::Cost PairExchangeCost(std::uint64_t bytes);
/// The same, and D sends as many to both: the opening of a 3-of-3 sharing.
[[nodiscard]] mpc::Cost OpeningOfSumCost(std::uint64_t bytes);

}  // namespace trefoil::protocols
