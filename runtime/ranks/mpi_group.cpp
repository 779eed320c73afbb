#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <thread>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "base/error_report.h"
#include "base/secrets/locked_memory.h"
#include "runtime/abort_reason.h"
#include "runtime/ranks/mpi_channel.h"
#include "runtime/ranks/rank_group.h"

namespace trefoil::runtime {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kSendersPause{10};
constexpr std::chrono::milliseconds kLongestBeat{1000};
/// How long rank 0 waits for what the others' links have shown. The system closes those of a machine that was
/// killed before mpirun knows of it, and ends the others.
constexpr std::chrono::milliseconds kLinksSpeak{2000};
/// How long rank 0 waits for the others to tell their links.
constexpr std::chrono::milliseconds kEndTelling{2000};
/// How long rank 0's program may take to end in good order once a rank has failed.
constexpr std::chrono::milliseconds kGoodOrder{10'000};
/// How much later than rank 0 the others report what all have found.
constexpr std::chrono::milliseconds kAfterRank0{5000};
constexpr std::chrono::milliseconds kRank0Ends = kGoodOrder + kAfterRank0;

enum class Kind : int {
  kAlive,
  kDone,    ///< has called Finish; nothing follows
  kEnded,   ///< its calls have ended
  kFailed,  ///< to rank 0: why
  kEnd,     ///< of rank 0: tell the links why
  kTold     ///< to rank 0: they have been told
};

/// What ranks tell each other beside the calls of a job.
struct Notice {
  Kind kind = Kind::kAlive;
  int rank = 0;
  int code = 0;
  net::AbortReason reason{};
  bool refused_again = false;
  bool heard = false;
  bool lost = false;
  Clock::duration since_lost{};  // clocks of two machines differ
  std::array<char, 480> cause{};
};

Notice NoticeOf(Kind kind, const RankFailure& failure) {
  Notice notice{.kind = kind,
                .rank = failure.rank,
                .code = failure.code,
                .reason = failure.reason,
                .refused_again = failure.refused_again,
                .heard = failure.heard,
                .lost = failure.lost_at.has_value()};
  if (failure.lost_at) notice.since_lost = Clock::now() - *failure.lost_at;
  std::copy_n(failure.cause.begin(), std::min(failure.cause.size(), notice.cause.size() - 1),
              notice.cause.begin());
  return notice;
}

RankFailure FailureIn(const Notice& notice) {
  RankFailure failure{.rank = notice.rank,
                      .code = notice.code,
                      .reason = notice.reason,
                      .cause = notice.cause.data(),
                      .refused_again = notice.refused_again,
                      .heard = notice.heard};
  if (notice.lost) failure.lost_at = Clock::now() - notice.since_lost;
  return failure;
}

/// For calls of MPI that nothing else could end: prints `line`, and ends the process by `end`, unless it is
/// over in time. Ranks above 0 give rank 0 time to end all with one line.
class CallLimit {
 public:
  CallLimit(std::chrono::milliseconds limit, const std::string& line, void (*end)())
      : watcher_([=](const std::stop_token& over) {
          const auto after_rank_0 = StartedByMpirun().rank == 0 ? std::chrono::milliseconds(0) : kAfterRank0;
          std::mutex mutex;
          std::condition_variable_any stopped;
          std::unique_lock lock(mutex);
          (void)stopped.wait_for(lock, over, limit + after_rank_0, [] { return false; });
          if (over.stop_requested()) return;
          ReportLastError(line);
          end();
        }) {}

 private:
  std::jthread watcher_;
};

class MpiGroup final : public RankGroup {
 public:
  MpiGroup(const RankLimits& limits, bool memory_locked)
      : memory_locked_(memory_locked), silence_(limits.silence) {
    state_->party = limits.party;
    state_->Check(MPI_Comm_dup(MPI_COMM_WORLD, &notices_), "MPI_Comm_dup");
    state_->Check(MPI_Comm_set_errhandler(notices_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    channel_.emplace(state_, MPI_COMM_WORLD);
    const auto now = Clock::now();
    others_.resize(static_cast<std::size_t>(channel_->count()), {.heard = now});
    watcher_ = std::jthread([this] { Watch(); });
  }

  [[nodiscard]] mpc::Ranks& ranks() override { return *channel_; }

  [[nodiscard]] bool memory_locked() const override { return memory_locked_; }

  void SetLinks(net::Transport* links) override {
    const std::lock_guard lock(mutex_);
    links_ = links;
    if (links != nullptr && failure_) links->Interrupt();
  }

  void SetLastWords(LastWords words) override {
    const std::lock_guard lock(mutex_);
    last_words_ = std::move(words);
  }

  [[nodiscard]] std::optional<RankFailure> Failure(std::chrono::milliseconds limit) override {
    std::unique_lock lock(mutex_);
    (void)changed_.wait_for(lock, limit, [&] { return failure_.has_value(); });
    return failure_;
  }

  void HearLinks() override {
    state_->End("rank 0 has failed");
    std::this_thread::sleep_for(kLinksSpeak);  // the watcher hears them
  }

  void TakeOver() override {
    const std::lock_guard lock(mutex_);
    // Others that know of the failure wait from now on.
    if (self() == 0 && failure_ && !taken_over_) PostToAll(NoticeOf(Kind::kEnd, *failure_));
    taken_over_ = true;
  }

  void EndProcess(const RankFailure& failure) override {
    TakeOver();
    state_->End("this rank has failed");
    if (channel_->rank() == 0) {
      TellOthers(failure);
    } else {
      HaveRank0End(failure);
    }
    EndAll(failure.code);
  }

  void Finish() override {
    {
      const std::lock_guard lock(mutex_);
      finishing_ = true;
      changed_.notify_all();
    }
    watcher_.join();
    if (state_->ended) state_->ThrowEnded();
    const int rank = self();
    channel_.reset();
    const CallLimit limit(silence_,
                          fmt::format("warning: party {}, rank {}: all ranks are done, but MPI has not ended "
                                      "within {} ms (timeouts.peer)",
                                      state_->party.load(), rank, silence_.count()),
                          [] { std::_Exit(kDone); });
    state_->Check(MPI_Finalize(), "MPI_Finalize");
  }

  [[nodiscard]] WaitingTime waited() const override {
    return {.seconds = 1e-9 * static_cast<double>(state_->waited_ns.load()),
            .processor_seconds = 1e-9 * static_cast<double>(state_->waiting_processor_ns.load())};
  }

 private:
  struct Other {
    Clock::time_point heard;
    bool done = false;
    bool told = false;
  };
  struct Sent {
    std::unique_ptr<Notice> notice;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  [[nodiscard]] int self() const { return channel_->rank(); }

  void TellOthers(const RankFailure& failure) {
    std::unique_lock lock(mutex_);
    for (int to = 1; to < channel_->count(); ++to) {
      if (!others_.at(static_cast<std::size_t>(to)).told) Post(to, NoticeOf(Kind::kEnd, failure));
    }
    (void)changed_.wait_for(lock, kEndTelling, [this] {
      return std::all_of(others_.begin() + 1, others_.end(), [](const Other& other) { return other.told; });
    });
  }

  void HaveRank0End(const RankFailure& failure) {
    std::unique_lock lock(mutex_);
    Post(0, NoticeOf(Kind::kFailed, failure));
    // Ahead of the links, which may take a second: what the peers lose then is not what rank 0 hears first.
    (void)changed_.wait_for(lock, 5 * kSendersPause, [this] { return outgoing_.empty(); });
    if (links_ != nullptr) links_->Abort(failure.reason);
    deadline_ = Clock::now() + kRank0Ends;
    while (Clock::now() < deadline_) {
      const auto until = deadline_;  // what rank 0 says of its report puts it off
      (void)changed_.wait_until(lock, until);
    }
    lock.unlock();
    ReportLastError(failure.cause);
  }

  [[noreturn]] void EndAll(int code) {
    const std::lock_guard lock(state_->calls);
    MPI_Abort(MPI_COMM_WORLD, code);
    while (true) std::this_thread::sleep_for(kLongestBeat);  // the launcher ends this process
  }

  /// With mutex_.
  void Post(int to, const Notice& notice) {
    outgoing_.emplace_back(to, notice);
    outgoing_.back().second.rank = self();
    changed_.notify_all();
  }

  void PostToAll(const Notice& notice) {
    for (int to = 0; to < channel_->count(); ++to) {
      if (to != self()) Post(to, notice);
    }
  }

  void Watch() {
    try {
      WatchUntilDone();
    } catch (const std::exception& error) {  // of MPI: what the others send is not heard any more
      state_->End(error.what());
    }
  }

  void WatchUntilDone() {
    std::unique_lock lock(mutex_);
    while (true) {
      lock.unlock();
      while (Received()) Take(incoming_);
      lock.lock();
      Beat();
      LookForSilence();
      TellOwnError();
      TellOwnLink();
      TellEnded();
      if (finishing_ && !std::exchange(said_done_, true)) PostToAll({.kind = Kind::kDone});
      SendPosted();
      const bool all_done =
          std::all_of(others_.begin(), others_.end(), [&](const Other& other) { return other.done; });
      if (said_done_ && all_done && sent_.empty()) break;
      if (failure_ && !taken_over_ && Clock::now() > deadline_) ReportAndEnd();
      const auto now = ThreadProcessorTime();
      state_->waiting_processor_ns += now - std::exchange(counted_, now);
      changed_.wait_for(lock, kSendersPause, [this] { return !outgoing_.empty(); });
    }
    const std::lock_guard calls(state_->calls);
    MPI_Cancel(&receiving_);
    MPI_Wait(&receiving_, MPI_STATUS_IGNORE);
  }

  /// Whether a notice has come, into incoming_, which the next call receives the next one into.
  bool Received() {
    const std::lock_guard lock(state_->calls);
    if (receiving_ == MPI_REQUEST_NULL) {
      state_->Check(
          MPI_Irecv(&incoming_, sizeof incoming_, MPI_BYTE, MPI_ANY_SOURCE, 0, notices_, &receiving_),
          "MPI_Irecv");
    }
    int done = 0;
    state_->Check(MPI_Test(&receiving_, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done != 0;
  }

  void Take(const Notice& notice) {
    const std::lock_guard lock(mutex_);
    auto& sender = others_.at(static_cast<std::size_t>(notice.rank));
    sender.heard = Clock::now();
    sender.done = sender.done || notice.kind == Kind::kDone;
    sender.told = sender.told || notice.kind == Kind::kTold;
    changed_.notify_all();
    if (notice.kind == Kind::kEnded)
      state_->End(fmt::format("rank {} of this party has failed", notice.rank));
    if (notice.kind == Kind::kFailed || notice.kind == Kind::kEnd) Fail(FailureIn(notice));
    if (notice.kind != Kind::kEnd) return;
    deadline_ = Clock::now() + kRank0Ends;
    TellOwnLink();
    SendPosted();
    if (links_ != nullptr) links_->Abort(notice.reason);
    Post(0, {.kind = Kind::kTold});
  }

  /// The first failure stays, unless it is a loss that may follow from this one. With mutex_.
  void Fail(const RankFailure& failure) {
    if (failure_) {
      failure_ = CauseAmong(failure, std::move(failure_));
      return;
    }
    failure_ = failure;
    deadline_ = Clock::now() + (self() == 0 ? kGoodOrder : kRank0Ends);
    state_->End(fmt::format("rank {} of this party has failed", failure.rank));
    if (links_ != nullptr) links_->Interrupt();
    changed_.notify_all();
  }

  void Beat() {
    const auto now = Clock::now();
    if (now < next_beat_ || said_done_) return;
    next_beat_ = now + std::min<std::chrono::milliseconds>(silence_ / 4, kLongestBeat);
    PostToAll({.kind = Kind::kAlive});
  }

  void LookForSilence() {
    for (int rank = 0; rank < channel_->count(); ++rank) {
      auto& other = others_.at(static_cast<std::size_t>(rank));
      other.done = other.done || rank == self();
      if (other.done || Clock::now() - other.heard < silence_) continue;
      const auto cause = fmt::format("party {}, rank {}: nothing came from rank {} for {} ms (timeouts.peer)",
                                     state_->party.load(), self(), rank, silence_.count());
      other.told = true;  // as well as it can be
      Fail({.rank = rank, .code = kNetwork, .reason = {.code = net::AbortCode::kRankLost}, .cause = cause});
    }
  }

  /// An error by which this rank has ended the calls goes on from here: its program may wait for ever for
  /// what is under way to ranks that have heard of the end. With mutex_.
  void TellOwnError() {
    const auto own = said_error_ || failure_ ? nullptr : state_->error();
    if (own == nullptr || !last_words_.explain) return;
    said_error_ = true;
    try {
      std::rethrow_exception(own);
    } catch (const RanksEnded&) {  // another rank's
    } catch (const std::exception& error) {
      Tell(Explained(error));
    } catch (...) {
      Tell(Explained(std::runtime_error("an error of no known kind")));
    }
  }

  /// What others have ended this rank's calls for may follow from what its own link shows, and its program
  /// has not come to. With mutex_.
  void TellOwnLink() {
    if (self() == 0 || said_link_ || !state_->ended || !last_words_.explain) return;
    const auto own = Explained(RanksEnded(state_->party, "it has ended"));
    if (!own.lost_at || own.heard) return;
    said_link_ = true;
    Post(0, NoticeOf(Kind::kFailed, own));
  }

  [[nodiscard]] RankFailure Explained(const std::exception& error) const {
    try {
      return last_words_.explain(error);
    } catch (const std::exception&) {  // for lack of memory
      return {.rank = self(), .code = ExitCodeOf(error), .reason = ReasonFor(error), .cause = CauseOf(error)};
    }
  }

  /// This rank's own failure: to the other ranks, and then to the links, which may take a second. With
  /// mutex_.
  void Tell(const RankFailure& failure) {
    if (self() == 0) {
      Fail(failure);
      PostToAll(NoticeOf(Kind::kEnd, failure));
    } else {
      Post(0, NoticeOf(Kind::kFailed, failure));
    }
    SendPosted();
    if (links_ != nullptr) links_->Abort(failure.reason);
  }

  /// What has ended this rank's calls ends those of the others.
  void TellEnded() {
    if (state_->ended && !std::exchange(said_ended_, true)) PostToAll({.kind = Kind::kEnded});
  }

  void SendPosted() {
    const std::lock_guard calls(state_->calls);
    for (const auto& [to, notice] : std::exchange(outgoing_, {})) {
      sent_.push_back({.notice = std::make_unique<Notice>(notice)});
      auto& sent = sent_.back();
      state_->Check(MPI_Isend(sent.notice.get(), sizeof(Notice), MPI_BYTE, to, 0, notices_, &sent.request),
                    "MPI_Isend");
    }
    std::erase_if(sent_, [](Sent& sent) {
      int done = 0;
      return MPI_Test(&sent.request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done != 0;
    });
  }

  /// The program has not come to its own end in time. With mutex_.
  void ReportAndEnd() {
    // A signal may be behind what a rank has lost.
    if (self() == 0 && last_words_.explain)
      failure_ = CauseAmong(Explained(RanksEnded(state_->party, "it has ended")), std::move(failure_));
    if (links_ != nullptr) links_->Abort(failure_->reason);
    ReportLastError(failure_->cause);
    if (last_words_.note) last_words_.note(*failure_);
    EndAll(failure_->code);
  }

  std::shared_ptr<MpiState> state_ = std::make_shared<MpiState>();
  MPI_Comm notices_ = MPI_COMM_NULL;
  std::optional<MpiChannel> channel_{};
  Notice incoming_{};  // the watcher's, as the next two
  MPI_Request receiving_ = MPI_REQUEST_NULL;
  std::int64_t counted_ = 0;  // its processor time

  const bool memory_locked_;
  const std::chrono::milliseconds silence_;

  std::mutex mutex_;  // guards all below; taken before MpiState::calls
  std::condition_variable changed_;
  net::Transport* links_ = nullptr;
  LastWords last_words_{};
  std::vector<Other> others_{};  // by rank, this one included
  std::optional<RankFailure> failure_{};
  Clock::time_point deadline_{};
  Clock::time_point next_beat_{};
  std::deque<std::pair<int, Notice>> outgoing_{};
  std::vector<Sent> sent_{};
  bool taken_over_ = false;
  bool finishing_ = false;
  bool said_done_ = false;
  bool said_ended_ = false;
  bool said_error_ = false;
  bool said_link_ = false;
  std::jthread watcher_;  // last: it uses the others
};

}  // namespace

std::unique_ptr<RankGroup> StartRanks(const RankLimits& limits) {
  const auto [rank, count] = StartedByMpirun();
  if (count == 1) return nullptr;
  const bool memory_locked = LockAllMemory();  // before there are threads
  // A program that lets nobody look into its memory (DisableCoreDumps) cannot be copied from by its
  // neighbours.
  (void)setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
  const CallLimit limit(
      limits.start,
      fmt::format("party {}, rank {}: not all {} ranks have started MPI within {} ms (timeouts.start)",
                  limits.party, rank, count, limits.start.count()),
      [] { std::_Exit(kNetwork); });
  int provided = MPI_THREAD_SINGLE;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS ||
      provided < MPI_THREAD_SERIALIZED)
    throw ConfigError("mpirun: found an Open MPI that does not start, expected MPI_THREAD_SERIALIZED of it");
  return std::make_unique<MpiGroup>(limits, memory_locked);
}

}  // namespace trefoil::runtime
