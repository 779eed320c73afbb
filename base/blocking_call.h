#pragma once
#include <chrono>
#include <filesystem>
#include <list>
#include <optional>
#include <string>

namespace trefoil {

/// Says, as long as it lives, that this thread has asked the system for something that may never end, such as
/// to write to storage that hangs; so that another thread can name it.
class BlockingCall {
 public:
  /// As "writing", "runs/first/record.json". Both must outlive the object.
  BlockingCall(const char* verb, const std::filesystem::path& file);
  ~BlockingCall();
  BlockingCall(const BlockingCall&) = delete;
  BlockingCall& operator=(const BlockingCall&) = delete;

  struct UnderWay {
    std::string what;  ///< "writing runs/first/record.json"
    std::chrono::milliseconds age{0};
  };
  /// The call of this process that began first of those that have not ended.
  [[nodiscard]] static std::optional<UnderWay> Oldest();

 private:
  struct Entry {
    const char* verb;
    const std::filesystem::path* file;
    std::chrono::steady_clock::time_point begun;
  };
  struct Registry;
  static Registry& Calls();

  std::list<Entry>::iterator entry_;
};

}  // namespace trefoil
