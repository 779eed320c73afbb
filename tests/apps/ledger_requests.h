#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/ledger/ledger_file.h"

namespace trefoil {

inline constexpr double kDelta = 1e-5;
inline constexpr double kNoCap = 1e6;
inline const std::string kData(64, 'a');

/// Without sampling, since its curve takes the accountant no time.
inline dp::TrainingRecord RecordOf(const std::string& run, std::int64_t steps) {
  return {.job_hash = "ab",
          .run_id = run,
          .events = {dp::DpSgdSteps{.steps = steps,
                                    .sampling_rate = 1,
                                    .sigma = 50,
                                    .sensitivity = 0.5,
                                    .clip = 0.5,
                                    .limits = {{1000, 1000, 1000}, {1000, 1000, 1000}},
                                    .party_deviation = 1e6,
                                    .coordinates = 100}}};
}

inline runtime::BudgetRequest RequestOf(const std::string& run, std::int64_t steps, double cap = kNoCap) {
  return {.data = kData, .name = "job", .record = RecordOf(run, steps), .epsilon_cap = cap, .delta = kDelta};
}

/// Of a data set of this population with these records.
inline runtime::BudgetRequest RequestOf(const std::string& run, const std::string& population, char data,
                                        std::vector<std::uint64_t> tags) {
  auto request = RequestOf(run, 100);
  request.data = std::string(64, data);
  request.population =
      runtime::PopulationClaim{.population = population,
                               .data = request.data,
                               .records = {.key = "0123456789abcdef", .tags = std::move(tags)}};
  return request;
}

inline double Insider(std::int64_t steps) {
  dp::PrivacyFilter filter(dp::MakeFilterTerms(dp::FilterMode::kRdp, kDelta));
  filter.Add(dp::FilterCharges(RecordOf("1", steps), true));
  return filter.Epsilon();
}

inline double SpentIn(const std::filesystem::path& file) {
  const auto view = runtime::ReadLedger(file);
  return view.ledger
      .Spent(view.ledger.TermsAt(kDelta), [&](std::size_t job) { return view.may_be_alive[job]; })
      .insider;
}

/// Steps that a job of the ledger is charged.
inline std::int64_t Charged(const runtime::LedgerView& view, std::size_t job) {
  const auto& record = dp::Ledger::Charged(view.ledger.jobs()[job], view.may_be_alive[job]);
  return record.events.empty() ? 0 : std::get<dp::DpSgdSteps>(record.events.at(0)).steps;
}

inline std::string ErrorOf(const std::function<void()>& body) {
  try {
    body();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace trefoil
