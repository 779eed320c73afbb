#include "examples/hello_job/hello_job.h"

#include <spdlog/fmt/fmt.h>

#include "data/formats/csv.h"
#include "jobs/gaussian_target.h"
#include "jobs/job_of.h"
#include "jobs/records/local_data.h"
#include "jobs/same_noise.h"
#include "ml/noise/noisy_counts.h"
#include "ml/on_shares/correct_counts.h"

namespace hello {
namespace {
using namespace trefoil;
/// Numbers are summed as distances from the middle of [low, high], in units of 2^-16 of half its width: one
/// that is added or removed moves the sum by this many units at most.
constexpr std::int64_t kSensitivity = 1 << 16;

class HelloMean : public jobs::JobOf<Settings> {
 public:
  explicit HelloMean(Settings settings) : JobOf(std::move(settings)), sigma_(jobs::SigmaOf(Target())) {}

  [[nodiscard]] const char* type() const override { return "hello-mean"; }
  [[nodiscard]] std::string Json() const override { return jobs::HashedJson(job()); }
  [[nodiscard]] std::string Title() const override {
    return fmt::format("mean of \"{}\" over {} rows, sigma {}", job().column, rows(), sigma_);
  }
  [[nodiscard]] std::vector<dp::RecordedEvent> Events() const override { return {EventOf(Target(), sigma_)}; }

  [[nodiscard]] std::string Split(const jobs::SplitTarget& target) const override {
    const auto source = jobs::FindDataFolder(job().name, target.job_file, target.data) / "train.csv";
    const std::vector<int> labels(static_cast<std::size_t>(Read(source, {}).size()));
    auto files = target.party_folders;
    for (auto& file : files) {
      std::filesystem::create_directories(file);
      file /= "data.csv";
    }
    for (auto& party : target.parties) party.data.file = "data.csv";
    data::SplitCsv(data::OneFile(source), true, data::AssignRows({}, labels, job().rows), files);
    return fmt::format("dealing {} to three parties", source.string());
  }

  [[nodiscard]] jobs::JobResult Run(mpc::Context& party, jobs::Output& output) override {
    jobs::RequireSameNoise(party, Events(), {});  // each has computed sigma by itself
    output.Reserve(Events(), {});                 // in the ledger before anything is sent
    const auto noise = ml::CountNoise(RandomStream::FromSystem(), sigma_, kSensitivity, 1);
    output.Settle(Events());  // in the record before anything is opened
    const auto opened = ml::OpenNoisyCounts(party, OwnSum(), noise.values(), job().to);
    jobs::JobResult result{.summary = {{"rows", rows()}, {"sigma", sigma_}}};
    if (!opened) return result;
    const double sum = static_cast<double>(mpc::Signed((*opened)(0, 0))) / kSensitivity;
    const double mean = middle() + half() * sum / static_cast<double>(rows());
    result.files.push_back({.name = "mean.txt", .text = fmt::format("{}\n", mean)});
    return result;
  }

 protected:
  [[nodiscard]] jobs::JobCost Cost() const override {
    jobs::JobCost cost;
    cost.session.Add(jobs::RequireSameNoiseCost());
    cost.session.Add(ml::OpenNoisyCountsCost(1, job().to));
    cost.memory.fill(static_cast<double>(rows()) * sizeof(float));
    return cost;
  }
  std::string Load(const jobs::PartyFile& party, const std::string& party_file,
                   const jobs::Resources& /*resources*/) override {
    if (party.data.file.empty()) throw ConfigError(party_file + ": missing [data] file, expected a CSV file");
    numbers_ = Read(party.data.file, job().rows.at(static_cast<std::size_t>(party.id)));
    return fmt::format("{} numbers", numbers_.size());
  }

 private:
  [[nodiscard]] std::int64_t rows() const { return job().rows[0] + job().rows[1] + job().rows[2]; }
  [[nodiscard]] double middle() const { return (job().low + job().high) / 2; }
  [[nodiscard]] double half() const { return (job().high - job().low) / 2; }
  [[nodiscard]] jobs::GaussianTarget Target() const {
    return {.coordinates = 1, .sensitivity = kSensitivity, .epsilon = job().epsilon, .delta = job().delta};
  }
  /// The file's numbers as distances from the middle in halves; where one is missing, 0.
  [[nodiscard]] data::Matrix Read(const std::filesystem::path& file,
                                  std::optional<std::int64_t> capacity) const {
    data::DataSpec spec;
    spec.format = data::Format::kCsv;
    spec.features = 1;
    spec.label = {.column = job().column + " class", .values = {"0", "1"}, .aliases = {}};  // there is none
    spec.columns = {{.name = job().column, .mean = middle(), .scale = half(), .values = {}}};
    return data::Load(spec, {.x = {}, .y = {}, .file = file}, capacity, data::LabelUse::kIgnored).x;
  }
  [[nodiscard]] mpc::RingMatrix OwnSum() const {
    std::int64_t sum = 0;
    for (const float number : numbers_.reshaped())
      sum += std::llround(std::clamp(number, -1.0F, 1.0F) * static_cast<float>(kSensitivity));
    return mpc::RingMatrix::Constant(1, 1, static_cast<mpc::Word>(sum));
  }
  double sigma_;
  data::Matrix numbers_;  ///< this party's, after Load
};

std::unique_ptr<jobs::Job> Read(const toml::table& root, const std::string& file) {
  Settings settings;
  jobs::ReadFields(root, file, settings);
  return std::make_unique<HelloMean>(std::move(settings));
}

}  // namespace
const jobs::JobType kHelloMean{"hello-mean", Read, jobs::SchemaOf<Settings>};
}  // namespace hello
