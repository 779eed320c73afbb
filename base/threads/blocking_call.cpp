#include "base/threads/blocking_call.h"

#include <mutex>

namespace trefoil {

struct BlockingCall::Registry {
  std::mutex mutex;
  std::list<Entry> calls;  // in the order in which they began
};

// Never destroyed: a thread may still be in a call when the process ends.
BlockingCall::Registry& BlockingCall::Calls() {
  static auto& registry = *new Registry;
  return registry;
}

BlockingCall::BlockingCall(const char* verb, const std::filesystem::path& file, Of of) {
  std::list<Entry> entry{{.verb = verb, .file = &file, .of = of, .begun = std::chrono::steady_clock::now()}};
  auto& registry = Calls();
  const std::lock_guard lock(registry.mutex);
  entry_ = entry.begin();
  registry.calls.splice(registry.calls.end(), entry);
}

BlockingCall::~BlockingCall() {
  auto& registry = Calls();
  const std::lock_guard lock(registry.mutex);
  registry.calls.erase(entry_);
}

std::optional<BlockingCall::UnderWay> BlockingCall::Oldest() {
  auto& registry = Calls();
  const std::lock_guard lock(registry.mutex);
  if (registry.calls.empty()) return std::nullopt;
  const auto& first = registry.calls.front();
  const auto age = std::chrono::steady_clock::now() - first.begun;
  return UnderWay{.what = std::string(first.verb) + " " + first.file->string(),
                  .age = std::chrono::duration_cast<std::chrono::milliseconds>(age),
                  .of = first.of};
}

}  // namespace trefoil
