#pragma once
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace trefoil {

/// As many threads as were asked for, or as the machine has cores for 0; at least 1.
[[nodiscard]] std::size_t ThreadsFor(std::size_t asked);

/// The process's worker threads. One pool is made in main() (or by a test) and handed down; nothing else
/// makes threads for computation. A pool of one thread runs everything in the caller.
class ThreadPool {
 public:
  /// `threads` >= 1 counts the calling thread, so threads - 1 workers are started.
  explicit ThreadPool(std::size_t threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  [[nodiscard]] std::size_t threads() const { return workers_.size() + 1; }

  /// Calls body(begin, end) on disjoint ranges that cover [0, count), each of at least `grain` items but for
  /// the last, and returns when all are done. Rethrows the first exception. Calls from several threads take
  /// turns; body must not call ParallelFor of the same pool.
  void ParallelFor(std::size_t count, std::size_t grain,
                   const std::function<void(std::size_t, std::size_t)>& body);

 private:
  struct Work {
    const std::function<void(std::size_t, std::size_t)>* body = nullptr;
    std::size_t count = 0;
    std::size_t chunk = 1;
    std::size_t next = 0;
    std::size_t running = 0;
    std::exception_ptr failure{};
  };

  void WorkerLoop();
  void RunChunks(std::unique_lock<std::mutex>& lock);

  std::mutex turn_;   // held by the caller whose loop is running
  std::mutex mutex_;  // guards what follows
  std::condition_variable wake_;
  std::condition_variable done_;
  Work work_;
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace trefoil
