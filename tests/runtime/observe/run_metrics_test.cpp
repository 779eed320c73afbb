#include "runtime/observe/run_metrics.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/secrets/sha256.h"

namespace trefoil::runtime {
namespace {

using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr const char* kHostile = "</script><img src=x onerror=\"alert('1')\"> \u20ac \x1b[2J";

/// What stands between two texts, once.
std::string Between(const std::string& text, const std::string& begin, const std::string& end) {
  const auto from = text.find(begin) + begin.size();
  return text.substr(from, text.find(end, from) - from);
}

double Metric(const std::string& text, const std::string& name) {
  return std::stod(Between("\n" + text, "\n" + name + " ", "\n"));
}

class Pages : public testing::Test {
 protected:
  ~Pages() override { std::filesystem::remove(file_); }

  [[nodiscard]] Json Status() const { return Json::parse(metrics_.Answer("/status.json").body); }

  std::filesystem::path file_ =
      std::filesystem::temp_directory_path() / ("trefoil-log-" + std::to_string(getpid()));
  jobs::PartyFile party_ = [] {
    jobs::PartyFile party;
    party.id = 1;
    return party;
  }();
  RunMetrics metrics_{party_, "party.toml"};
};

TEST_F(Pages, OneFileThatTakesNothingFromElsewhere) {
  const auto page = metrics_.Answer("/");
  EXPECT_EQ(page.status, 200U);
  EXPECT_EQ(page.type, "text/html; charset=utf-8");
  for (const char* outside : {"src=", "https:", "url(", "@import", "//cdn", "style=", " onload", " onclick"})
    EXPECT_THAT(page.body, Not(HasSubstr(outside)));
  // The one address is the name of a kind of element, and the one link an empty picture, in place of
  // /favicon.ico.
  auto rest = page.body;
  for (const std::string known : {"http://www.w3.org/2000/svg", "href=\"data:,\""}) {
    ASSERT_THAT(rest, HasSubstr(known));
    rest.erase(rest.find(known), known.size());
  }
  EXPECT_THAT(rest, Not(HasSubstr("http:")));
  EXPECT_THAT(rest, Not(HasSubstr("href")));
}

TEST_F(Pages, MakesNoMarkupOrCodeOfWhatItIsTold) {
  const auto page = metrics_.Answer("/").body;
  for (const char* door :
       {"innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "Function(", "srcdoc"})
    EXPECT_THAT(page, Not(HasSubstr(door)));
}

TEST_F(Pages, NamesItsScriptAndStyleInItsPolicy) {
  const auto page = metrics_.Answer("/");
  EXPECT_THAT(page.policy, HasSubstr("default-src 'none'; "));
  EXPECT_THAT(page.policy, HasSubstr("connect-src 'self'; "));
  EXPECT_THAT(page.policy, HasSubstr("frame-ancestors 'none'"));
  EXPECT_THAT(page.policy, Not(HasSubstr("unsafe")));
  const auto script = Between(page.body, "<script>", "</script>");
  const auto style = Between(page.body, "<style>", "</style>");
  EXPECT_THAT(page.policy, HasSubstr("script-src 'sha256-" + Sha256Base64(script) + "'; "));
  EXPECT_THAT(page.policy, HasSubstr("style-src 'sha256-" + Sha256Base64(style) + "'; "));
}

TEST_F(Pages, TellHostileTextsAsTheyAre) {
  metrics_.SetJob({.name = kHostile, .type = "dpsgd", .title = kHostile, .hash = "00", .covered = kHostile});
  metrics_.SetStorage(std::chrono::seconds(12), kHostile);
  metrics_.SetReady(true);
  const auto log = std::make_shared<RunLog>(file_, jobs::LogSettings{}, 1);
  metrics_.SetLog(log);
  log->Write(jobs::LogLevel::kInfo, std::string("party 2: ") + kHostile + "\nsecond line \xff");
  log->Write(jobs::LogLevel::kDebug, "below the level of party.log");
  const auto answer = metrics_.Answer("/status.json");
  EXPECT_EQ(answer.type, "application/json");
  EXPECT_THAT(answer.policy, HasSubstr("default-src 'none'"));
  EXPECT_TRUE(
      std::all_of(answer.body.begin(), answer.body.end(), [](char c) { return c >= ' ' && c < 127; }));
  const auto status = Json::parse(answer.body);
  EXPECT_EQ(status["job"]["name"], kHostile);
  EXPECT_EQ(status["job"]["title"], kHostile);
  EXPECT_EQ(status["epsilon"]["covered"], kHostile);
  EXPECT_THAT(status["obstacle"].get<std::string>(), HasSubstr("<img src=x"));
  ASSERT_EQ(status["log"].size(), 1U);
  const auto line = status["log"][0].get<std::string>();
  EXPECT_THAT(line, HasSubstr(" info party 2: </script><img src=x"));
  EXPECT_EQ(line.find('\n'), std::string::npos);
}

TEST_F(Pages, HaveTheNumbersOfTheMetrics) {
  metrics_.SetPeer(0, PeerState::kConnected);
  metrics_.SetPeer(2, PeerState::kLost);
  metrics_.SetWaiting(2, std::chrono::milliseconds(12500));
  metrics_.SetReady(true);
  metrics_.SetDropped(3);
  metrics_.SetJob({.name = "a",
                   .type = "b",
                   .title = "c",
                   .hash = "d",
                   .planned = {.outsider = 3, .insider = kInfinity},
                   .delta = 1e-5,
                   .first = jobs::FirstEpsilon::kInsider});
  metrics_.SetBudgets({{.what = "ledger",
                        .answer = {.spent = 1.25, .alone = 3, .after = 4.5, .head = {}},
                        .epsilon_cap = 8,
                        .delta = 1e-6,
                        .line = {}}});
  metrics_.SetStep({.step = 0, .steps = 400});
  metrics_.SetStep({.step = 100,
                    .steps = 400,
                    .seconds = 50,
                    .rounds = 1234,
                    .bytes_sent = 5000000,
                    .bytes_sent_to = {3000000, 0, 2000000},
                    .epsilon_outsider = 0.51234,
                    .epsilon_insider = kInfinity});
  const auto text = metrics_.Answer("/metrics").body;
  const auto status = Status();
  const auto& progress = status["progress"];
  EXPECT_EQ(progress["step"], Metric(text, "trefoil_step"));
  EXPECT_EQ(progress["steps"], Metric(text, "trefoil_steps"));
  EXPECT_EQ(progress["rounds"], Metric(text, "trefoil_rounds_total"));
  EXPECT_EQ(progress["left"]["value"], 150);
  EXPECT_EQ(progress["left"]["text"], "2 min 30 s");
  EXPECT_EQ(status["pace"]["steps"]["value"], 2);
  EXPECT_EQ(status["epsilon"]["first"], "insider");
  const auto& outsider = status["epsilon"]["outsider"];
  EXPECT_EQ(outsider["now"]["value"], Metric(text, "trefoil_epsilon{adversary=\"outsider\"}"));
  EXPECT_EQ(outsider["now"]["text"], "0.513");  // never rounded down
  EXPECT_EQ(outsider["planned"]["text"], "3.000");
  EXPECT_EQ(status["epsilon"]["insider"]["now"], Json({{"value", nullptr}, {"text", "infinite"}}));
  EXPECT_EQ(status["ledgers"][0]["after"]["value"], 4.5);
  EXPECT_EQ(status["ledgers"][0]["cap"]["text"], "8");
  ASSERT_EQ(status["peers"].size(), 2U);
  EXPECT_EQ(status["peers"][0]["state"], "connected");
  EXPECT_EQ(status["peers"][0]["bytes_sent"]["value"], Metric(text, "trefoil_bytes_sent_total{peer=\"0\"}"));
  EXPECT_EQ(status["peers"][1]["party"], 2);
  EXPECT_EQ(status["peers"][1]["state"], "lost");
  EXPECT_EQ(status["peers"][1]["waiting"]["value"], Metric(text, "trefoil_waiting_seconds{peer=\"2\"}"));
  EXPECT_EQ(status["obstacle"], "waiting 12 s for party 2");
  EXPECT_EQ(status["dropped"], Metric(text, "trefoil_connections_dropped_total"));
  EXPECT_EQ(status["course"], Json::parse("[[0, 0.0, 0.0], [100, 0.51234, null]]"));
  EXPECT_EQ(metrics_.Answer("/readyz").status, 503U);
}

TEST_F(Pages, AreKnownByTheirPathsAlone) {
  for (const char* path : {"/index.html", "/status", "//", "", "/Status.json"})
    EXPECT_EQ(metrics_.Answer(path).status, 404U) << path;
  EXPECT_TRUE(Status()["pace"].is_null());
  EXPECT_TRUE(Status()["log"].empty());
}

TEST(Course, KeepsTheFirstTheLastAndAFewHundredBetween) {
  Course course;
  for (int step = 0; step <= 100000; ++step) {
    course.Add({.step = step, .steps = 100000});
    const auto& points = course.points();
    ASSERT_EQ(points.front().step, 0);
    ASSERT_EQ(points.back().step, step);
    ASSERT_LE(points.size(), 241U);
    ASSERT_GE(points.size(), std::min<std::size_t>(120, static_cast<std::size_t>(step) + 1));
  }
  const auto& points = course.points();
  for (std::size_t k = 2; k + 1 < points.size(); ++k)
    EXPECT_EQ(points[k].step - points[k - 1].step, points[1].step) << k;
}

}  // namespace
}  // namespace trefoil::runtime
