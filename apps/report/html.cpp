#include "apps/report/html.h"

#include <spdlog/fmt/fmt.h>

#include <cstddef>

namespace trefoil::apps {
namespace {

constexpr const char* kReplacement = "\xEF\xBF\xBD";

unsigned char ByteAt(std::string_view text, std::size_t at) { return static_cast<unsigned char>(text[at]); }

/// Bytes of the UTF-8 character that begins at `at`, 0 where there is none that XML allows.
/// Source: RFC 3629, section 4.
std::size_t CharacterLength(std::string_view text, std::size_t at) {
  const unsigned char first = ByteAt(text, at);
  if (first < 0x80) return first >= 0x20 || first == '\t' || first == '\n' ? (first == 0x7F ? 0 : 1) : 0;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || at + length > text.size()) return 0;
  for (std::size_t k = 1; k < length; ++k) {
    if ((ByteAt(text, at + k) & 0xC0U) != 0x80) return 0;
  }
  const unsigned char second = ByteAt(text, at + 1);
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool surrogate = first == 0xED && second >= 0xA0;
  const bool beyond = first == 0xF4 && second >= 0x90;
  const bool control = first == 0xC2 && second < 0xA0;
  const bool nothing = first == 0xEF && second == 0xBF && ByteAt(text, at + 2) >= 0xBE;  // U+FFFE, U+FFFF
  return overlong || surrogate || beyond || control || nothing ? 0 : length;
}

}  // namespace

std::string EscapeHtml(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = CharacterLength(text, at);
    switch (length == 1 ? text[at] : '\0') {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += length == 0 ? kReplacement : std::string(text.substr(at, length));
    }
    at += length == 0 ? 1 : length;
  }
  return out;
}

std::string HtmlNumber(double value, const std::string& text) {
  return fmt::format("<data value=\"{}\">{}</data>", value, EscapeHtml(text));
}

std::string HtmlElement(const char* name, std::string_view text) {
  return fmt::format("<{0}>{1}</{0}>", name, EscapeHtml(text));
}

std::string HtmlHeading(std::string_view text) { return HtmlElement("h2", text) + "\n"; }

std::string HtmlRow(const std::vector<std::string>& cells, const char* kind) {
  std::string out = "<tr>";
  for (const auto& cell : cells) out += fmt::format("<{0}>{1}</{0}>", kind, cell);
  return out + "</tr>\n";
}

std::string HtmlTable(const std::vector<std::string>& head, const std::string& rows) {
  return "<div class=\"wide\"><table>\n<thead>" + HtmlRow(head, "th") + "</thead>\n<tbody>\n" + rows +
         "</tbody>\n</table></div>\n";
}

}  // namespace trefoil::apps
