#include "base/threads/thread_pool.h"

#include <algorithm>

#include "base/error.h"

namespace trefoil {

std::size_t ThreadsFor(std::size_t asked) {
  return asked != 0 ? asked : std::max(1U, std::thread::hardware_concurrency());
}

ThreadPool::ThreadPool(std::size_t threads) {
  Require(threads >= 1, "ThreadPool: at least one thread");
  for (std::size_t i = 1; i < threads; ++i) workers_.emplace_back([this] { WorkerLoop(); });
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (auto& worker : workers_) worker.join();
}

void ThreadPool::ParallelFor(std::size_t count, std::size_t grain,
                             const std::function<void(std::size_t, std::size_t)>& body) {
  Require(grain >= 1, "ParallelFor: a grain of at least one item");
  if (workers_.empty() || count <= grain) {
    if (count > 0) body(0, count);
    return;
  }
  const std::lock_guard turn(turn_);
  std::unique_lock lock(mutex_);
  const std::size_t even = (count + threads() - 1) / threads();
  work_ = {.body = &body, .count = count, .chunk = std::max(grain, even)};
  wake_.notify_all();
  RunChunks(lock);
  done_.wait(lock, [this] { return work_.running == 0; });
  work_.body = nullptr;
  if (work_.failure) std::rethrow_exception(work_.failure);
}

void ThreadPool::WorkerLoop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stopping_ || (work_.body != nullptr && work_.next < work_.count); });
    if (stopping_) return;
    RunChunks(lock);
  }
}

void ThreadPool::RunChunks(std::unique_lock<std::mutex>& lock) {
  while (work_.next < work_.count) {
    const std::size_t begin = work_.next;
    const std::size_t end = std::min(begin + work_.chunk, work_.count);
    work_.next = end;
    ++work_.running;
    lock.unlock();
    std::exception_ptr failure;
    try {
      (*work_.body)(begin, end);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (failure && !work_.failure) work_.failure = failure;
    if (--work_.running == 0) done_.notify_all();
  }
}

}  // namespace trefoil
