#include "tests/goldens/compare.h"

#include <gtest/gtest.h>
#include <spdlog/fmt/fmt.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

namespace trefoil::goldens {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> LinesOf(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string ReadText(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

/// What is between the lines that both begin with and those that both end with.
std::string Difference(const std::string& golden, const std::string& now) {
  const auto before = LinesOf(golden);
  const auto after = LinesOf(now);
  const auto most = std::min(before.size(), after.size());
  std::size_t same = 0;
  while (same < most && before[same] == after[same]) ++same;
  std::size_t end = 0;
  while (end < most - same && before[before.size() - 1 - end] == after[after.size() - 1 - end]) ++end;
  constexpr std::size_t kShown = 60;
  std::string text = fmt::format("from line {} on\n", same + 1);
  const auto show = [&](char sign, const std::vector<std::string>& lines) {
    for (std::size_t k = same; k < lines.size() - end; ++k) {
      if (k - same == kShown) {
        text += fmt::format("{} ... {} more lines\n", sign, lines.size() - end - k);
        break;
      }
      text += fmt::format("{} {}\n", sign, lines[k]);
    }
  };
  show('-', before);
  show('+', after);
  return text;
}

}  // namespace

Goldens& TheGoldens() {
  static Goldens goldens{.folder = TREFOIL_SOURCE_DIR "/tests/goldens"};
  return goldens;
}

void ExpectGolden(const std::string& name, const nlohmann::ordered_json& json) {
  const auto file = TheGoldens().folder / name;
  const auto now = json.dump(1) + "\n";
  if (TheGoldens().renew) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << now;
    return;
  }
  const auto golden = ReadText(file);
  EXPECT_TRUE(golden == now) << name << ": " << Difference(golden, now)
                             << "If that is meant, goldens_test --renew writes it.";
}

void ExpectNoOtherGoldens(const std::string& folder, const std::set<std::string>& names) {
  for (const auto& entry : fs::directory_iterator(TheGoldens().folder / folder)) {
    if (names.count(entry.path().filename().string()) != 0) continue;
    if (TheGoldens().renew) {
      fs::remove(entry.path());
    } else {
      ADD_FAILURE() << entry.path() << ": a golden of nothing; goldens_test --renew removes it.";
    }
  }
}

nlohmann::ordered_json InTwelveDigits(const nlohmann::ordered_json& json) {
  if (json.is_number_float()) return std::strtod(fmt::format("{:.12g}", json.get<double>()).c_str(), nullptr);
  if (!json.is_structured()) return json;
  auto out = json;
  for (auto& element : out) element = InTwelveDigits(element);
  return out;
}

}  // namespace trefoil::goldens
