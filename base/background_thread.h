#pragma once
#include <functional>
#include <thread>
#include <utility>

namespace trefoil {

/// A thread that is waited for when the object dies; whoever owns it makes its body end before that.
class BackgroundThread {
 public:
  /// `body` must not throw.
  explicit BackgroundThread(std::function<void()> body) : thread_(std::move(body)) {}
  ~BackgroundThread() { thread_.join(); }
  BackgroundThread(const BackgroundThread&) = delete;
  BackgroundThread& operator=(const BackgroundThread&) = delete;

 private:
  std::thread thread_;
};

}  // namespace trefoil
