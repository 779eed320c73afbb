#include "bench/runner.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "base/secrets/random.h"
#include "bench/entries.h"
#include "bench/machine.h"
#include "mpc/dealing/preprocessing.h"
#include "protocols/arithmetic/input.h"
#include "protocols/cost_model.h"
#include "protocols/measure.h"

namespace trefoil::bench {
namespace {

using protocols::Entry;
using protocols::Form;
using protocols::Measured;
using protocols::Prepared;
using protocols::Size;

/// An entry in one of its forms.
struct Operation {
  const Entry* entry = nullptr;
  Form form = Form::kBulk;
};

/// As a training has it by default (training.steps_ahead).
constexpr int kSustainedAhead = 2;

/// Random inputs of a party, those that are shared being party 0's: |x| <= 2^bits, or 1 to 2^bits.
class RandomInputs : public protocols::Inputs {
 public:
  RandomInputs(mpc::Context& party, int bits, bool positive)
      : party_(party), bits_(bits), positive_(positive) {}

  mpc::RingMatrix Own(mpc::Index rows, mpc::Index cols) override {
    mpc::RingMatrix values = Words(rows, cols);
    for (mpc::Index k = 0; k < values.size(); ++k) {
      const mpc::Word word = values.data()[k] >> (63 - bits_);
      values.data()[k] = positive_ ? (word >> 1) + 1 : word - (mpc::Word{1} << bits_);
    }
    return values;
  }
  mpc::BitMatrix OwnBits(mpc::Index planes, mpc::Index count) override {
    return mpc::ToPlanes(Words(count, 1), static_cast<int>(planes));
  }
  mpc::ArithShare Numbers(mpc::Index rows, mpc::Index cols) override {
    return protocols::Input(party_, 0, party_.self() == 0 ? Own(rows, cols) : mpc::RingMatrix(),
                            {rows, cols});
  }
  mpc::BoolShare Bits(mpc::Index planes, mpc::Index count) override {
    return protocols::InputBits(party_, 0, OwnBits(planes, count), planes, count);
  }

 private:
  static mpc::RingMatrix Words(mpc::Index rows, mpc::Index cols) {
    RandomStream stream = RandomStream::FromSystem();
    return mpc::RingMatrix::NullaryExpr(rows, cols, [&] { return stream.NextWord(); });
  }

  mpc::Context& party_;
  int bits_;
  bool positive_;
};

std::string Text(const ProductShape& shape) {
  std::ostringstream text;
  text << shape.rows << 'x' << shape.inner << 'x' << shape.cols;
  return text.str();
}

/// All that can be measured.
std::vector<Operation> AllOperations() {
  std::vector<Operation> all;
  for (const Entry& entry : AllEntries()) {
    if (!entry.prepare || !entry.in_bench) continue;
    for (const Form form : entry.forms) all.push_back({.entry = &entry, .form = form});
  }
  return all;
}

std::vector<Operation> Chosen(const Request& request) {
  std::vector<Operation> chosen;
  for (const Operation& operation : AllOperations()) {
    const bool named = std::find(request.operations.begin(), request.operations.end(),
                                 operation.entry->name) != request.operations.end();
    const bool has_form = request.form == "auto" || request.form == NameOf(operation.form);
    if ((request.operations.empty() || named) && has_form) chosen.push_back(operation);
  }
  return chosen;
}

std::vector<Point> PointsOf(const Request& request, const Operation& operation) {
  std::vector<Point> points;
  if (operation.entry->shaped) {
    for (const ProductShape& shape : request.shapes)
      points.push_back({.count = shape.rows * shape.cols, .shape = shape});
  } else {
    for (const mpc::Index size : request.sizes) points.push_back({.count = size, .shape = std::nullopt});
  }
  return points;
}

Size SizeAt(const Operation& operation, const Point& point) {
  Size size = operation.entry->size;
  size.form = operation.form;
  size.count = point.shape ? point.shape->rows : point.count;
  if (point.shape) {
    size.inner = point.shape->inner;
    size.columns = point.shape->cols;
  }
  return size;
}

/// Every party's figures at every party, in party order.
std::array<Measured, 3> Exchange(mpc::Context& party, const Measured& own) {
  static_assert(std::is_trivially_copyable_v<Measured>);
  net::Bytes bytes(sizeof(Measured));
  std::memcpy(bytes.data(), &own, sizeof(Measured));
  std::array<Measured, 3> all;
  all[static_cast<std::size_t>(party.self())] = own;
  for (const int peer : {party.next(), party.previous()}) party.transport().Send(peer, bytes);
  for (const int peer : {party.next(), party.previous()}) {
    const net::Bytes theirs = party.transport().Receive(peer, sizeof(Measured));
    std::memcpy(&all[static_cast<std::size_t>(peer)], theirs.data(), sizeof(Measured));
  }
  return all;
}

Spread SpreadOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  const double median = values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {.min = values.front(), .median = median, .max = values.back()};
}

Result MeasureAt(mpc::Context& party, const Operation& operation, const Prepared& prepared,
                 const Point& point, int reps) {
  Result result;
  result.op = operation.entry->name;
  result.form = NameOf(operation.form);
  result.point = point;
  result.declared = operation.entry->cost(SizeAt(operation, point));
  result.reps = reps;
  std::vector<double> seconds;
  std::vector<double> offline;
  const auto run = [&](mpc::Context& context) { (void)prepared.run(context); };
  // One run's material at a time, which is made between the runs, and the same roles in each.
  mpc::Preprocessing runs(party, {.runs = reps + 1, .ahead = 1, .rotate = false});
  // The first run, which warms the caches and deals in line, is not counted.
  for (int rep = 0; rep <= reps; ++rep) {
    runs.WaitForNextRun();
    prepared.wait_until_ready();
    const auto all = Exchange(party, protocols::Measure(party, [&] { runs.Run(run); }));
    double slowest = 0;
    double dealing = 0;
    result.rounds = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      result.rounds = std::max(result.rounds, all[i].rounds);
      result.bytes_sent[i] = all[i].bytes_sent;
      result.bytes_offline[i] = all[i].bytes_offline;
      slowest = std::max(slowest, all[i].seconds);
      dealing += all[i].seconds_offline;
    }
    if (rep == 0) continue;
    seconds.push_back(slowest);
    offline.push_back(dealing);
  }
  result.seconds = SpreadOf(std::move(seconds));
  result.seconds_offline = SpreadOf(std::move(offline));
  return result;
}

/// Seconds a run at the slowest party, where runs follow each other and what they deal is made beside them.
double SustainedSeconds(mpc::Context& party, const Prepared& prepared, int count) {
  mpc::Preprocessing runs(party, {.runs = count + 1, .ahead = kSustainedAhead, .rotate = true});
  const auto run = [&](mpc::Context& context) { (void)prepared.run(context); };
  runs.Run(run);
  const Measured all_runs = protocols::Measure(party, [&] {
    for (int k = 0; k < count; ++k) runs.Run(run);
  });
  double slowest = 0;
  for (const Measured& one : Exchange(party, all_runs)) slowest = std::max(slowest, one.seconds);
  return slowest / count;
}

/// The form that the cost model expects to be faster, if there are two.
Result MeasureFastest(mpc::Context& party, const std::vector<Operation>& forms, const Point& point,
                      const protocols::Link& link, const Request& request) {
  const auto expected = [&](const Operation& operation) {
    const Size size = SizeAt(operation, point);
    return protocols::ExpectedSeconds(operation.entry->cost(size), operation.entry->seconds(size), link);
  };
  const Operation& best = *std::min_element(
      forms.begin(), forms.end(), [&](const auto& a, const auto& b) { return expected(a) < expected(b); });
  const Size size = SizeAt(best, point);
  RandomInputs inputs(party, size.input_bits, best.entry->positive);
  const Prepared prepared = best.entry->prepare(party, inputs, size);
  Result result = MeasureAt(party, best, prepared, point, request.reps);
  if (request.sustained > 0) result.seconds_sustained = SustainedSeconds(party, prepared, request.sustained);
  return result;
}

/// Forms of the same operation side by side.
std::vector<std::vector<Operation>> ByName(const std::vector<Operation>& operations) {
  std::vector<std::vector<Operation>> groups;
  for (const Operation& operation : operations) {
    if (groups.empty() || groups.back().front().entry->name != operation.entry->name) groups.emplace_back();
    groups.back().push_back(operation);
  }
  return groups;
}

nlohmann::json ToJson(const Spread& spread) {
  return {{"min", spread.min}, {"median", spread.median}, {"max", spread.max}};
}

}  // namespace

void Validate(const Request& request) {
  const auto all = AllOperations();
  for (const std::string& name : request.operations) {
    if (std::any_of(all.begin(), all.end(),
                    [&](const Operation& operation) { return operation.entry->name == name; }))
      continue;
    std::string text = "--ops: found " + name;
    text += ", expected some of";
    for (const auto& forms : ByName(all)) text += ' ' + forms.front().entry->name;
    throw ConfigError(text);
  }
  if (Chosen(request).empty()) {
    throw ConfigError("--form: found " + request.form +
                      ", which none of the chosen operations has in this version");
  }
}

std::vector<Result> Run(mpc::Context& party, const Request& request,
                        const std::function<void(const Result&)>& on_result) {
  Validate(request);
  const protocols::Link link = protocols::MeasureLink(party);
  std::vector<Result> results;
  for (const std::vector<Operation>& forms : ByName(Chosen(request))) {
    for (const Point& point : PointsOf(request, forms.front())) {
      results.push_back(MeasureFastest(party, forms, point, link, request));
      on_result(results.back());
    }
  }
  return results;
}

std::string ToJson(const Request& request) {
  nlohmann::json shapes = nlohmann::json::array();
  for (const ProductShape& shape : request.shapes) shapes.push_back(Text(shape));
  return nlohmann::json{{"type", "bench"},
                        {"ops", request.operations},
                        {"form", request.form},
                        {"sizes", request.sizes},
                        {"shapes", shapes},
                        {"reps", request.reps},
                        {"sustained", request.sustained}}
      .dump();
}

nlohmann::json ToJson(const std::vector<Result>& results) {
  nlohmann::json list = nlohmann::json::array();
  for (const Result& result : results) {
    nlohmann::json shape = nullptr;
    if (result.point.shape) shape = Text(*result.point.shape);
    list.push_back({{"op", result.op},
                    {"form", result.form},
                    {"n", result.point.count},
                    {"shape", shape},
                    {"declared",
                     {{"rounds", result.declared.rounds()},
                      {"bytes_sent", result.declared.bytes_sent()},
                      {"bytes_offline", result.declared.bytes_offline()}}},
                    {"rounds", result.rounds},
                    {"bytes_sent", result.bytes_sent},
                    {"bytes_offline", result.bytes_offline},
                    {"seconds", ToJson(result.seconds)},
                    {"seconds_offline", ToJson(result.seconds_offline)},
                    {"reps", result.reps}});
    if (result.seconds_sustained) list.back()["seconds_sustained"] = *result.seconds_sustained;
  }
  return {{"machine", DescribeMachine()}, {"results", list}};
}

}  // namespace trefoil::bench
