#include "base/error_report.h"

#include <gtest/gtest.h>

#include <csignal>

#include "base/error.h"
#include "base/passing_error.h"

namespace trefoil {
namespace {

TEST(OneLine, LeavesWhatIsShown) {
  EXPECT_EQ(OneLine("plain, Zoë, 東京, 🙂, \u00a0"), "plain, Zoë, 東京, 🙂, \u00a0");
  EXPECT_EQ(OneLine("two\nlines\tand\x1b[31m\x7f\n\n"), "two lines and [31m ");
}

TEST(OneLine, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(OneLine("a\u009b31mb\u0080\u009fc"), "a\\u{9b}31mb\\u{80}\\u{9f}c");  // C1: CSI in one character
  EXPECT_EQ(OneLine("a\x9b"
                    "31m"),
            "a\\x9b31m");  // the same in eight bits
  EXPECT_EQ(OneLine("cut \xe6\x9d"), "cut \\xe6\\x9d");
  EXPECT_EQ(OneLine("\xc0\x9b \xff"), "\\xc0\\x9b \\xff");
  EXPECT_EQ(OneLine("\u202etxt.exe\u2028\u2066"), "\\u{202e}txt.exe\\u{2028}\\u{2066}");
  EXPECT_EQ(OneLine("\u200d\u00ad\u3164\ufe0f"), "\\u{200d}\\u{ad}\\u{3164}\\u{fe0f}");
  EXPECT_EQ(OneLine("Bonn\u200b\u2060\ufeff\U000e0041"), "Bonn\\u{200b}\\u{2060}\\u{feff}\\u{e0041}");
  EXPECT_EQ(OneLine("\u061c\u200f"), "\\u{61c}\\u{200f}");
}

TEST(ExitCodeOf, TellsWhatMayPassFromWhatNeedsAPerson) {
  EXPECT_EQ(ExitCodeOf(PassingError("a port is taken")), 6);
  EXPECT_EQ(ExitCodeOf(ConfigError("a key is wrong")), 2);
  EXPECT_EQ(ExitCodeOf(StoppedError(SIGTERM, "stopped by signal 15 after step 7")), 143);
  EXPECT_EQ(ExitCodeOf(StoppedError(SIGINT, "stopped by signal 2")), 130);
}

}  // namespace
}  // namespace trefoil
