#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace trefoil::apps {

/// `text` as the content of an element or of a quoted attribute, in HTML and in XML: the five characters that
/// mean something there become entities; bytes that are no UTF-8, and control characters but tab and line
/// feed, become U+FFFD.
[[nodiscard]] std::string EscapeHtml(std::string_view text);

/// <data value="VALUE">TEXT</data>: a number as people read it, with the number itself, in the digits that
/// read back the same, for programs. An infinite one has the value "inf".
[[nodiscard]] std::string HtmlNumber(double value, const std::string& text);

/// An element with text in it, escaped: <NAME>TEXT</NAME>.
[[nodiscard]] std::string HtmlElement(const char* name, std::string_view text);

/// A section's heading, escaped.
[[nodiscard]] std::string HtmlHeading(std::string_view text);

/// A table's row of cells, which are HTML; `kind` is td or th.
[[nodiscard]] std::string HtmlRow(const std::vector<std::string>& cells, const char* kind = "td");

/// A table of such rows under cells of a head, which scrolls by itself where it is wider than the page.
[[nodiscard]] std::string HtmlTable(const std::vector<std::string>& head, const std::string& rows);

}  // namespace trefoil::apps
