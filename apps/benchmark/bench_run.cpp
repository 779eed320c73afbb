#include "apps/benchmark/bench_run.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>

#include "apps/local/child_process.h"
#include "apps/local/deployment.h"
#include "base/error.h"
#include "base/error_report.h"
#include "base/files/files.h"
#include "base/threads/thread_pool.h"
#include "bench/runner.h"
#include "jobs/job.h"
#include "mpc/prss.h"
#include "runtime/abort_reason.h"
#include "runtime/mesh_setup.h"

namespace trefoil::apps {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kLargestSize = 9'999'999;

/// "128x784x10".
bench::ProductShape ParseShape(const std::string& text) {
  std::array<std::int64_t, 3> sizes{};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    if (k > 0 && (at == end || *at++ != 'x')) at = nullptr;
    const auto parsed = at == nullptr ? std::from_chars_result{at, std::errc::invalid_argument}
                                      : std::from_chars(at, end, sizes[k]);
    at = parsed.ptr;
    if (parsed.ec != std::errc() || sizes[k] < 1 || sizes[k] > kLargestSize || (k == 2 && at != end)) {
      throw ConfigError(fmt::format("--shape: found {}, expected three sizes, as 128x784x10", text));
    }
  }
  return {.rows = sizes[0], .inner = sizes[1], .cols = sizes[2]};
}

bench::Request RequestOf(const BenchOptions& options) {
  bench::Request request;
  request.operations = options.operations;
  request.form = options.form;
  request.reps = options.reps;
  request.sustained = options.sustained;
  if (!options.sizes.empty()) request.sizes.assign(options.sizes.begin(), options.sizes.end());
  for (const auto size : request.sizes) {
    if (size < 1) throw ConfigError(fmt::format("--sizes: found {}, expected at least 1", size));
  }
  if (!options.shapes.empty()) {
    request.shapes.clear();
    for (const auto& shape : options.shapes) request.shapes.push_back(ParseShape(shape));
  }
  bench::Validate(request);
  return request;
}

std::string SizeText(const bench::Point& point) {
  if (!point.shape) return fmt::format("{}", point.count);
  return fmt::format("{}x{}x{}", point.shape->rows, point.shape->inner, point.shape->cols);
}

void PrintHeader() {
  std::cout << fmt::format("{:<24} {:<8} {:>14} {:>6} {:>14} {:>14} {:>12} {:>12}\n", "operation", "form",
                           "size", "rounds", "bytes sent", "offline", "median ms", "sustained");
}

/// Bytes are those of the party that sends most.
void PrintResult(const bench::Result& result) {
  const auto most = [](const auto& bytes) { return *std::max_element(bytes.begin(), bytes.end()); };
  std::cout << fmt::format(
                   "{:<24} {:<8} {:>14} {:>6} {:>14} {:>14} {:>12.3f} {:>12}\n", result.op, result.form,
                   SizeText(result.point), result.rounds, most(result.bytes_sent), most(result.bytes_offline),
                   1000 * result.seconds.median,
                   result.seconds_sustained ? fmt::format("{:.3f}", 1000 * *result.seconds_sustained) : "")
            << std::flush;
}

/// One party's side, with its peers over the network.
int RunParty(const BenchOptions& options, const bench::Request& request) {
  net::MeshConfig config =
      runtime::MeshConfigOf(jobs::ReadParty(options.config, options.types), bench::ToJson(request));
  const auto mesh = net::ConnectMesh(config);
  return runtime::TellingPeers(*mesh, [&] {
    ThreadPool pool(ThreadsFor(options.threads));
    mpc::Context context(*mesh, runtime::AgreeOnSessionKeys(*mesh), pool);
    PrintHeader();
    const auto results = bench::Run(context, request, PrintResult);
    if (!options.json.empty()) WriteTextFile(options.json, bench::ToJson(results).dump(1) + "\n");
    return 0;
  });
}

/// A folder that is gone with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "trefoil-bench-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::vector<std::string> ArgumentsOf(const BenchOptions& options, const bench::Request& request,
                                     const fs::path& party, std::size_t threads) {
  std::vector<std::string> arguments{"bench", "--config", (party / "party.toml").string(), "--form",
                                     request.form};
  const auto add_list = [&](const char* flag, const auto& values) {
    if (!values.empty()) arguments.insert(arguments.end(), {flag, fmt::format("{}", fmt::join(values, ","))});
  };
  add_list("--ops", request.operations);
  add_list("--sizes", request.sizes);
  add_list("--shape", options.shapes);
  arguments.insert(arguments.end(),
                   {"--reps", std::to_string(request.reps), "--sustained", std::to_string(request.sustained),
                    "--threads", std::to_string(threads), "--json", (party / "results.json").string()});
  return arguments;
}

/// Three processes of this program over TLS on loopback.
int RunLocally(const BenchOptions& options, const bench::Request& request) {
  const TemporaryFolder folder;
  MakeAllPartyFolders(DescribeParties(FreeLoopbackAddresses()), folder.path());
  const std::size_t cores = ThreadsFor(0);
  const std::size_t threads = options.threads != 0 ? options.threads : (cores + 2) / 3;
  std::vector<ChildProcess> children;
  for (int id = 0; id < 3; ++id) {
    const auto party = PartyFolder(folder.path(), id);
    children.emplace_back(ArgumentsOf(options, request, party, threads), party / "console.log");
  }
  for (int id = 0; id < 3; ++id) {
    auto& child = children[static_cast<std::size_t>(id)];
    while (!child.Poll()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const ProcessEnd end = *child.Poll();
    const auto console =
        ReadTextFile(PartyFolder(folder.path(), id) / "console.log", "a party's output", kLargestOwnFile);
    if (end.signal != 0 || end.code != 0) {
      std::cerr << console;
      return end.signal != 0 ? kNetwork : end.code;
    }
    if (id == 0) std::cout << console;
  }
  if (!options.json.empty()) {
    WriteTextFile(options.json, ReadTextFile(PartyFolder(folder.path(), 0) / "results.json", "the results",
                                             kLargestOwnFile));
  }
  return 0;
}

}  // namespace

int RunBench(const BenchOptions& options) {
  const bench::Request request = RequestOf(options);
  return options.config.empty() ? RunLocally(options, request) : RunParty(options, request);
}

}  // namespace trefoil::apps
