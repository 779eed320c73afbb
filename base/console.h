#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <ostream>
#include <streambuf>
#include <string_view>

namespace trefoil {

/// Standard output or standard error of a process that others wait for, so that it must not wait for whoever
/// reads along: the rest of a text that is not taken in time is dropped. From then on nothing is waited for,
/// until a text is taken again; a line before it says how many are missing. A text that cannot be written,
/// since its reader has gone or the disk is full, is lost. May be used by any thread, but for the stream.
class Console {
 public:
  /// `name`: what BlockingCall says is written. The descriptor must outlive the object.
  Console(int descriptor, std::filesystem::path name,
          std::chrono::milliseconds patience = std::chrono::seconds(1));

  /// Returns after little more than the patience for each 4 KiB, whatever a pipe, a socket or a terminal
  /// does; a regular file may hang with its storage, which a BlockingCall names.
  void Write(std::string_view text);
  /// Writes each text that it is given at once; for one thread at a time.
  [[nodiscard]] std::ostream& stream() { return stream_; }
  [[nodiscard]] const std::filesystem::path& name() const { return name_; }
  /// How many lines have been dropped so far.
  [[nodiscard]] std::uint64_t dropped() const;

 private:
  class Buffer : public std::streambuf {
   public:
    explicit Buffer(Console& console) : console_(console) {}

   protected:
    std::streamsize xsputn(const char* text, std::streamsize count) override;
    int_type overflow(int_type character) override;

   private:
    Console& console_;
  };

  [[nodiscard]] std::string_view Put(std::string_view text, std::chrono::milliseconds patience) const;
  [[nodiscard]] bool Ready(std::chrono::steady_clock::time_point deadline) const;
  void Drop(std::string_view text);

  int descriptor_;
  std::filesystem::path name_;
  std::chrono::milliseconds patience_;
  Buffer buffer_{*this};
  std::ostream stream_{&buffer_};

  mutable std::mutex mutex_;  // guards the next five; not held while writing
  std::condition_variable freed_;
  bool busy_ = false;
  bool torn_ = false;  // the last text was taken in part
  std::uint64_t missing_ = 0;
  std::uint64_t dropped_ = 0;
};

[[nodiscard]] Console& StandardOutput();
[[nodiscard]] Console& StandardError();

}  // namespace trefoil
