// What ranks_test.py has mpirun start several times: each process is a rank and does what the first argument
// says. Prints "ok" where all was as expected, else a line that says what was not; ends as a rank of a party
// does.
#include <dlfcn.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "runtime/ranks/lane_report.h"
#include "runtime/ranks/rank_group.h"
#include "runtime/ranks/same_build.h"

namespace {

constexpr std::chrono::seconds kForEver{60};
bool never_ends = false;

}  // namespace

/// In place of MPI's own, which this calls unless the rank is told never to come to its end.
extern "C" int MPI_Finalize() {
  if (never_ends) std::this_thread::sleep_for(kForEver);
  return reinterpret_cast<int (*)()>(dlsym(RTLD_NEXT, "MPI_Finalize"))();
}

namespace trefoil::runtime {
namespace {

using mpc::Ranks;
using mpc::Word;
using Words = std::vector<Word>;

constexpr std::chrono::milliseconds kStart{8000};
constexpr std::chrono::milliseconds kSilence{4000};

/// Word i of a rank: such that sums of several wrap.
Word WordOf(int rank, std::size_t i) {
  return (~Word{0} / 2) + static_cast<Word>(rank + 1) * 0x9E3779B97F4A7C15U * (i + 1);
}

Words WordsOf(int rank, std::size_t count) {
  Words words(count);
  for (std::size_t i = 0; i < count; ++i) words[i] = WordOf(rank, i);
  return words;
}

Words Joined(int ranks, std::size_t each) {
  Words all;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto words = WordsOf(rank, each);
    all.insert(all.end(), words.begin(), words.end());
  }
  return all;
}

void Expect(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error("found another result of " + what);
}

void CheckCalls(Ranks& ranks, std::size_t size) {
  const int self = ranks.rank();
  const auto count = static_cast<std::size_t>(ranks.count());
  const auto mine = WordsOf(self, size);

  auto told = self == 0 ? WordsOf(7, size) : Words(size);
  ranks.Broadcast(std::as_writable_bytes(std::span(told)));
  Expect(told == WordsOf(7, size), "Broadcast");

  const auto all = self == 0 ? Joined(ranks.count(), size) : Words();
  Words part(size);
  ranks.Scatter(std::as_bytes(std::span(all)), std::as_writable_bytes(std::span(part)));
  Expect(part == mine, "Scatter");

  Words gathered(self == 0 ? size * count : 0);
  ranks.Gather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(gathered)));
  Expect(gathered == all, "Gather");

  Words everywhere(size * count);
  ranks.GatherToAll(mine, everywhere);
  Expect(everywhere == Joined(ranks.count(), size), "GatherToAll");

  const auto terms = WordsOf(self, size * count);
  Words sum(size);
  ranks.SumAndScatter(terms, sum);
  for (std::size_t i = 0; i < size; ++i) {
    Word expected = 0;
    for (int rank = 0; rank < ranks.count(); ++rank)
      expected += WordOf(rank, static_cast<std::size_t>(self) * size + i);
    Expect(sum[i] == expected, "SumAndScatter");
  }
  ranks.Barrier();
}

/// Every call with every size, on one channel and on two in two threads.
void Calls(RankGroup& group) {
  auto& ranks = group.ranks();
  Expect(ranks.count() == StartedByMpirun().count && ranks.rank() == StartedByMpirun().rank, "rank");
  const std::vector<std::size_t> sizes{0, 1, 7, 1'000'000};
  for (const auto size : sizes) CheckCalls(ranks, size);
  const auto channel = ranks.NewChannel();
  std::string failure;
  std::thread second([&] {
    try {
      for (const auto size : sizes) CheckCalls(*channel, size);
    } catch (const std::exception& error) {
      failure = error.what();
    }
  });
  for (auto size = sizes.rbegin(); size != sizes.rend(); ++size) CheckCalls(ranks, *size);
  second.join();
  Expect(failure.empty(), "a second channel: " + failure);
}

/// Rank 1 computes for longer than the silence after which a rank is lost; waiting takes the others next to
/// no time.
void Slow(RankGroup& group) {
  if (group.ranks().rank() == 1) std::this_thread::sleep_for(2 * kSilence);
  const double before = ProcessorSeconds(&group);
  const double waiting = group.waited().processor_seconds;
  group.ranks().Barrier();
  if (group.ranks().rank() == 1) return;
  Expect(group.waited().seconds > 2e-3 * 0.8 * static_cast<double>(kSilence.count()), "the time waited");
  Expect(group.waited().processor_seconds - waiting + ProcessorSeconds(&group) - before <
             0.5 * 2e-3 * static_cast<double>(kSilence.count()),
         "the processor time of waiting");
}

/// The others wait in vain for rank 1, which does `what`, when they have called `before`.
void Without(
    RankGroup& group, const std::function<void()>& what, const std::function<void()>& before = [] {}) {
  if (group.ranks().rank() == 1) return what();
  before();
  group.ranks().Barrier();
  throw std::runtime_error("found an end of Barrier, expected none");
}

void Killed(RankGroup& group) {
  Without(group, [] { std::raise(SIGKILL); });
}
void Silent(RankGroup& group) {
  Without(group, [] { std::raise(SIGSTOP); });
}
void Ended(RankGroup& group) {
  Without(group,
          [&] { group.End({.rank = 1, .code = 4, .cause = "rank 1: bad data", .refused_again = true}); });
}
void Aborted(RankGroup& group) {
  Without(group, [&] {
    group.ranks().Abort();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    group.End({.rank = 1, .code = 4, .cause = "rank 1: behind an Abort"});
  });
}

/// Rank 0 has heard that a peer is lost, while the others wait for it; their links have shown it, that of
/// rank 2 before that of rank 1.
void Heard(RankGroup& group) {
  const int self = group.ranks().rank();
  RankFailure lost{.rank = self,
                   .code = 3,
                   .reason = {.code = net::AbortCode::kPeerLost, .about = 1},
                   .cause = "the link of rank " + std::to_string(self)};
  if (self > 0) {
    group.SetLastWords({.explain = [lost](const std::exception&) {
      auto seen = lost;
      seen.lost_at = std::chrono::steady_clock::now() - std::chrono::hours(seen.rank);
      return seen;
    }});
    group.ranks().Barrier();
  }
  lost.heard = true;
  lost.lost_at = std::chrono::steady_clock::now();
  group.HearLinks();
  const auto cause = CauseAmong(lost, group.Failure({}));
  std::cout << cause.cause << std::endl;
  group.End(cause);
}

/// Rank 0 is sending what rank 1 never takes: it has to keep that, and so not to return.
void Unsent(RankGroup& group) {
  Without(
      group,
      [&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(1000));
        group.End({.rank = 1, .code = 4, .cause = "rank 1: bad data"});
      },
      [&] {
        Words words(8'000'000);
        group.ranks().Broadcast(std::as_writable_bytes(std::span(words)));
      });
}

/// Rank 0 fails while the others send it what it does not take any more, and a second thread of its own,
/// which it has to wait for, hands out in a call that the others never come to: begun before, or behind the
/// failure.
void FailWhileHandingOut(RankGroup& group, std::chrono::milliseconds begins) {
  constexpr std::size_t kMany = 1'000'000;
  auto& ranks = group.ranks();
  const auto channel = ranks.NewChannel();
  Words all(kMany * static_cast<std::size_t>(ranks.count()));
  Words own(kMany);
  if (ranks.rank() > 0) {
    ranks.SumAndScatter(all, own);
    throw std::runtime_error("found an end of SumAndScatter, expected none");
  }
  const std::jthread second([&] {
    std::this_thread::sleep_for(begins);
    try {
      channel->Scatter(std::as_bytes(std::span(all)), std::as_writable_bytes(std::span(own)));
    } catch (const NetworkError&) {
    }
  });
  try {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    throw std::runtime_error("bad data");
  } catch (const std::exception&) {
    ranks.Abort();
    throw;
  }
}

void Stuck(RankGroup& group) { FailWhileHandingOut(group, {}); }
void Late(RankGroup& group) { FailWhileHandingOut(group, std::chrono::milliseconds(1000)); }

void Unended(RankGroup& group) { never_ends = group.ranks().rank() == 1; }

void OtherBuild(RankGroup& group) {
  auto& ranks = group.ranks();
  RequireSameBuild(ranks, BuildOfProgram());
  RequireSameBuild(ranks, ranks.rank() == 1 ? "version 9" : "version 8");
  if (ranks.rank() == 0) ranks.Barrier();  // until rank 1 has failed
}

/// Rank 0 hands out smaller parts than the others expect.
void Shorter(RankGroup& group) {
  auto& ranks = group.ranks();
  Words part(ranks.rank() == 0 ? 2 : 3);
  const Words all(ranks.rank() == 0 ? 2 * static_cast<std::size_t>(ranks.count()) : 0);
  ranks.Scatter(std::as_bytes(std::span(all)), std::as_writable_bytes(std::span(part)));
  ranks.Barrier();  // which the others do not come to
}

void OtherJob(RankGroup& group) {
  auto& ranks = group.ranks();
  RequireSameJob(ranks, std::string(64, 'a'), 2);
  RequireSameJob(ranks, std::string(64, ranks.rank() == 1 ? 'c' : 'b'), 2);
}

void OtherParty(RankGroup& group) {
  RequireSameJob(group.ranks(), std::string(64, 'a'), group.ranks().rank() == 1 ? 1 : 2);
}

/// Whether the kernel holds this process's memory locked, as the group says.
void Memory(RankGroup& group) {
  std::ifstream status("/proc/self/status");  // proc(5)
  std::string key;
  std::uint64_t locked = 0;
  while (status >> key && key != "VmLck:") {
  }
  Expect(static_cast<bool>(status >> locked), "/proc/self/status");
  Expect(group.memory_locked() == (locked > 0), "memory_locked");
  std::cout << (locked > 0 ? "locked\n" : "unlocked\n");
}

int Run(const std::string& what) {
  const std::map<std::string, void (*)(RankGroup&)> cases{
      {"calls", Calls},      {"slow", Slow},       {"killed", Killed},   {"silent", Silent},
      {"ended", Ended},      {"aborted", Aborted}, {"unsent", Unsent},   {"unended", Unended},
      {"other", OtherBuild}, {"memory", Memory},   {"shorter", Shorter}, {"job", OtherJob},
      {"party", OtherParty}, {"stuck", Stuck},     {"late", Late},       {"heard", Heard}};
  if (what == "absent" && StartedByMpirun().rank == 1) std::this_thread::sleep_for(kForEver);
  const auto group = StartRanks({.party = 2, .start = kStart, .silence = kSilence});
  if (group == nullptr) {
    std::cout << "alone\n";
    return 0;
  }
  const int rank = group->ranks().rank();
  const auto explain = [rank](const std::exception& error) -> RankFailure {
    return {.rank = rank, .code = 9, .cause = error.what()};
  };
  group->SetLastWords({.explain = explain});
  try {
    cases.at(what)(*group);
    group->Finish();
    std::cout << "ok\n";
    return 0;
  } catch (const std::exception& error) {
    RankFailure failure = explain(error);
    if (dynamic_cast<const RanksEnded*>(&error) != nullptr)
      failure = group->Failure(kCauseComes).value_or(failure);
    const char* again = failure.refused_again ? ", again and again" : "";
    if (rank == 0) std::cout << "rank 0: " << error.what() << "; " << failure.cause << again << std::endl;
    group->End(failure);
  }
}

}  // namespace
}  // namespace trefoil::runtime

int main(int argc, char** argv) try {
  return trefoil::runtime::Run(argc > 1 ? argv[1] : "");
} catch (const std::exception& error) {
  std::cout << error.what() << std::endl;
  return 2;
}
