#pragma once
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "base/error.h"

namespace trefoil {

/// Makes values ahead, in a thread of its own and in order; at most `depth` of them wait to be taken. One
/// consumer.
template <typename T>
class Prefetcher {
 public:
  /// `make` is called in that thread only. It is given a flag that is set once nothing more is wanted:
  /// it should look at the flag often, and return at once, with any value, when it is set.
  using Make = std::function<T(const std::atomic<bool>& unwanted)>;

  /// Throws ContractError unless depth >= 1.
  Prefetcher(std::size_t depth, Make make) : depth_(depth), make_(std::move(make)) {
    Require(depth >= 1, "Prefetcher: a depth of at least one");
    producer_ = std::thread([this] { Produce(); });
  }

  /// Waits for a call of `make` that is under way, then drops what nobody took.
  ~Prefetcher() {
    {
      const std::lock_guard lock(mutex_);
      unwanted_ = true;
    }
    room_.notify_one();
    producer_.join();
  }

  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  /// The next value, waited for. Once `make` has thrown, and what it made before is taken, rethrows that in
  /// this and every later call.
  [[nodiscard]] T Next() {
    T value = Take();
    MakeRoom();
    return value;
  }

  /// Gives the next value to `use`, whose result it returns. There is no room for another one before `use`
  /// has ended, so that what is made ahead takes no processor from what is waited for. Throws as Next, and
  /// what `use` throws.
  template <typename Use>
  auto UseNext(Use use) {
    const RoomAtEnd room(*this);  // which outlives the value
    const T value = Take();
    return use(value);
  }

  /// Waits until as many values as may wait do so, or `make` has thrown.
  void WaitUntilFull() {
    std::unique_lock lock(mutex_);
    made_.wait(lock, [this] { return waiting_.size() == depth_ || failure_; });
  }

 private:
  /// Makes room for what was taken when it dies.
  class RoomAtEnd {
   public:
    explicit RoomAtEnd(Prefetcher& of) : of_(of) {}
    ~RoomAtEnd() { of_.MakeRoom(); }
    RoomAtEnd(const RoomAtEnd&) = delete;
    RoomAtEnd& operator=(const RoomAtEnd&) = delete;

   private:
    Prefetcher& of_;
  };

  /// The next value, whose place stays taken until MakeRoom.
  T Take() {
    std::unique_lock lock(mutex_);
    made_.wait(lock, [this] { return !waiting_.empty() || failure_; });
    if (waiting_.empty()) std::rethrow_exception(failure_);
    T value = std::move(waiting_.front());
    waiting_.pop_front();
    taken_ = 1;
    return value;
  }

  void MakeRoom() {
    {
      const std::lock_guard lock(mutex_);
      taken_ = 0;
    }
    room_.notify_one();
  }

  void Produce() {
    try {
      for (;;) {
        {
          std::unique_lock lock(mutex_);
          room_.wait(lock, [this] { return waiting_.size() + taken_ < depth_ || unwanted_; });
          if (unwanted_) return;
        }
        T value = make_(unwanted_);
        const std::lock_guard lock(mutex_);
        waiting_.push_back(std::move(value));
        made_.notify_one();
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
      made_.notify_one();
    }
  }

  const std::size_t depth_;
  const Make make_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable room_;
  std::condition_variable made_;
  std::deque<T> waiting_;
  std::size_t taken_ = 0;  // values in use that still take room
  std::exception_ptr failure_{};
  std::atomic<bool> unwanted_ = false;  // written under the mutex, read by make_ without
  std::thread producer_;
};

}  // namespace trefoil
