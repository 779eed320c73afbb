#include "apps/report/html.h"

#include <gtest/gtest.h>

#include <limits>

namespace trefoil::apps {
namespace {

constexpr const char* kNoCharacter = "\xEF\xBF\xBD";

TEST(EscapeHtml, LeavesNothingThatMarkupIsMadeOf) {
  EXPECT_EQ(EscapeHtml("<script>alert('a' & \"b\")</script>"),
            "&lt;script&gt;alert(&#39;a&#39; &amp; &quot;b&quot;)&lt;/script&gt;");
  EXPECT_EQ(EscapeHtml("&amp;"), "&amp;amp;");
  EXPECT_EQ(EscapeHtml(""), "");
  EXPECT_EQ(EscapeHtml("line\n\tnext"), "line\n\tnext");
}

TEST(EscapeHtml, KeepsCharactersOfEveryLength) {
  for (const auto* text : {"\xC2\xA0", "\xC3\xA9", "\xE2\x82\xAC", "\xED\x9F\xBF", "\xEE\x80\x80",
                           "\xF0\x9F\x98\x80", "\xF4\x8F\xBF\xBF"})
    EXPECT_EQ(EscapeHtml(text), text);
}

TEST(EscapeHtml, ReplacesWhatXmlDoesNotAllow) {
  EXPECT_EQ(EscapeHtml(std::string_view("a\0b", 3)), std::string("a") + kNoCharacter + "b");
  for (const auto* text : {"\x1B", "\x7F", "\r", "\x80", "\xFF", "\xC3", "\xE2\x82", "\xF0\x9F\x98"})
    EXPECT_EQ(EscapeHtml(text).substr(0, 3), kNoCharacter);
  // Overlong forms, surrogates, beyond U+10FFFF, C1 controls, U+FFFE: a byte at a time.
  for (const auto* text : {"\xC0\xBC", "\xE0\x80\xBC", "\xF0\x80\x80\xBC", "\xED\xA0\x80", "\xF4\x90\x80\x80",
                           "\xC2\x85", "\xEF\xBF\xBE"})
    EXPECT_EQ(EscapeHtml(text).substr(0, 3), kNoCharacter) << text;
  EXPECT_EQ(EscapeHtml("\xE2<"), std::string(kNoCharacter) + "&lt;");  // a lead byte swallows no markup
}

TEST(HtmlNumber, KeepsAllDigits) {
  EXPECT_EQ(HtmlNumber(0.1 + 0.2, "0.3"), "<data value=\"0.30000000000000004\">0.3</data>");
  EXPECT_EQ(HtmlNumber(std::numeric_limits<double>::infinity(), "<none>"),
            "<data value=\"inf\">&lt;none&gt;</data>");
}

}  // namespace
}  // namespace trefoil::apps
