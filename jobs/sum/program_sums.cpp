#include "jobs/sum/program_sums.h"

#include <spdlog/fmt/fmt.h>

#include <filesystem>
#include <utility>

#include "base/threads/blocking_call.h"
#include "data/formats/file.h"
#include "jobs/sum/own_sums.h"

namespace trefoil::jobs {
namespace {

using mpc::RingMatrix;
using mpc::Word;

constexpr const char* kProgram = "the program's records";

/// What errors call a call's vectors.
std::filesystem::path PlaceOf(std::int64_t call) { return fmt::format("call {}", call); }

}  // namespace

ProgramSums::ProgramSums(const SumSettings& job, VectorProgram& program, std::int64_t most,
                         RandomStream coins)
    : job_(job), program_(program), most_(most), records_(program.records()), coins_(std::move(coins)) {
  if (records_ < 0 || records_ > most_)
    data::ThrowDataError(kProgram, "", fmt::format("{}", records_),
                         fmt::format("at most the {} that the job declares", most_));
  const auto keys = program.keys();
  const auto wanted = job.groups() ? static_cast<std::size_t>(records_) : 0;
  if (keys.size() != wanted)
    data::ThrowDataError(
        kProgram, "", fmt::format("{} keys", keys.size()),
        fmt::format("{}, {}", wanted, job.groups() ? "one a record" : "as the job has no groups"));
  if (job.groups()) groups_ = GroupsOf(job, keys, kProgram);
}

void ProgramSums::StartBehind(std::int64_t begun, std::int64_t shared) {
  call_ = begun;
  program_.Begins(begun, shared);
}

std::optional<RingMatrix> ProgramSums::Next() {
  ++call_;
  const auto taken = DrawTaken(job_, groups_, static_cast<std::size_t>(records_), coins_);
  std::vector<std::int64_t> rows;
  for (std::size_t row = 0; row < taken.size(); ++row) {
    if (taken[row] != 0) rows.push_back(static_cast<std::int64_t>(row));
  }
  return job_.owners_sum ? SumOfOwner(rows) : SumOfRows(rows);
}

void ProgramSums::Opened(std::span<const double> sum) {
  const std::filesystem::path what = "a sum to the program";
  const BlockingCall call("handing", what, BlockingCall::Of::kProgram);
  program_.Opened(call_, sum);
}

bool ProgramSums::Bring(std::span<const std::int64_t> rows, const VectorProgram::Add& add) {
  const std::filesystem::path what = "the program's vectors";
  const BlockingCall call("waiting for", what, BlockingCall::Of::kProgram);
  return program_.Bring(call_, rows, add);
}

std::optional<RingMatrix> ProgramSums::SumOfRows(std::span<const std::int64_t> rows) {
  const auto dimension = static_cast<std::size_t>(job_.dimension);
  VectorSum sum(job_);
  std::size_t done = 0;
  const auto add = [&](std::span<const double> vectors) {
    if (vectors.size() % dimension != 0)
      data::ThrowDataError(PlaceOf(call_), "", fmt::format("{} numbers", vectors.size()),
                           fmt::format("whole vectors of {} numbers", dimension));
    for (; !vectors.empty(); vectors = vectors.subspan(dimension)) {
      if (done == rows.size())
        data::ThrowDataError(PlaceOf(call_), "", "one more vector",
                             fmt::format("{}, one for each record that is taken", rows.size()));
      const auto vector = vectors.first(dimension);
      RequireFinite(vector, static_cast<std::size_t>(rows[done]), PlaceOf(call_));
      sum.Add(vector, ~Word{0});
      ++done;
    }
  };
  if (!Bring(rows, add)) return {};
  if (done < rows.size())
    data::ThrowDataError(PlaceOf(call_), "", fmt::format("{} vectors", done),
                         fmt::format("{}, one for each record that is taken", rows.size()));
  return sum.TakeSum();
}

std::optional<RingMatrix> ProgramSums::SumOfOwner(std::span<const std::int64_t> rows) {
  std::vector<double> vector;
  const auto dimension = static_cast<std::size_t>(job_.dimension);
  const auto add = [&](std::span<const double> numbers) {
    vector.insert(vector.end(), numbers.begin(), numbers.end());
    if (vector.size() > dimension)
      data::ThrowDataError(PlaceOf(call_), "", fmt::format("{} numbers", vector.size()),
                           fmt::format("one vector of {} numbers", dimension));
  };
  if (!Bring(rows, add)) return {};
  if (vector.size() < dimension)
    data::ThrowDataError(PlaceOf(call_), "", fmt::format("{} numbers", vector.size()),
                         fmt::format("one vector of {} numbers", dimension));
  RequireFinite(vector, 0, PlaceOf(call_));
  // By what is declared: whether a session ends must not depend on how many records there are.
  return RoundedOwnersSum(job_, vector, most_, PlaceOf(call_));
}

}  // namespace trefoil::jobs
