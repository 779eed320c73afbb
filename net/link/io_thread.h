#pragma once
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <utility>

#include "net/link/asio.h"

namespace trefoil::net {

/// One thread that runs an io_context. Everything that touches a socket happens on it.
class IoThread {
 public:
  /// `on_no_memory` is called on the thread when a handler ended for lack of memory; the others go on.
  explicit IoThread(std::function<void()> on_no_memory = [] {})
      : on_no_memory_(std::move(on_no_memory)),
        guard_(asio::make_work_guard(context_)),
        thread_([this] { Run(); }) {}
  ~IoThread() { Drain(std::chrono::milliseconds(0)); }
  IoThread(const IoThread&) = delete;
  IoThread& operator=(const IoThread&) = delete;

  asio::io_context& context() { return context_; }

  /// Waits until no operation is left, at most `limit`, where there is one, then ends the thread; what is left
  /// is dropped. Of several threads at once, the shortest limit counts. Returns whether nothing was dropped.
  bool Drain(std::optional<std::chrono::milliseconds> limit) {
    {
      std::unique_lock lock(mutex_);
      guard_.reset();
      const auto finished = [this] { return finished_; };
      if (!limit) {
        idle_.wait(lock, finished);
      } else if (!idle_.wait_for(lock, *limit, finished)) {
        cut_short_ = true;
      }
    }
    context_.stop();
    const std::lock_guard lock(joining_);
    if (thread_.joinable()) thread_.join();
    return !cut_short_;
  }

 private:
  void Run() {
    while (!RunUntilNoMemory()) on_no_memory_();
    const std::lock_guard lock(mutex_);
    finished_ = true;
    idle_.notify_all();
  }

  /// Whether all is done.
  bool RunUntilNoMemory() {
    try {
      context_.run();
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  asio::io_context context_{1};
  std::function<void()> on_no_memory_;
  asio::executor_work_guard<asio::io_context::executor_type> guard_;
  std::mutex mutex_;
  std::condition_variable idle_;
  bool finished_ = false;
  bool cut_short_ = false;
  std::mutex joining_;
  std::thread thread_;  // last: it uses the others
};

}  // namespace trefoil::net
