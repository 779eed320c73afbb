#pragma once
#include <chrono>
#include <filesystem>
#include <list>
#include <optional>
#include <string>

namespace trefoil {

/// Says, as long as it lives, that this thread has asked for something that may never end, such as to write
/// to storage that hangs; so that another thread can name it.
class BlockingCall {
 public:
  /// Who is asked: the system, or the program of a session (VectorProgram).
  enum class Of { kStorage, kProgram };

  /// As "writing", "runs/first/record.json". Both must outlive the object.
  BlockingCall(const char* verb, const std::filesystem::path& file, Of of = Of::kStorage);
  ~BlockingCall();
  BlockingCall(const BlockingCall&) = delete;
  BlockingCall& operator=(const BlockingCall&) = delete;

  struct UnderWay {
    std::string what;  ///< "writing runs/first/record.json"
    std::chrono::milliseconds age{0};
    Of of = Of::kStorage;
  };
  /// The call of this process that began first of those that have not ended.
  [[nodiscard]] static std::optional<UnderWay> Oldest();

 private:
  struct Entry {
    const char* verb;
    const std::filesystem::path* file;
    Of of;
    std::chrono::steady_clock::time_point begun;
  };
  struct Registry;
  static Registry& Calls();

  std::list<Entry>::iterator entry_;
};

}  // namespace trefoil
