#include "apps/local/party_processes.h"

#include <spdlog/fmt/fmt.h>

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "apps/local/child_process.h"
#include "apps/local/deployment.h"
#include "base/error_report.h"
#include "base/files/files.h"
#include "base/threads/thread_pool.h"
#include "runtime/run_directory.h"

namespace trefoil::apps {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr auto kPollPause = std::chrono::milliseconds(50);
/// How much longer than its peer time-out a party may take to end by itself once another has failed.
constexpr auto kPatience = std::chrono::seconds(5);

/// For mpirun, once told, to end its ranks: it passes SIGTERM on after a second, and kills them after
/// another.
constexpr auto kEndOfRanks = std::chrono::seconds(5);
/// What a shell, or mpirun, ends with for a process that signal n has killed: this + n.
constexpr int kKilled = 128;

/// What starts the ranks of one party on this machine: more than it has cores, with nothing but what they
/// say. Its ranks listen to no other machine; mpirun itself cannot be kept from it. It keeps its own files in
/// the party's folder: of several that share one, one that ends may remove what another is about to use.
std::vector<std::string> LauncherOf(int ranks, const fs::path& folder) {
  if (ranks == 1) return {};
  std::vector<std::string> words{"mpirun", "-q", "--oversubscribe", "--bind-to", "none"};
  if (geteuid() == 0) words.emplace_back("--allow-run-as-root");
  words.insert(words.end(),
               {"--mca", "btl", "self,vader", "--mca", "oob_tcp_if_include", "lo", "--mca",
                "orte_tmpdir_base", fs::absolute(folder).string(), "-np", std::to_string(ranks)});
  return words;
}

std::vector<ChildProcess> StartParties(const PartyProcesses& parties) {
  const auto ranks = static_cast<std::size_t>(parties.ranks);
  const auto threads = parties.threads != 0 ? parties.threads : (ThreadsFor(0) + 2) / 3;
  const auto each = std::to_string(std::max<std::size_t>(1, threads / ranks));
  const auto folders = PartyFolders(parties.folder);
  std::vector<ChildProcess> children;
  for (std::size_t id = 0; id < folders.size(); ++id) {
    const auto& folder = folders.at(id);
    std::vector<std::string> arguments{"run",
                                       "--config",
                                       (folder / "party.toml").string(),
                                       "--job",
                                       (parties.folder / "job.toml").string(),
                                       "--out",
                                       (folder / "out").string(),
                                       "--threads",
                                       each};
    if (parties.resume) arguments.emplace_back("--resume");
    if (parties.again) arguments.emplace_back("--again");
    if (const auto& page = parties.pages.at(id); !page.empty())
      arguments.insert(arguments.end(), {"--metrics", page});
    children.emplace_back(arguments, folder / "console.log", LauncherOf(parties.ranks, folder));
  }
  return children;
}

fs::path LogOf(const fs::path& folder, std::size_t id) {
  return PartyFolder(folder, static_cast<int>(id)) / "console.log";
}

bool Failed(const ProcessEnd& end) { return end.signal != 0 || end.code != 0; }

/// Of parties found ended at the same time, the one that failed by itself comes before those that lost it.
int Precedence(const ProcessEnd& end) { return end.signal != 0 ? 2 : end.code != kNetwork ? 1 : 0; }

/// The party whose failure came first, as far as can be told, or -1.
int FirstFailure(std::vector<ChildProcess>& children) {
  int first = -1;
  for (int id = 0; id < 3; ++id) {
    const auto& end = children[static_cast<std::size_t>(id)].Poll();
    if (!end || !Failed(*end)) continue;
    if (first < 0 || Precedence(*end) > Precedence(*children[static_cast<std::size_t>(first)].Poll()))
      first = id;
  }
  return first;
}

bool AllEnded(std::vector<ChildProcess>& children) {
  return std::all_of(children.begin(), children.end(),
                     [](ChildProcess& child) { return child.Poll().has_value(); });
}

void ShowProgress(const PartyProcesses& parties, runtime::ProgressDisplay& display, int& shown) {
  const auto report =
      runtime::LastProgress(PartyFolder(parties.folder, 0) / "out" / "progress.csv", parties.steps);
  if (!report || report->step == shown) return;
  shown = report->step;
  display.Show(*report);
}

bool HasDisplay() {
  for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY"}) {
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0') return true;
  }
  return false;
}

/// Opens party 0's page in the user's browser, once: when the party's log begins, the page has been there for
/// a while.
class PageOpener {
 public:
  explicit PageOpener(const PartyProcesses& parties)
      : page_(parties.pages[0]),
        log_(PartyFolder(parties.folder, 0) / "out" / "party.log"),
        due_(!page_.empty() && HasDisplay()) {}

  void Poll() {
    std::error_code error;
    if (!due_ || fs::last_write_time(log_, error) < start_ || error) return;
    due_ = false;
    StartApart("xdg-open", "http://" + page_ + "/");
  }

 private:
  std::string page_;
  fs::path log_;
  bool due_;
  fs::file_time_type start_ = fs::file_time_type::clock::now();
};

/// Waits for all parties; returns the one whose failure came first, or -1. A failed party's peers may end by
/// themselves before they are made to.
int WaitForParties(const PartyProcesses& parties, std::vector<ChildProcess>& children, PageOpener& opener,
                   runtime::ProgressDisplay& display) {
  int failure = -1;
  int shown = 0;
  bool told = parties.ranks == 1;  // a killed mpirun would leave its ranks' shared memory behind
  Clock::time_point deadline{};
  while (!AllEnded(children)) {
    std::this_thread::sleep_for(kPollPause);
    ShowProgress(parties, display, shown);
    opener.Poll();
    if (failure < 0) {
      failure = FirstFailure(children);
      deadline = Clock::now() + parties.peer + kPatience;
    } else if (Clock::now() > deadline) {
      for (auto& child : children) child.Signal(told ? SIGKILL : SIGTERM);
      told = true;
      deadline = Clock::now() + kEndOfRanks;
    }
  }
  if (failure < 0) failure = FirstFailure(children);
  ShowProgress(parties, display, shown);
  display.Finish();
  return failure;
}

/// How long each party's output is already: starts before this one may have failed, too.
std::array<std::size_t, 3> LogSizes(const fs::path& folder) {
  std::array<std::size_t, 3> sizes{};
  for (std::size_t id = 0; id < 3; ++id) {
    std::error_code none;
    const auto size = fs::file_size(LogOf(folder, id), none);
    if (!none) sizes.at(id) = size;
  }
  return sizes;
}

/// The last error that a party printed behind the first bytes, or nothing.
std::string ErrorIn(const fs::path& log, std::size_t first) {
  const auto text = ReadTextFile(log, "a party's output", kLargestOwnFile);
  std::istringstream lines(text.substr(std::min(first, text.size())));
  const std::string prefix = "trefoil: ";
  std::string found;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(prefix)) found = line.substr(prefix.size());
  }
  return found;
}

/// Whether one of its ranks was killed: mpirun, told to be quiet, says so by its code alone.
bool LostARank(const ProcessEnd& end, const std::string& cause) {
  return cause.empty() && end.code > kKilled;
}

/// Reports the failure of `party`, or, where another one has lost a rank, or `party` says that another one
/// aborted, that other one's, which may have been found ended later. All have ended. `before`: LogSizes() when
/// they were started.
int ReportFailure(const fs::path& folder, int party, std::vector<ChildProcess>& children,
                  const std::array<std::size_t, 3>& before) {
  std::array<fs::path, 3> logs;
  std::array<std::string, 3> causes;
  for (std::size_t id = 0; id < 3; ++id) {
    logs[id] = LogOf(folder, id);
    causes[id] = ErrorIn(logs[id], before[id]);
  }
  auto failed = static_cast<std::size_t>(party);
  for (std::size_t other = 0; other < 3; ++other) {
    const bool named = causes[failed].find(fmt::format("party {}: aborted", other)) != std::string::npos;
    if (LostARank(*children[other].Poll(), causes[other]) || (named && !causes[other].empty())) {
      failed = other;
      break;
    }
  }
  const ProcessEnd& end = *children[failed].Poll();
  if (end.signal != 0) {
    ReportError(fmt::format("party {} was killed by signal {}; its output is in {}", failed, end.signal,
                            logs[failed].string()));
    return kNetwork;
  }
  if (LostARank(end, causes[failed])) {
    ReportError(fmt::format("party {}: a rank was killed by signal {}; its output is in {}", failed,
                            end.code - kKilled, logs[failed].string()));
    return kNetwork;
  }
  ReportError(causes[failed].empty() ? fmt::format("party {} ended with code {}; its output is in {}", failed,
                                                   end.code, logs[failed].string())
                                     : fmt::format("party {}: {}", failed, causes[failed]));
  return end.code;
}

}  // namespace

std::array<fs::path, 3> PartyFolders(const fs::path& folder) {
  return {PartyFolder(folder, 0), PartyFolder(folder, 1), PartyFolder(folder, 2)};
}

int RunPartyProcesses(const PartyProcesses& parties, runtime::ProgressDisplay& display) {
  PageOpener opener(parties);
  const auto before = LogSizes(parties.folder);
  auto children = StartParties(parties);
  const int failure = WaitForParties(parties, children, opener, display);
  if (failure < 0) return kDone;
  return ReportFailure(parties.folder, failure, children, before);
}

}  // namespace trefoil::apps
