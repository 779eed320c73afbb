#include "tests/support/faults/fault_runs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <future>
#include <set>
#include <vector>

#include "base/error.h"
#include "net/local_transport.h"
#include "tests/support/faults/fault_transport.h"
#include "tests/support/run_parties.h"

namespace trefoil::testing_support {
namespace {

using net::Fault;
using net::FaultKind;
using std::chrono::milliseconds;

// A lost message is noticed after this; where nothing is lost, a loaded machine gets more time.
constexpr milliseconds kShort{120};
constexpr milliseconds kLong{20000};
// A party waits at most twice: for a silent peer, and for the third, which has noticed the same.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr milliseconds kNoHang{15000};
#else
constexpr milliseconds kNoHang{5000};
#endif

enum class End { kReturned, kTyped, kOther };

End Classify(const std::exception_ptr& end, std::string& text) {
  if (!end) return End::kReturned;
  try {
    std::rethrow_exception(end);
  } catch (const NetworkError& error) {
    return End::kTyped;
  } catch (const ProtocolError& error) {
    return End::kTyped;
  } catch (const std::exception& error) {
    text = error.what();
    return End::kOther;
  }
}

/// The program, and then two barriers: who has failed does not reach the second, so nobody else gets past it.
void RunAndMeet(mpc::Context& party, const Program& program) {
  program(party);
  for (int barrier = 0; barrier < 2; ++barrier) {
    party.transport().Send(party.next(), {});
    party.transport().Send(party.previous(), {});
    (void)party.transport().Receive(party.next(), 0);
    (void)party.transport().Receive(party.previous(), 0);
  }
}

struct Outcome3 {
  std::array<End, 3> ends{};
  std::array<std::string, 3> texts;
  milliseconds took{0};
};

Outcome3 RunFaulty(const Program& program, int faulty, const Fault& fault, milliseconds timeout) {
  const auto start = std::chrono::steady_clock::now();
  Transports transports = net::MakeLocalTransports(timeout);
  auto& broken = transports[static_cast<std::size_t>(faulty)];
  broken = std::make_unique<net::FaultTransport>(std::move(broken), fault);
  const auto ends = EndsOver(
      transports, [](int self) { return InsecurePrss(Seed{1}, self); },
      [&](mpc::Context& party) { RunAndMeet(party, program); });
  Outcome3 outcome;
  for (std::size_t self = 0; self < 3; ++self) outcome.ends[self] = Classify(ends[self], outcome.texts[self]);
  outcome.took = std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - start);
  return outcome;
}

/// What a fault of this kind may lead to at each party.
void ExpectAllowed(const Outcome3& outcome, FaultKind kind, Flipped flipped) {
  for (std::size_t self = 0; self < 3; ++self) {
    SCOPED_TRACE("party " + std::to_string(self) + " " + outcome.texts[self]);
    if (kind == FaultKind::kNone || kind == FaultKind::kDelay) {
      EXPECT_EQ(outcome.ends[self], End::kReturned);
    } else if (kind != FaultKind::kFlip) {
      EXPECT_EQ(outcome.ends[self], End::kTyped);
    } else if (flipped == Flipped::kAnyValue) {
      // Semi-honest security: a wrong bit may give a wrong value, but no crash and no other error.
      EXPECT_NE(outcome.ends[self], End::kOther);
    }
  }
}

/// How many messages of the program itself each party sends.
std::array<std::uint64_t, 3> Messages(const Program& program) {
  return RunParties(Seed{1}, [&](mpc::Context& party) {
    program(party);
    return party.transport().counters().messages;
  });
}

struct Planned {
  int faulty;
  Fault fault;
};

/// The first, the last and a middle message of each party, each with each kind of fault.
std::vector<Planned> Plan(const std::array<std::uint64_t, 3>& messages) {
  std::vector<Planned> plan;
  for (int faulty = 0; faulty < 3; ++faulty) {
    const std::uint64_t count = messages[static_cast<std::size_t>(faulty)];
    if (count == 0) continue;
    for (const std::uint64_t message : std::set<std::uint64_t>{0, count / 2, count - 1}) {
      for (const FaultKind kind : {FaultKind::kDrop, FaultKind::kCut, FaultKind::kDelay, FaultKind::kTruncate,
                                   FaultKind::kExtend, FaultKind::kFlip}) {
        plan.push_back({faulty, {.kind = kind, .message = message, .delay = milliseconds(30)}});
      }
    }
  }
  return plan;
}

}  // namespace

void ExpectTypedEndsUnderFaults(const Program& program, Flipped flipped) {
  const std::vector<Planned> plan = Plan(Messages(program));
  ASSERT_FALSE(plan.empty());
  // Most of a case is waiting, so many run at a time.
  constexpr std::size_t kAtATime = 27;
  for (std::size_t first = 0; first < plan.size(); first += kAtATime) {
    const std::size_t last = std::min(plan.size(), first + kAtATime);
    std::vector<std::future<Outcome3>> outcomes;
    for (std::size_t k = first; k < last; ++k) {
      const bool completes =
          plan[k].fault.kind == FaultKind::kDelay || plan[k].fault.kind == FaultKind::kFlip;
      outcomes.push_back(std::async(std::launch::async, RunFaulty, std::cref(program), plan[k].faulty,
                                    std::cref(plan[k].fault), completes ? kLong : kShort));
    }
    for (std::size_t k = first; k < last; ++k) {
      const auto& [faulty, fault] = plan[k];
      SCOPED_TRACE("fault " + std::to_string(static_cast<int>(fault.kind)) + " at message " +
                   std::to_string(fault.message) + " of party " + std::to_string(faulty));
      const Outcome3 outcome = outcomes[k - first].get();
      ExpectAllowed(outcome, fault.kind, flipped);
      EXPECT_LT(outcome.took, kNoHang);
    }
  }
}

}  // namespace trefoil::testing_support
