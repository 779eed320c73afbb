#include "runtime/ranks/mpi_channel.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <thread>

#include "base/error.h"
#include "runtime/ranks/rank_group.h"

namespace trefoil::runtime {
namespace {

using Clock = std::chrono::steady_clock;

/// Of one message: below what a count of MPI can say, and small enough that a long transfer is seen to go on.
constexpr std::size_t kPiece = std::size_t{4} << 20U;
constexpr std::chrono::microseconds kFirstPause{20};
constexpr std::chrono::microseconds kLongestPause{1000};
/// How long memory that another rank may still read or write is kept for it.
constexpr std::chrono::seconds kWithdrawal{1};
constexpr int kTag = 0;

/// Counts the time from here to its end as waiting.
class Waiting {
 public:
  explicit Waiting(MpiState& state) : state_(state) {}
  ~Waiting() {
    state_.waited_ns += std::chrono::nanoseconds(Clock::now() - begin_).count();
    state_.waiting_processor_ns += ThreadProcessorTime() - processor_begin_;
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  MpiState& state_;
  Clock::time_point begin_ = Clock::now();
  std::int64_t processor_begin_ = ThreadProcessorTime();
};

/// Pauses that grow while nothing happens.
class Pauses {
 public:
  void Next(bool progress) {
    pause_ = progress ? kFirstPause : std::min<std::chrono::microseconds>(2 * pause_, kLongestPause);
    std::this_thread::sleep_for(pause_);
  }

 private:
  std::chrono::microseconds pause_ = kFirstPause / 2;
};

std::span<std::byte> Part(std::span<std::byte> all, int part, std::size_t bytes) {
  return all.subspan(static_cast<std::size_t>(part) * bytes, bytes);
}
std::span<const std::byte> Part(std::span<const std::byte> all, int part, std::size_t bytes) {
  return all.subspan(static_cast<std::size_t>(part) * bytes, bytes);
}

void Copy(std::span<const std::byte> from, std::span<std::byte> to) {
  std::copy(from.begin(), from.end(), to.begin());
}

}  // namespace

std::int64_t ThreadProcessorTime() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

void MpiState::Check(int result, const char* function) const {
  if (result == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(result, text, &length);
  throw NetworkError(party, std::string("between its ranks: ") + function + ": " + text);
}

void MpiState::End(std::string_view why, const std::exception_ptr& error) {
  const std::lock_guard lock(mutex_);
  if (!error_) error_ = error;
  if (!ended.exchange(true)) why_ = why;  // last: there may be no memory for it
}

std::exception_ptr MpiState::error() {
  const std::lock_guard lock(mutex_);
  return error_;
}

void MpiState::ThrowEnded() {
  const std::lock_guard lock(mutex_);
  throw RanksEnded(party, why_);
}

/// The messages of one call: none is posted where all calls have ended, since nobody might take it any more.
struct MpiChannel::Requests {
  explicit Requests(MpiState& state) {
    if (state.ended) state.ThrowEnded();
  }

  std::vector<MPI_Request> sends{};
  std::vector<MPI_Request> receives{};
  std::vector<std::size_t> sizes{};  ///< of `receives`, in bytes
};

MpiChannel::MpiChannel(std::shared_ptr<MpiState> state, MPI_Comm parent) : state_(std::move(state)) {
  Requests requests(*state_);
  requests.sends.emplace_back(MPI_REQUEST_NULL);
  {
    const std::lock_guard lock(state_->calls);
    state_->Check(MPI_Comm_idup(parent, &communicator_, &requests.sends.front()), "MPI_Comm_idup");
  }
  Wait(requests);
  const std::lock_guard lock(state_->calls);
  state_->Check(MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  state_->Check(MPI_Comm_rank(communicator_, &rank_), "MPI_Comm_rank");
  state_->Check(MPI_Comm_size(communicator_, &count_), "MPI_Comm_size");
}

void MpiChannel::Send(Requests& requests, int to, std::span<const std::byte> bytes) {
  for (std::size_t begin = 0; begin < bytes.size(); begin += kPiece) {
    const auto piece = bytes.subspan(begin, std::min(kPiece, bytes.size() - begin));
    const std::lock_guard lock(state_->calls);
    state_->Check(MPI_Isend(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, to, kTag, communicator_,
                            &requests.sends.emplace_back(MPI_REQUEST_NULL)),
                  "MPI_Isend");
  }
}

void MpiChannel::Receive(Requests& requests, int from, std::span<std::byte> bytes) {
  for (std::size_t begin = 0; begin < bytes.size(); begin += kPiece) {
    const auto piece = bytes.subspan(begin, std::min(kPiece, bytes.size() - begin));
    const std::lock_guard lock(state_->calls);
    state_->Check(MPI_Irecv(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, from, kTag, communicator_,
                            &requests.receives.emplace_back(MPI_REQUEST_NULL)),
                  "MPI_Irecv");
    requests.sizes.push_back(piece.size());
  }
}

/// Throws NetworkError unless what has arrived is as long as expected: MPI takes a shorter message for any,
/// and the rest would stay as it was.
void MpiChannel::RequireSizes(const Requests& requests, std::span<const int> indices,
                              std::span<const MPI_Status> statuses) const {
  for (std::size_t k = 0; k < indices.size(); ++k) {
    const auto place = static_cast<std::size_t>(indices[k]);
    if (place >= requests.sizes.size()) continue;
    int found = 0;
    MPI_Get_count(&statuses[k], MPI_BYTE, &found);
    if (static_cast<std::size_t>(found) == requests.sizes[place]) continue;
    const auto text = "between its ranks: found " + std::to_string(found) + " bytes of rank " +
                      std::to_string(statuses[k].MPI_SOURCE) + ", expected " +
                      std::to_string(requests.sizes[place]);
    const NetworkError error(state_->party, text);
    state_->End(text, std::make_exception_ptr(error));  // for the other threads, and the other ranks
    throw error;
  }
}

/// Until all have been sent or received.
void MpiChannel::Wait(Requests& requests) {
  const Waiting counted(*state_);
  auto all = requests.receives;
  all.insert(all.end(), requests.sends.begin(), requests.sends.end());
  std::vector<int> indices(all.size());
  std::vector<MPI_Status> statuses(all.size());
  Pauses pauses;
  for (std::size_t left = all.size(); left > 0;) {
    int completed = 0;
    {
      const std::lock_guard lock(state_->calls);
      state_->Check(
          MPI_Testsome(static_cast<int>(all.size()), all.data(), &completed, indices.data(), statuses.data()),
          "MPI_Testsome");
    }
    const auto done = static_cast<std::size_t>(std::max(completed, 0));
    RequireSizes(requests, std::span(indices).first(done), statuses);
    left -= done;
    if (left == 0) return;
    if (state_->ended) {
      const auto first_send = all.begin() + static_cast<std::ptrdiff_t>(requests.receives.size());
      std::copy(all.begin(), first_send, requests.receives.begin());
      std::copy(first_send, all.end(), requests.sends.begin());
      Withdraw(requests);
      state_->ThrowEnded();
    }
    pauses.Next(completed > 0);
  }
}

/// What another rank has begun to write into, or MPI has yet to send, is not given back to the caller, who
/// would free it: this thread then stays here until the group ends the process. Open MPI cannot withdraw what
/// is being sent.
void MpiChannel::Withdraw(Requests& requests) noexcept {
  const auto deadline = Clock::now() + kWithdrawal;
  {
    const std::lock_guard lock(state_->calls);
    for (auto& request : requests.receives) {
      if (request != MPI_REQUEST_NULL) MPI_Cancel(&request);
    }
  }
  const auto all_done = [this](std::vector<MPI_Request>& of) {
    const std::lock_guard lock(state_->calls);
    int done = 0;
    MPI_Testall(static_cast<int>(of.size()), of.data(), &done, MPI_STATUSES_IGNORE);
    return done != 0;
  };
  while (!(all_done(requests.receives) && all_done(requests.sends))) {
    std::this_thread::sleep_for(Clock::now() < deadline ? kLongestPause : std::chrono::hours(24));
  }
}

void MpiChannel::Broadcast(std::span<std::byte> bytes) {
  Requests requests(*state_);
  if (rank_ != 0) Receive(requests, 0, bytes);
  for (int to = 1; rank_ == 0 && to < count_; ++to) Send(requests, to, bytes);
  Wait(requests);
}

void MpiChannel::Scatter(std::span<const std::byte> all, std::span<std::byte> own) {
  const auto parts = rank_ == 0 ? static_cast<std::size_t>(count_) : 0;
  Require(all.size() == parts * own.size(), "Scatter: of rank 0 alone, a part for each rank");
  Requests requests(*state_);
  if (rank_ != 0) Receive(requests, 0, own);
  for (int to = 1; rank_ == 0 && to < count_; ++to) Send(requests, to, Part(all, to, own.size()));
  if (rank_ == 0 && own.data() != all.data()) Copy(Part(all, 0, own.size()), own);
  Wait(requests);
}

void MpiChannel::Gather(std::span<const std::byte> own, std::span<std::byte> all) {
  const auto parts = rank_ == 0 ? static_cast<std::size_t>(count_) : 0;
  Require(all.size() == parts * own.size(), "Gather: of rank 0 alone, a part of each rank");
  Requests requests(*state_);
  if (rank_ != 0) Send(requests, 0, own);
  for (int from = 1; rank_ == 0 && from < count_; ++from)
    Receive(requests, from, Part(all, from, own.size()));
  if (rank_ == 0) Copy(own, Part(all, 0, own.size()));
  Wait(requests);
}

void MpiChannel::SumAndScatter(std::span<const mpc::Word> words, std::span<mpc::Word> own) {
  Require(words.size() == static_cast<std::size_t>(count_) * own.size(),
          "SumAndScatter: as many words for each");
  const auto bytes = std::as_bytes(words);
  std::vector<mpc::Word> of_others(words.size() - own.size());
  Requests requests(*state_);
  for (int turn = 1; turn < count_; ++turn) {  // each rank begins with another one
    const int to = (rank_ + turn) % count_;
    const int from = (rank_ - turn + count_) % count_;
    Receive(requests, from, Part(std::as_writable_bytes(std::span(of_others)), turn - 1, own.size_bytes()));
    Send(requests, to, Part(bytes, to, own.size_bytes()));
  }
  Wait(requests);
  const auto mine = words.subspan(static_cast<std::size_t>(rank_) * own.size(), own.size());
  std::copy(mine.begin(), mine.end(), own.begin());
  for (std::size_t begin = 0; begin < of_others.size(); begin += own.size()) {
    for (std::size_t i = 0; i < own.size(); ++i) own[i] += of_others[begin + i];
  }
}

void MpiChannel::GatherToAll(std::span<const mpc::Word> own, std::span<mpc::Word> all) {
  Require(all.size() == static_cast<std::size_t>(count_) * own.size(), "GatherToAll: a part of each rank");
  const auto bytes = std::as_writable_bytes(all);
  Requests requests(*state_);
  for (int turn = 1; turn < count_; ++turn) {
    const int from = (rank_ - turn + count_) % count_;
    Receive(requests, from, Part(bytes, from, own.size_bytes()));
    Send(requests, (rank_ + turn) % count_, std::as_bytes(own));
  }
  std::copy(own.begin(), own.end(), all.begin() + static_cast<std::ptrdiff_t>(own.size()) * rank_);
  Wait(requests);
}

void MpiChannel::Barrier() {
  std::byte mine{1};
  std::vector<std::byte> of_others(static_cast<std::size_t>(count_));
  Requests requests(*state_);
  for (int turn = 1; turn < count_; ++turn) {
    const int from = (rank_ - turn + count_) % count_;
    Receive(requests, from, Part(std::span(of_others), from, 1));
    Send(requests, (rank_ + turn) % count_, {&mine, 1});
  }
  Wait(requests);
}

void MpiChannel::Abort() noexcept {
  try {
    state_->End("another thread of this rank has failed", std::current_exception());
  } catch (const std::exception&) {  // for lack of memory for a text: it has ended all the same
  }
}

std::unique_ptr<mpc::Ranks> MpiChannel::NewChannel() {
  return std::make_unique<MpiChannel>(state_, communicator_);
}

}  // namespace trefoil::runtime
