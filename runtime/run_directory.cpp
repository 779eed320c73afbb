#include "runtime/run_directory.h"

#include <spdlog/fmt/chrono.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <limits>
#include <locale>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "base/error.h"
#include "base/files/files.h"
#include "base/files/sync_to_disk.h"
#include "base/threads/blocking_call.h"
#include "dp/record/json_number.h"
#include "jobs/job.h"
#include "jobs/statement/bound_text.h"
#include "runtime/observe/progress.h"

namespace trefoil::runtime {
namespace {

namespace fs = std::filesystem;
using OrderedJson = nlohmann::ordered_json;

constexpr const char* kHeader = "step,seconds,rounds,bytes_sent,epsilon_outsider,epsilon_insider\n";

double NumberOrInfinity(const OrderedJson& json) {
  return json.is_null() ? std::numeric_limits<double>::infinity() : json.get<double>();
}

/// A number of things. Throws OrderedJson::exception if there is no such key, DataError unless it is a whole
/// number, not negative.
std::uint64_t CountIn(const OrderedJson& json, const char* key) {
  const auto& count = json.at(key);
  if (!count.is_number_unsigned())
    throw DataError(fmt::format("{}: found {}, expected a whole number", key, count.dump()));
  return count.get<std::uint64_t>();
}

constexpr int kRunVersion = 2;

void TakePrivacy(const OrderedJson& json, Summary& summary) {
  summary.epsilon_outsider = NumberOrInfinity(json.at("epsilon_outsider"));
  summary.epsilon_insider = NumberOrInfinity(json.at("epsilon_insider"));
  summary.delta = json.at("delta").get<double>();
  if (const auto accountant = json.value("accountant", OrderedJson()); !accountant.is_null())
    summary.accountant = dp::AccountantNamed(accountant.get<std::string>());
  if (json.contains("released_to")) summary.released_to = json.at("released_to").get<std::vector<int>>();
}

void TakeCost(const OrderedJson& json, Summary& summary) {
  summary.seconds = json.at("seconds").get<double>();
  summary.rounds = CountIn(json, "rounds");
  summary.bytes_sent = CountIn(json, "bytes_sent");
  summary.peak_rss_bytes = CountIn(json, "peak_rss_bytes");
  if (json.contains("ranks")) summary.ranks = static_cast<int>(CountIn(json, "ranks"));
}

/// All members in one object.
Summary FromVersion1(OrderedJson json) {
  Summary summary;
  summary.type = json.value("type", jobs::UnnamedType(json));
  summary.name = json.at("job").get<std::string>();
  TakePrivacy(json, summary);
  TakeCost(json, summary);
  if (json.contains("warnings")) summary.warnings = json.at("warnings").get<std::vector<std::string>>();
  for (const auto* key : {"type", "job", "epsilon_outsider", "epsilon_insider", "delta", "accountant",
                          "released_to", "seconds", "rounds", "bytes_sent", "peak_rss_bytes", "warnings"})
    json.erase(key);
  summary.results = std::move(json);
  return summary;
}

Summary FromJson(const OrderedJson& json) {
  if (!json.contains("version")) return FromVersion1(json);
  if (json.at("version") != kRunVersion)
    throw DataError(fmt::format("version: found {}, expected {}", json.at("version").dump(), kRunVersion));
  Summary summary{.type = json.at("type").get<std::string>(),
                  .name = json.at("name").get<std::string>(),
                  .job_hash = json.at("job_hash").get<std::string>(),
                  .session = json.at("session").get<std::string>()};
  TakePrivacy(json.at("privacy"), summary);
  TakeCost(json.at("cost"), summary);
  summary.warnings = json.at("warnings").get<std::vector<std::string>>();
  summary.results = json.at("results").at(summary.type);
  if (!summary.results.is_object()) throw DataError("results: found no object of the type");
  return summary;
}

/// A line of progress.csv; `steps` is not in it.
std::optional<ml::StepReport> ParseProgressLine(const std::string& line) {
  std::istringstream fields(line);
  fields.imbue(std::locale::classic());
  ml::StepReport report;
  std::string outsider;
  std::string insider;
  char comma = 0;
  fields >> report.step >> comma >> report.seconds >> comma >> report.rounds >> comma >> report.bytes_sent >>
      comma;
  if (!fields || !std::getline(fields, outsider, ',') || !std::getline(fields, insider)) return {};
  const auto read = [](const std::string& text, double& number) {  // "inf", too, and in any locale
    (void)std::from_chars(text.data(), text.data() + text.size(), number);
  };
  read(outsider, report.epsilon_outsider);
  read(insider, report.epsilon_insider);
  return report;
}

/// What a party writes before a run of it is kept, some of it half where it was killed.
bool IsLeftover(const fs::directory_entry& entry) {
  auto name = entry.path().filename();
  if (name.extension() == ".part") name = name.stem();
  if (name == "checkpoint" && entry.is_directory()) {  // checkpoints of another run would stay there
    return std::none_of(fs::directory_iterator(entry.path()), fs::directory_iterator(),
                        [](const auto& file) { return file.path().extension() == ".sealed"; });
  }
  return name == "job.toml" || name == "party.log" || name == "audit.jsonl" || name == kDataSalt ||
         name == kOwnerWarnings;
}

bool OnlyLeftovers(const fs::path& folder) {
  return !HoldsRun(folder) &&
         std::all_of(fs::directory_iterator(folder), fs::directory_iterator(), IsLeftover);
}

}  // namespace

void CheckRunDirectory(const fs::path& folder) {
  if (fs::exists(folder) && !fs::is_directory(folder)) {
    throw ConfigError(folder.string() + ": found a file, expected a folder to write to");
  }
  if (fs::exists(folder) && !OnlyLeftovers(folder)) {
    throw ConfigError(folder.string() + ": found a folder that is not empty, expected an empty one or none" +
                      (HoldsRun(folder) ? ", or --resume to go on with its run" : ""));
  }
}

bool HoldsRun(const fs::path& folder) { return fs::exists(folder / "checkpoint" / "run.json"); }

bool HoldsResults(const fs::path& folder) { return fs::exists(folder / "summary.json"); }

bool HoldsFinishedRun(const fs::path& folder) { return HoldsResults(folder) && !HoldsRun(folder); }

void MakeRunDirectory(const fs::path& folder) {
  CheckRunDirectory(folder);
  fs::create_directories(folder);
}

fs::path DefaultRunDirectory(const std::string& name) {
  return fs::path("runs") / fmt::format("{}-{:%Y%m%dT%H%M%S}Z", name, fmt::gmtime(std::time(nullptr)));
}

void WriteSummary(const fs::path& file, const Summary& summary) {
  OrderedJson json{
      {"version", kRunVersion},
      {"type", summary.type},
      {"name", summary.name},
      {"job_hash", summary.job_hash},
      {"session", summary.session},
      {"privacy",
       {{"epsilon_outsider", dp::NumberOrNull(summary.epsilon_outsider)},
        {"epsilon_insider", dp::NumberOrNull(summary.epsilon_insider)},
        {"delta", summary.delta},
        {"accountant", summary.accountant ? OrderedJson(dp::NameOf(*summary.accountant)) : OrderedJson()},
        {"released_to", summary.released_to}}},
      {"cost",
       {{"seconds", summary.seconds},
        {"rounds", summary.rounds},
        {"bytes_sent", summary.bytes_sent},
        {"peak_rss_bytes", summary.peak_rss_bytes}}},
      {"warnings", summary.warnings},
      {"results", {{summary.type, summary.results}}}};
  if (summary.ranks > 1) json["cost"]["ranks"] = summary.ranks;
  WriteTextFile(file, json.dump(2) + "\n");
}

Summary ReadSummary(const fs::path& file) {
  const auto text = ReadTextFile(file, "a run's summary", kLargestOwnFile);
  try {
    return FromJson(OrderedJson::parse(text));
  } catch (const OrderedJson::exception& error) {
    throw DataError(file.string() + ": not a run's summary: " + error.what());
  } catch (const std::runtime_error& error) {
    throw DataError(file.string() + ": not a run's summary: " + error.what());
  }
}

void WriteRecord(const fs::path& file, const dp::TrainingRecord& record) {
  WriteTextFile(file, dp::ToJson(record).dump(2) + "\n");
}

dp::TrainingRecord ReadRecord(const fs::path& file) {
  const auto parsed =
      OrderedJson::parse(ReadTextFile(file, "a training record", kLargestOwnFile), nullptr, false);
  if (parsed.is_discarded()) throw DataError(file.string() + ": not valid JSON, expected a training record");
  try {
    return dp::FromJson(parsed);
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}: {}", file.string(), error.what()));
  }
}

ProgressFile::ProgressFile(const fs::path& file, int done) : file_(file), draft_(fs::path(file) += ".part") {
  const BlockingCall call("writing", file_);
  fs::remove(draft_);  // of an interrupted session, or a link that leads elsewhere
  std::ifstream before(done > 0 ? file : fs::path());
  stream_.open(draft_);
  stream_ << kHeader;
  if (!stream_) throw CannotWrite(file_);
  std::string line;
  std::getline(before, line);
  for (int last = -1; last < done && std::getline(before, line); last = kept_.step) {
    const auto report = ParseProgressLine(line);
    // A line may be lacking, since a checkpoint is on disk before the line of its step.
    if (!report || report->step <= last || report->step > done) break;
    if (report->step < done) stream_ << line << '\n';
    kept_ = *report;
  }
  if (!fs::exists(file)) TakePlace();
}

void ProgressFile::TakePlace() {
  stream_ << std::flush;
  if (!stream_) throw CannotWrite(file_);
  fs::rename(draft_, file_);
  draft_.clear();
}

void ProgressFile::Append(const ml::StepReport& report) {
  const BlockingCall call("writing", file_);
  stream_ << fmt::format("{},{:.3f},{},{},{},{}\n", report.step, report.seconds, report.rounds,
                         report.bytes_sent, report.epsilon_outsider, report.epsilon_insider)
          << std::flush;
  if (!draft_.empty()) TakePlace();
  if (!stream_) throw CannotWrite(file_);
}

std::optional<ml::StepReport> LastProgress(const fs::path& file, int steps) {
  std::ifstream stream(file, std::ios::binary | std::ios::ate);
  if (!stream) return {};
  constexpr std::streamoff kTail = 512;
  stream.seekg(std::max<std::streamoff>(0, stream.tellg() - kTail));
  std::string text((std::istreambuf_iterator<char>(stream)), {});
  text.resize(text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n'));
  const auto line = text.substr(text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1);
  auto report = ParseProgressLine(line);
  if (report) report->steps = steps;
  return report;
}

std::vector<ml::StepReport> ReadProgress(const fs::path& file) {
  std::istringstream lines(ReadTextFile(file, "a run's progress", kLargestOwnFile));
  std::string line;
  if (!std::getline(lines, line) || line + "\n" != kHeader)
    throw DataError(file.string() + ", line 1: found another header than a progress.csv has");
  std::vector<ml::StepReport> reports;
  while (std::getline(lines, line)) {
    const auto report = ParseProgressLine(line);
    if (!report) {
      throw DataError(
          fmt::format("{}, line {}: found no step, expected six numbers", file.string(), reports.size() + 2));
    }
    reports.push_back(*report);
  }
  for (auto& report : reports) report.steps = reports.back().step;
  return reports;
}

}  // namespace trefoil::runtime
