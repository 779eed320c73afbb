#include "trefoil/run.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>

#include "net/http/http_endpoint.h"
#include "tests/api/three_parties.h"
#include "trefoil/error.h"
#include "trefoil/privacy.h"

namespace trefoil {
namespace {

using testing_support::AtThree;
using testing_support::ThreePartyFiles;

constexpr const char* kHistogramJob = R"(version = 1
type = "histogram"
name = "colours"
[data]
name = "colours"
format = "csv"
rows = [4, 4, 4]
header = false
columns = ["colour"]
[histogram]
mode = "central"
column = "colour"
values = ["blue", "red"]
[privacy]
epsilon = 1.0
)";

TEST(RunParty, LeavesWhatTrefoilRunLeaves) {
  ThreePartyFiles files;
  const auto& folder = files.folder();
  const auto job = folder.Put("job.toml", kHistogramJob);
  (void)folder.Put("colours.csv", "red\nblue\nred\n");
  files.Append([](int) { return std::string("[data]\nfile = \"colours.csv\"\n"); });
  const auto ends = AtThree([&](int party) {
    return std::to_string(
        RunParty(files[party], job, {.out = folder / ("out-" + std::to_string(party)), .threads = 1}));
  });
  for (int party = 0; party < 3; ++party) {
    const auto out = folder / ("out-" + std::to_string(party));
    EXPECT_EQ(ends.at(static_cast<std::size_t>(party)), "0");
    EXPECT_TRUE(std::filesystem::exists(out / "summary.json"));
    EXPECT_NEAR(RecordEpsilons(out / "record.json", 1e-9).insider, 1, 1e-6);
  }
}

TEST(RunParty, LeavesNoCoreFile) {
  EXPECT_EXIT(
      {
        try {
          (void)RunParty("absent.toml", "absent.toml");
        } catch (const ConfigError&) {
        }
        rlimit limit{};
        getrlimit(RLIMIT_CORE, &limit);
        std::exit(limit.rlim_max == 0 && prctl(PR_GET_DUMPABLE) == 0 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(RunParty, GoesOnWhenNobodyReadsWhatItPrints) {
  const auto handler_after = [](void (*before)(int)) {
    (void)std::signal(SIGPIPE, before);
    (void)std::signal(SIGXFSZ, SIG_DFL);
    EXPECT_THROW((void)RunParty("absent.toml", "absent.toml"), ConfigError);
    EXPECT_EQ(std::signal(SIGXFSZ, SIG_DFL), SIG_IGN);
    return std::signal(SIGPIPE, SIG_DFL);
  };
  EXPECT_EQ(handler_after(SIG_DFL), SIG_IGN);
  void (*const own)(int) = [](int) {};
  EXPECT_EQ(handler_after(own), own);
}

TEST(RunParty, TakesOtherFilesThanThePartyFileNames) {
  ThreePartyFiles files;
  const auto& folder = files.folder();
  const auto job = folder.Put("job.toml", kHistogramJob);
  const auto colours = folder.Put("colours.csv", "red\nblue\nred\n");
  files.Append([](int) { return std::string("[data]\nx = \"absent.npy\"\ny = \"absent.npy\"\n"); });
  const auto ends = AtThree([&](int party) {
    return std::to_string(RunParty(files[party], job,
                                   {.out = folder / ("out-" + std::to_string(party)),
                                    .threads = 1,
                                    .inputs = {{"data.file", colours}}}));
  });
  EXPECT_EQ(ends, (std::array<std::string, 3>{"0", "0", "0"}));
  EXPECT_THROW((void)RunParty(files[0], job, {.inputs = {{"data.flie", colours}}}), ConfigError);
}

TEST(RunParty, ThrowsForWhatFailsBeforeThereIsARun) {
  const ThreePartyFiles files;
  const auto job = files.folder().Put("job.toml", kHistogramJob);
  EXPECT_THROW((void)RunParty(files.folder() / "absent.toml", job), ConfigError);
  EXPECT_THROW((void)RunParty(files[0], files.folder() / "absent.toml"), ConfigError);
  EXPECT_THROW((void)RunParty(files[0], job, {.again = true}), ContractError);
}

TEST(RunParty, ReturnsThatWhatFailedBeforeThereWasARunMayPass) {
  ThreePartyFiles files;
  const auto job = files.folder().Put("job.toml", kHistogramJob);
  const net::HttpEndpoint taken("127.0.0.1", 0, [](const std::string&) { return net::HttpAnswer{}; });
  files.Append(
      [&](int) { return "[metrics]\nlisten = \"127.0.0.1:" + std::to_string(taken.port()) + "\"\n"; });
  EXPECT_EQ(RunParty(files[0], job, {.out = files.folder() / "out"}), 6);
}

}  // namespace
}  // namespace trefoil
