#include "base/threads/run_both.h"

#include <exception>
#include <mutex>
#include <thread>

namespace trefoil {

void RunBoth(const std::function<void()>& first, const std::function<void()>& second,
             const std::function<void()>& on_failure) {
  std::mutex mutex;
  std::exception_ptr failure;
  const auto run = [&](const std::function<void()>& body) {
    try {
      body();
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (failure) return;
      failure = std::current_exception();
      on_failure();
    }
  };
  std::thread other(run, std::cref(second));
  run(first);
  other.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace trefoil
