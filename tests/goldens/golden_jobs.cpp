#include "tests/goldens/golden_jobs.h"

#include <spdlog/fmt/fmt.h>

#include <cstddef>
#include <fstream>

#include "data/dealing/teacher_labels.h"
#include "data/formats/numpy/npy.h"

namespace trefoil::goldens {
namespace {

namespace fs = std::filesystem;

constexpr int kRows = 60;
constexpr int kRowsOfParty = 20;

constexpr const char* kTraining = R"(
version = 1
type = "dpsgd"
name = "golden"
[data]
name = "golden"
format = "csv"
rows = [20, 20, 20]
classes = 3
column = [{ name = "a" }, { name = "b" }, { name = "c" }, { name = "d" }]
label = { column = "y", values = ["x", "y", "z"] }
[training]
steps = 4
expected_batch = 24
max_batch_per_owner = 16
learning_rate = 2.0
comparison = "bulk"
[features]
row_norm = 1.0
[privacy]
sigma = 1.5
delta = 1e-5
clip = 0.5
)";

constexpr const char* kVertical = R"(
version = 1
type = "dpsgd"
name = "golden"
[data]
name = "golden"
format = "csv"
partition = "vertical"
rows = [60, 60, 60]
classes = 3
label = { column = "y", values = ["x", "y", "z"], party = 1 }
[[data.column]]
name = "id"
kind = "key"
[[data.column]]
name = "a"
party = 0
[[data.column]]
name = "b"
party = 1
[[data.column]]
name = "c"
party = 2
[[data.column]]
name = "d"
party = 2
[training]
steps = 4
expected_batch = 24
max_batch_per_owner = 60
learning_rate = 2.0
comparison = "bulk"
[features]
row_norm = 1.0
[privacy]
sigma = 1.5
delta = 1e-5
clip = 0.5
sampling = "public"
)";

constexpr const char* kHistogram = R"(
version = 1
type = "histogram"
name = "golden"
[data]
name = "golden"
format = "csv"
rows = [20, 20, 20]
[histogram]
mode = "central"
column = "y"
values = ["x", "y", "z"]
[privacy]
epsilon = 1.0
)";

constexpr const char* kPate = R"(
version = 1
type = "pate"
name = "golden"
[pate]
teachers = [4, 0, 3]
queries = 12
classes = 3
mechanism = "confident-gnmax"
sigma = 0.5
threshold = 2.0
threshold_sigma = 0.5
answers = 6
[privacy]
delta = 1e-5
)";

constexpr const char* kPateLnMax = R"(
version = 1
type = "pate"
name = "golden"
[pate]
teachers = [4, 0, 3]
queries = 12
classes = 3
mechanism = "lnmax"
scale = 1.0
[privacy]
delta = 1e-5
)";

constexpr const char* kAverage = R"(
version = 1
type = "classifier-average"
name = "golden"
[data]
name = "golden"
format = "csv"
rows = [20, 20, 20]
classes = 2
column = [{ name = "a" }, { name = "b" }, { name = "c" }, { name = "d" }]
label = { column = "t", values = ["no", "yes"] }
[owners]
count = [2, 1, 1]
least_rows = 5
[average]
lambda = 0.1
tolerance = 1e-8
[privacy]
epsilon = 40.0
delta = 1e-6
)";

constexpr const char* kTransfer = R"(
version = 1
type = "ensemble-transfer"
name = "golden"
[ensemble]
owners = [4, 0, 3]
queries = 12
features = 2
lambda = 0.1
steps = 20
[privacy]
sigma = 0.5
delta = 1e-5
)";

constexpr const char* kSum = R"(
version = 1
type = "sum"
name = "golden"
[data]
name = "golden"
rows = [20, 0, 20]
[sum]
dimension = 5
norm_bound = 1.0
calls = 2
[privacy]
sigma = 0.5
delta = 1e-5
)";

constexpr const char* kSquares = R"(
version = 1
type = "least-squares"
name = "golden"
[data]
name = "golden"
format = "csv"
rows = [20, 20, 20]
classes = 3
column = [{ name = "a" }, { name = "b" }, { name = "c" }, { name = "d" }]
label = { column = "y", values = ["x", "y", "z"] }
[privacy]
sigma = 0.5
delta = 1e-5
)";

constexpr const char* kStatistics = R"(
version = 1
type = "statistics"
name = "golden"
[data]
name = "golden"
format = "csv"
rows = [20, 20, 20]
column = [
  { name = "a", low = -0.25, high = 0.25, edges = [0.0] },
  { name = "b", low = -0.25, high = 0.25, missing = [] },
  { name = "c", kind = "ignore" },
  { name = "d", low = -1, high = 1 },
  { name = "y", kind = "category", values = ["x", "y", "z"] },
]
[statistics]
quantiles = ["d"]
bins = 4
correlations = ["a", "b"]
table = [{ rows = "y", columns = "a" }, { rows = "y" }]
[privacy]
sigma = 0.5
delta = 1e-5
)";

/// The same job of another type than a training.
std::string OfType(const std::string& type, std::string text) {
  const std::string training = "\"dpsgd\"";
  return text.replace(text.find(training), training.size(), '"' + type + '"');
}

/// Eighths and the like, which any arithmetic has exactly, of rows shorter than 1.
std::array<double, 4> FeaturesOf(int row) {
  return {((row * 7) % 17 - 8) / 32.0, ((row * 5) % 13 - 6) / 32.0, ((row * 11) % 19 - 9) / 32.0,
          ((row * 3) % 11 - 5) / 32.0};
}

const char* ClassOf(int row) {
  constexpr std::array kNames{"x", "y", "z"};
  return kNames.at(static_cast<std::size_t>((row * row + row / 3) % 3));
}

fs::path Write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
  return file;
}

/// Rows of three classes, or of two.
std::string WholeRows(int first, int count, bool two_classes) {
  std::string text = two_classes ? "a,b,c,d,t\n" : "a,b,c,d,y\n";
  for (int row = first; row < first + count; ++row) {
    const auto x = FeaturesOf(row);
    const char* label = two_classes ? (row % 2 == 0 ? "no" : "yes") : ClassOf(row);
    text += fmt::format("{},{},{},{},{}\n", x[0], x[1], x[2], x[3], label);
  }
  return text;
}

/// What each party has of all rows of a joint table.
std::string ColumnsOf(int party) {
  std::string text = party == 0 ? "id,a\n" : party == 1 ? "id,b,y\n" : "id,c,d\n";
  for (int row = 0; row < kRows; ++row) {
    const auto x = FeaturesOf(row);
    text += fmt::format("r{:02},", row);
    text += party == 0   ? fmt::format("{}\n", x[0])
            : party == 1 ? fmt::format("{},{}\n", x[1], ClassOf(row))
                         : fmt::format("{},{}\n", x[2], x[3]);
  }
  return text;
}

/// Labels that teachers, or classifiers of two classes, give to twelve queries.
std::vector<std::vector<int>> LabelsOf(int party, int classes) {
  constexpr int kQueries = 12;
  std::vector<std::vector<int>> labels;
  for (int voter = 0; voter < (party == 0 ? 4 : 3); ++voter) {
    auto& row = labels.emplace_back();
    for (int query = 0; query < kQueries; ++query)
      row.push_back((query + (voter + 2 * party + query) % 5 / 3) % classes);
  }
  return labels;
}

/// Public queries of two features.
void WriteQueries(const fs::path& file) {
  std::vector<double> values;
  for (int query = 0; query < 12; ++query) {
    values.push_back((query * 7 % 12 - 6) / 16.0);
    values.push_back((query * 5 % 11 - 5) / 16.0);
  }
  data::WriteNpy(file, data::NpyFromDoubles({12, 2}, values));
}

/// Two calls' vectors of parties 0 and 2, some of them longer than 1, with keys of pairs of rows; or one
/// vector a call.
void WriteVectors(const fs::path& folder, const std::string& name, std::array<jobs::PartyFile, 3>& parties) {
  constexpr std::size_t kNumbers = 5;
  const bool summed = name == "sum-owner";
  const std::size_t rows = summed ? 1 : 18;
  for (const int id : {0, 2}) {
    const auto own = folder / fmt::format("party-{}", id);
    auto& inputs = parties.at(static_cast<std::size_t>(id)).inputs;
    inputs[summed ? "data.vector" : "data.vectors"] = own;
    if (name == "sum-sampled") inputs["data.keys"] = own;
    for (int call = 0; call < 2; ++call) {
      std::vector<double> values;
      std::vector<std::int64_t> keys;
      const auto first = static_cast<std::size_t>(id + call);
      for (std::size_t k = 0; k < rows * kNumbers; ++k)
        values.push_back(static_cast<double>((k * k + 3 * k) % 41 + first) / 32 - 0.5);
      for (std::size_t row = 0; row < rows; ++row) keys.push_back(static_cast<std::int64_t>(row / 2));
      const auto shape = summed ? std::vector{kNumbers} : std::vector{rows, kNumbers};
      data::WriteNpy(own / fmt::format("{}-{}.npy", summed ? "vector" : "vectors", call + 1),
                     data::NpyFromDoubles(shape, values));
      data::WriteNpy(own / fmt::format("keys-{}.npy", call + 1), data::NpyFromIntegers({rows}, keys));
    }
  }
}

}  // namespace

std::vector<GoldenJob> GoldenTrainings() {
  return {
      {"dpsgd", kTraining, {"evaluation.holder=0", "evaluation.rows=20", "evaluation.sigma=25.0"}},
      {"dpsgd-public", kTraining, {"privacy.sampling=public"}},
      {"dpsgd-squared-pld",
       kTraining,
       {"model.loss=squared", "privacy.accountant=pld", "training.truncation=exact", "training.steps_ahead=0",
        "training.momentum=0.5", "training.schedule=cosine"}},
      {"dpsgd-network", kTraining, {"model.hidden=[3]", "model.loss=softmax", "training.comparison=latency"}},
      {"dpsgd-averaging",
       kTraining,
       {"initialisation.method=averaging", "initialisation.steps=3", "initialisation.expected_batch=8",
        "initialisation.learning_rate=2.0", "initialisation.sigma=2.0"}},
      {"dpsgd-selection",
       kTraining,
       {"initialisation.method=accuracy", "initialisation.steps=3", "initialisation.expected_batch=8",
        "initialisation.learning_rate=2.0", "initialisation.sigma=2.0", "initialisation.selection_rows=8"}},
      {"dpsgd-shares", kTraining, {"release.to=[]"}},
      {"dpsgd-vertical", kVertical},
  };
}

std::vector<GoldenJob> GoldenTasks() {
  return {
      {"histogram", kHistogram},
      {"histogram-gaussian", kHistogram, {"histogram.noise=gaussian", "privacy.delta=1e-5"}},
      {"histogram-local", kHistogram, {"histogram.mode=local", "histogram.randomiser=k-ary"}},
      {"pate", kPate},
      {"pate-lnmax", kPateLnMax, {"release.to=[1]"}},
      {"average", kAverage},
      {"average-gaussian", kAverage, {"average.noise=gaussian"}},
      {"transfer", kTransfer},
      {"transfer-majority", kTransfer, {"ensemble.labels=majority", "release.to=[]"}},
      {"sum", kSum},
      {"sum-sampled",
       kSum,
       {"sum.sampling_rate=0.5", "privacy.unit=group", "privacy.max_group_rows=2", "release.to=[0, 1]"}},
      {"sum-owner", kSum, {"sum.summed=owner", "sum.allowance=0.001", "release.to=[2]"}},
      {"least-squares", kSquares, {"release.to=[0, 2]"}},
      {"statistics", kStatistics, {"release.to=[0, 1]"}},
      {"tune",
       OfType("tune", kTraining),
       {"training.steps=2", "evaluation.holder=2", "evaluation.rows=20", "evaluation.sigma=2.0",
        "tune.learning_rate=[0.5, 2.0]", "tune.clip=[0.5, 1.0]", "tune.competing=2.0", "release.to=[0, 1]"}},
  };
}

std::array<jobs::PartyFile, 3> WriteGoldenData(const fs::path& folder, bool vertical) {
  std::array<jobs::PartyFile, 3> parties;
  for (int id = 0; id < 3; ++id) {
    auto& party = parties.at(static_cast<std::size_t>(id));
    const auto own = folder / fmt::format("party-{}", id);
    party.id = id;
    party.data.file = Write(own / "train.csv",
                            vertical ? ColumnsOf(id) : WholeRows(kRowsOfParty * id, kRowsOfParty, false));
    party.evaluation.file = Write(own / "test.csv", WholeRows(100, kRowsOfParty, false));
  }
  return parties;
}

std::array<jobs::PartyFile, 3> WriteTaskData(const fs::path& folder, const std::string& name) {
  auto parties = WriteGoldenData(folder, false);
  if (name.starts_with("average")) {
    parties[0].owner_rows = {8, 12};
    parties[1].owner_rows = {20};
    parties[2].owner_rows = {20};
    for (const auto& party : parties)
      (void)Write(party.data.file, WholeRows(kRowsOfParty * party.id, kRowsOfParty, true));
  }
  if (name.starts_with("sum")) WriteVectors(folder, name, parties);
  const bool votes = name.starts_with("pate") || name.starts_with("transfer");
  if (!votes) return parties;
  for (auto& party : parties) {
    const auto own = folder / fmt::format("party-{}", party.id);
    party.data = {};
    WriteQueries(party.inputs["pate.queries"] = own / "queries.npy");
    if (party.id == 1) continue;  // has no voters
    data::WriteTeacherLabels(party.inputs["pate.predictions"] = own / "predictions.npy",
                             LabelsOf(party.id, name.starts_with("pate") ? 3 : 2));
  }
  return parties;
}

}  // namespace trefoil::goldens
