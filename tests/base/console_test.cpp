#include "base/console.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <thread>

namespace trefoil {
namespace {

using std::chrono::milliseconds;

/// A pipe, whose end to write waits where it is full.
class ConsoleTest : public testing::Test {
 protected:
  ConsoleTest() { EXPECT_EQ(pipe(ends_.data()), 0); }
  ~ConsoleTest() override {
    for (const int end : ends_) close(end);
  }
  ConsoleTest(const ConsoleTest&) = delete;
  ConsoleTest& operator=(const ConsoleTest&) = delete;

  void Wait(std::size_t end, bool wait) { EXPECT_EQ(fcntl(ends_.at(end), F_SETFL, wait ? 0 : O_NONBLOCK), 0); }
  void Fill() {
    Wait(1, false);
    for (const std::size_t size : {4096U, 1U}) {
      const std::string dots(size, '.');
      while (write(ends_[1], dots.data(), dots.size()) > 0) {
      }
    }
    Wait(1, true);
  }
  /// All that is in the pipe, without the dots that filled it.
  std::string Read() {
    Wait(0, false);
    std::string text;
    std::array<char, 4096> piece{};
    for (ssize_t count = 0; (count = read(ends_[0], piece.data(), piece.size())) > 0;)
      text.append(piece.data(), static_cast<std::size_t>(count));
    return text.substr(std::min(text.find_first_not_of('.'), text.size()));
  }

  std::array<int, 2> ends_{};
};

TEST_F(ConsoleTest, WritesWhatIsTaken) {
  Console console(ends_[1], "the pipe", milliseconds(100));
  console.Write("one\n");
  console.stream() << "two" << '\n' << std::flush;
  EXPECT_EQ(Read(), "one\ntwo\n");
  EXPECT_EQ(console.dropped(), 0U);
}

TEST_F(ConsoleTest, WaitsOnceForAReaderAndThenSaysWhatIsMissing) {
  Fill();
  const milliseconds patience(200);
  Console console(ends_[1], "the pipe", patience);
  const auto begun = std::chrono::steady_clock::now();
  for (int k = 0; k < 1000; ++k) console.Write("lost\n");  // without end where it waited for a reader
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 500 * patience);
  console.stream() << "lost\nand lost\n" << std::flush;
  EXPECT_TRUE(console.stream().good());
  EXPECT_EQ(console.dropped(), 1002U);
  EXPECT_EQ(Read(), "");
  console.Write("read\n");
  console.Write("again\n");
  EXPECT_EQ(Read(), "[lines missing here, which nobody read in time: 1002]\nread\nagain\n");
  EXPECT_EQ(console.dropped(), 1002U);
}

TEST_F(ConsoleTest, EndsALineThatWasTakenInPart) {
  Console console(ends_[1], "the pipe", milliseconds(100));
  console.Write(std::string(1 << 21, 'x') + "\n");  // more than a pipe holds
  EXPECT_EQ(console.dropped(), 1U);
  EXPECT_NE(Read().find('x'), std::string::npos);
  console.Write("next\n");
  EXPECT_EQ(Read(), "\n[lines missing here, which nobody read in time: 1]\nnext\n");
}

TEST_F(ConsoleTest, WritesALongTextToASlowReader) {
  Console console(ends_[1], "the pipe", milliseconds(60'000));
  const std::string text = std::string(1 << 20, 'x') + "\n";
  std::thread writer([&] { console.Write(text); });
  std::string found;
  Wait(0, true);
  std::array<char, 4096> piece{};
  while (found.size() < text.size()) {
    const auto count = read(ends_[0], piece.data(), piece.size());
    ASSERT_GT(count, 0);
    found.append(piece.data(), static_cast<std::size_t>(count));
  }
  writer.join();
  EXPECT_EQ(found, text);
  EXPECT_EQ(console.dropped(), 0U);
}

TEST(Console, LosesWhatCannotBeWritten) {
  const int full = open("/dev/full", O_WRONLY);
  ASSERT_GE(full, 0);
  Console console(full, "a full disk");
  console.Write("lost\n");
  EXPECT_EQ(console.dropped(), 0U);
  close(full);
}

// poll() calls a terminal ready that has not room for a whole line: a write would wait.
TEST(ConsoleOnATerminal, DoesNotWaitForOneThatNobodyReads) {
  int reader = -1;
  int terminal = -1;
  ASSERT_EQ(openpty(&reader, &terminal, nullptr, nullptr, nullptr), 0);
  Console console(terminal, "the terminal", milliseconds(50));
  for (int k = 0; k < 1000; ++k) console.Write(std::string(79, '.') + "\n");
  EXPECT_GT(console.dropped(), 0U);
  EXPECT_LT(console.dropped(), 1000U);
  close(terminal);
  close(reader);
}

}  // namespace
}  // namespace trefoil
