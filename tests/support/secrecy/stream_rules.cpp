#include "tests/support/secrecy/stream_rules.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

namespace trefoil::testing_support {
namespace {

using mpc::OperationId;
using mpc::Purpose;
using Components = std::set<int>;

/// How often, and how long, each party drew a stream.
struct Drawn {
  std::array<int, net::kParties> times{};
  std::set<std::uint64_t> lengths;
};

/// Component -> who drew, for each purpose of an operation.
using Operation = std::map<Purpose, std::map<int, Drawn>>;

class Rules {
 public:
  explicit Rules(Seed seed) {
    for (int component = 0; component < net::kParties; ++component) {
      const SecretKey key = InsecureKey(seed, component);
      std::copy_n(key.bytes().begin(), keys_[static_cast<std::size_t>(component)].size(),
                  keys_[static_cast<std::size_t>(component)].begin());
    }
  }

  void Add(std::size_t party, const StreamDraw& draw) {
    const auto key = std::find(keys_.begin(), keys_.end(), draw.key);
    if (key == keys_.end())
      return Violation("party ", party, " drew from a key that is none of the session's");
    if (draw.purpose() < Purpose::kInput || draw.purpose() > Purpose::kCheck)
      Violation("unknown purpose ", draw.start[0]);
    if (std::any_of(draw.start.begin() + 9, draw.start.end(), [](unsigned char byte) { return byte != 0; }))
      Violation("operation ", draw.operation(), " begins a stream in its middle");
    Drawn& drawn = operations_[draw.operation()][draw.purpose()][static_cast<int>(key - keys_.begin())];
    ++drawn.times[party];
    drawn.lengths.insert(draw.bytes);
  }

  std::vector<std::string> Check() {
    for (const auto& [number, operation] : operations_) {
      for (const auto& [purpose, streams] : operation) {
        // What the dealer deals from its shares, online, it takes its mask for once more.
        const bool again = purpose == Purpose::kMask && !Of(operation, Purpose::kInput).empty();
        const int twice = again ? DealerOf(Of(operation, Purpose::kMask)) : -1;
        for (const auto& [component, drawn] : streams) CheckHolders(number, purpose, component, drawn, twice);
      }
      CheckZero(number, operation);
      CheckRoles(number, operation);
    }
    return violations_;
  }

 private:
  template <typename... Parts>
  void Violation(const Parts&... parts) {
    std::ostringstream text;
    (text << ... << parts);
    violations_.push_back(text.str());
  }

  /// `twice`: the party that draws two times, or -1.
  void CheckHolders(OperationId number, Purpose purpose, int component, const Drawn& drawn, int twice) {
    for (int party = 0; party < net::kParties; ++party) {
      const bool holder = party == component || (party + 1) % net::kParties == component;
      const int times = drawn.times[static_cast<std::size_t>(party)];
      const int expected = !holder ? 0 : party == twice ? 2 : 1;
      if (times != expected) {
        Violation("operation ", number, ": party ", party, " drew component ", component, " for purpose ",
                  static_cast<int>(purpose), " ", times, " times");
      }
    }
    if (drawn.lengths.size() != 1)
      Violation("operation ", number, ": the holders of component ", component, " drew different lengths");
  }

  /// Of the two components that a mask comes from: A's, and the dealer's, which has the dealer's number.
  static int FirstOf(const Components& masks) {
    return masks == Components{0, 2} ? 0 : masks == Components{0, 1} ? 1 : 2;
  }
  static int DealerOf(const Components& masks) { return (FirstOf(masks) + 2) % net::kParties; }

  static Components Of(const Operation& operation, Purpose purpose) {
    Components components;
    const auto at = operation.find(purpose);
    if (at == operation.end()) return components;
    for (const auto& [component, drawn] : at->second) components.insert(component);
    return components;
  }

  void CheckZero(OperationId number, const Operation& operation) {
    const std::size_t components = Of(operation, Purpose::kZero).size();
    if (components != 0 && components != 3)
      Violation("operation ", number, ": a sharing of zero from ", components, " components");
  }

  void CheckRoles(OperationId number, const Operation& operation) {
    const Components masks = Of(operation, Purpose::kMask);
    if (masks.empty()) {
      for (const Purpose purpose : {Purpose::kDeal, Purpose::kReshare, Purpose::kRoots}) {
        if (!Of(operation, purpose).empty()) Violation("operation ", number, ": dealt without a mask");
      }
      return;
    }
    if (masks.size() != 2) return Violation("operation ", number, ": a mask of ", masks.size(), " halves");
    const int a = FirstOf(masks);
    const Components both{a, DealerOf(masks)};
    for (const Purpose purpose : {Purpose::kReshare, Purpose::kRoots}) {
      const Components used = Of(operation, purpose);
      if (!used.empty() && used != both)
        Violation("operation ", number, ": not from the dealer's two components");
    }
    for (const Purpose purpose : {Purpose::kDeal, Purpose::kInput}) {
      const Components used = Of(operation, purpose);
      if (!used.empty() && used != Components{a})
        Violation("operation ", number, ": dealt by another component than A's and the dealer's");
    }
  }

  std::array<CipherKey, net::kParties> keys_{};
  std::map<OperationId, Operation> operations_;
  std::vector<std::string> violations_;
};

}  // namespace

PrssMaker LoggedPrss(Seed seed, std::array<DrawLog, net::kParties>& logs) {
  return [seed, &logs](int self) {
    const ScopedDrawLog logging(logs[static_cast<std::size_t>(self)]);
    return InsecurePrss(seed, self);
  };
}

bool HoldsKey(Seed seed, int party, const CipherKey& key) {
  for (const int component : {party, party + 1}) {
    const SecretKey held = InsecureKey(seed, component);
    if (std::equal(key.begin(), key.end(), held.bytes().begin())) return true;
  }
  return false;
}

std::vector<std::string> StreamViolations(Seed seed,
                                          const std::array<std::vector<StreamDraw>, net::kParties>& draws) {
  Rules rules(seed);
  for (std::size_t party = 0; party < draws.size(); ++party) {
    for (const StreamDraw& draw : draws[party]) rules.Add(party, draw);
  }
  return rules.Check();
}

}  // namespace trefoil::testing_support
