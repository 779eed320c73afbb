#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "data/dataset/spec.h"

namespace trefoil::jobs {

/// Values of a category or a label, as an answer lists them: `red, "dark, blue" or navy`.
struct ValueList {
  std::vector<std::string> values;
  std::map<std::string, std::string> aliases{};  ///< another text, and the value that it stands for

  /// Whether all texts are numbers, so that equal ones may be taken for one value.
  [[nodiscard]] bool numeric() const;
};

/// Blanks and commas separate words; a value of more than letters, digits and the like is in double quotes,
/// with "" for a quote. Throws ConfigError for quotes without an end, a comma or `or` without a value, and a
/// value that occurs twice.
[[nodiscard]] ValueList ParseValues(std::string_view text);

/// The text that ParseValues() reads as these values.
[[nodiscard]] std::string ValuesText(const std::vector<std::string>& values);

/// What stands between blanks and commas.
[[nodiscard]] std::vector<std::string> WordsOf(std::string text);

/// A finite number; `what` names it in errors. Throws ConfigError.
[[nodiscard]] double ParseNumber(const std::string& text, const std::string& what);

}  // namespace trefoil::jobs
