#include "jobs/statement/privacy_statement.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <variant>

#include "base/error_report.h"
#include "base/outward_text.h"
#include "dp/mechanisms/rounding.h"
#include "dp/record/json_number.h"
#include "jobs/statement/bound_text.h"
#include "jobs/statement/event_sentences.h"
#include "jobs/statement/unit_text.h"
#include "jobs/statement/vertical_statement.h"

namespace trefoil::jobs {
namespace {

using Statement = std::vector<StatementEntry>;

/// What of delta does not go to the noise: the chance that batches are cut, and (1 + e^epsilon) times the
/// total variation of approximations of a law.
std::string CostOfApproximations(const std::vector<dp::Event>& events, double epsilon) {
  double cost = 0;
  for (const auto& event : events) {
    if (const auto* cut = std::get_if<dp::IndependentFailure>(&event))
      cost = dp::SumAbove(cost, static_cast<double>(cut->count), cut->probability);
    const auto* near = std::get_if<dp::TotalVariation>(&event);
    if (near != nullptr && near->distance > 0)
      cost = dp::SumAbove(cost, static_cast<double>(near->count),
                          (1 + std::exp(epsilon)) * near->distance * (1 + dp::kClosedFormError));
  }
  if (cost == 0) return "nothing";
  return std::isfinite(cost) ? DigitsAbove(cost, 3) : "too much";
}

/// Whether something was trained: else the record is of releases alone.
bool Trains(const dp::TrainingRecord& record) {
  return std::any_of(record.events.begin(), record.events.end(), [](const dp::RecordedEvent& event) {
    return !std::holds_alternative<dp::PureReleases>(event) &&
           !std::holds_alternative<dp::LaplaceCounts>(event) &&
           !std::holds_alternative<dp::GaussianReleases>(event) &&
           !std::holds_alternative<dp::ApproximateReleases>(event) &&
           !std::holds_alternative<dp::UnboundedReleases>(event);
  });
}

/// Whose noise protects against whom, by the kind of the record's events.
struct NoiseSentences {
  std::string outsider;
  std::string insider;
};

template <typename Event>
bool HasOne(const dp::TrainingRecord& record) {
  return std::any_of(record.events.begin(), record.events.end(),
                     [](const dp::RecordedEvent& event) { return std::holds_alternative<Event>(event); });
}

/// Appends what is true of an event to a sentence that is true of others.
void AddClause(std::string& sentence, std::string clause) {
  if (sentence.empty()) clause.front() = 'O';
  sentence += (sentence.empty() ? "" : "; ") + clause;
}

/// Where no one sentence is true of all events: of all parties' Gaussian noise first, if there is any.
NoiseSentences NoiseByEvent(const dp::TrainingRecord& record) {
  const bool local = HasOne<dp::LocalTraining>(record);
  const bool pairs = HasOne<dp::PureReleases>(record) || HasOne<dp::ApproximateReleases>(record);
  const bool counts = HasOne<dp::LaplaceCounts>(record);
  const bool gaussian = !(local || pairs || counts) || HasOne<dp::DpSgdSteps>(record) ||
                        HasOne<dp::NoisySelection>(record) || HasOne<dp::GaussianReleases>(record);
  NoiseSentences noise;
  if (gaussian) {
    noise = {
        .outsider = fmt::format(
            "The noise of all three parties protects {}: 1.2247 times the noise multiplier", OneUnit(record)),
        .insider = "It knows its own noise, so that the other two parties' remains: the noise multiplier"};
  }
  if (local) {
    for (auto* sentence : {&noise.outsider, &noise.insider})
      AddClause(*sentence, "of local training the owner's own noise alone, at its multiplier");
  }
  if (pairs) {
    AddClause(noise.outsider,
              "of releases with an epsilon of their own what noise a third party adds is not counted");
    AddClause(noise.insider, "of releases with an epsilon of their own what others added suffices");
  }
  if (counts) {
    AddClause(noise.outsider, "of noisy counts the parts of all three parties make up the noise");
    AddClause(noise.insider, "of noisy counts the other two parties' parts make it up");
  }
  for (auto* sentence : {&noise.outsider, &noise.insider}) *sentence += '.';
  return noise;
}

NoiseSentences WhoseNoise(const dp::TrainingRecord& record) {
  if (dp::HasUnbounded(record.events))
    return {.outsider = "No noise covers what has no bound, below.", .insider = "Likewise."};
  bool any_two = !record.events.empty();  // two parties' noise gives all that is counted
  bool parts = any_two;
  for (const auto& event : record.events) {
    const auto* approximate = std::get_if<dp::ApproximateReleases>(&event);
    if (approximate != nullptr && !approximate->insiders)
      return {.outsider = "The noise is one that a party may know.",
              .insider = "It may know all of the noise."};
    any_two = any_two && (approximate != nullptr || std::holds_alternative<dp::PureReleases>(event));
    parts = parts && std::holds_alternative<dp::LaplaceCounts>(event);
  }
  if (parts) {
    return {
        .outsider = "The parts of all three parties make up its noise, which tells less than two of them.",
        .insider = "It knows its own part of the noise; the other two make up discrete Laplace noise."};
  }
  if (any_two) {
    return {.outsider = "The same as for an insider: what noise a third party adds is not counted.",
            .insider = "It knows its own noise; what others added suffices."};
  }
  return NoiseByEvent(record);
}

bool IsOfDeposits(const dp::TrainingRecord& record) { return record.promise && record.promise->deposited; }

/// Owners who deposited records are adversaries of each other: what they know beside what is released are
/// their own records, which an adversary is taken to know in any case.
void AddOwners(Statement& statement, const dp::TrainingRecord& record, const dp::EpsilonPair& epsilons) {
  const bool coins = std::any_of(record.events.begin(), record.events.end(), [](const auto& event) {
    const auto* steps = std::get_if<dp::DpSgdSteps>(&event);
    return steps != nullptr && steps->sampling == dp::SamplingMode::kPublic;
  });
  statement.push_back({.key = "epsilon_owner",
                       .title = "Epsilon, owner",
                       .sentence = fmt::format(
                           "For an owner of deposits, or several together, about {} of another one: as for "
                           "an outsider, since owners know no party's noise{}.",
                           OneUnit(record), coins ? ", and not the coins by which rows are taken" : ""),
                       .number = epsilons.outsider});
  statement.push_back({.key = "epsilon_owner_and_party",
                       .title = "Epsilon, both",
                       .sentence = fmt::format(
                           "For owners and one of the three parties together, about {} of another owner: as "
                           "for an insider, since owners add no noise that they could tell it.",
                           OneUnit(record)),
                       .number = epsilons.insider});
}

void AddEpsilons(Statement& statement, const StatementSource& source, const dp::EpsilonPair& epsilons) {
  const auto noise = WhoseNoise(source.record);
  statement.push_back({.key = "epsilon_outsider",
                       .title = "Epsilon, outsider",
                       .sentence = "For whoever sees what is released and nothing else. " + noise.outsider,
                       .number = epsilons.outsider});
  statement.push_back(
      {.key = "epsilon_insider",
       .title = "Epsilon, insider",
       .sentence = fmt::format("For one of the three parties, about {} of {}. {}", OneUnit(source.record),
                               IsOfDeposits(source.record) ? "an owner" : "another", noise.insider),
       .number = epsilons.insider});
  if (IsOfDeposits(source.record)) AddOwners(statement, source.record, epsilons);
  const auto split = dp::HasUnbounded(source.record.events)
                         ? std::string("It goes with no epsilon.")
                         : fmt::format(
                               "Of it, {} take {} against the outsider and {} against the insider; the rest "
                               "is left to the noise.",
                               Trains(source.record) ? "batches that are cut at their limit"
                                                     : "approximations of the noise's law",
                               CostOfApproximations(dp::OutsiderEvents(source.record), epsilons.outsider),
                               CostOfApproximations(dp::InsiderEvents(source.record), epsilons.insider));
  statement.push_back({.key = "delta", .title = "Delta", .sentence = split, .number = source.delta});
}

void AddMeaning(Statement& statement, const dp::TrainingRecord& record) {
  statement.push_back(
      {.key = "promise",
       .title = "Promise",
       .sentence = "For any two neighbouring data sets and any set of things that the adversary may see, the "
                   "probability under the one is at most e^epsilon times that under the other, plus delta."});
  statement.push_back({.key = "neighbours", .title = "Neighbours", .sentence = NeighboursText(record)});
  statement.push_back({.key = "unit", .title = "Unit of privacy", .sentence = UnitText(record)});
}

void AddRows(Statement& statement, const StatementSource& source) {
  if (source.rows.empty()) return;
  statement.push_back({.key = "several_rows",
                       .title = fmt::format("Several {}", UnitsName(source.record)),
                       .sentence = RowsSentence(source.record, source.rows)});
}

void AddAccountant(Statement& statement, dp::AccountantKind kind, double error) {
  std::string sentence =
      "rdp: Renyi curves of all events are added order by order, and the sum is converted to epsilon at "
      "delta at the best order. An upper bound.";
  if (kind == dp::AccountantKind::kPea) {
    sentence =
        "pea: the closed form 2 sqrt(T ln(1/delta)) / sigma, for every adversary without amplification by "
        "sampling. Sound up to epsilon = 2.3 ln(1/delta), and an upper bound.";
  }
  if (kind == dp::AccountantKind::kPld) {
    sentence = fmt::format(
        "pld: the distributions of all events' privacy losses are composed by Fourier transforms, for "
        "adding and for removing a record; the worse counts. An upper bound, at most {} above the "
        "exact epsilon for what is left of delta. Gaussians that nothing samples are one, accounted for by "
        "their exact formula.",
        DigitsAbove(error, 2));
  }
  statement.push_back({.key = "accountant", .title = "Accountant", .sentence = std::move(sentence)});
  if (kind == dp::AccountantKind::kPld) {
    statement.push_back({.key = "accountant_error",
                         .title = "Error of the accountant",
                         .sentence = "How far either epsilon is above the exact one, at most.",
                         .number = error});
  }
}

void AddTestRecords(Statement& statement, const StatementSource& source) {
  const auto epsilons = dp::TestSetEpsilons(source.record, source.delta);
  if (!std::isfinite(epsilons.insider)) return;
  if (HasOne<dp::Tuning>(source.record)) {
    statement.push_back({.key = "test_records",
                         .title = "Epsilon, test records",
                         .sentence = fmt::format("Of the comparison of trials by noisy counts, which are not "
                                                 "opened: of what the choice tells, for an "
                                                 "insider about a test record that is replaced by another; "
                                                 "{} for an outsider. Others are not charged "
                                                 "for it.",
                                                 BoundText(epsilons.outsider)),
                         .number = epsilons.insider});
    return;
  }
  statement.push_back(
      {.key = "test_records",
       .title = "Epsilon, test records",
       .sentence =
           fmt::format("Of what the evaluation opens with noise, for an insider about a test record that is "
                       "replaced by another, by the Gaussian's exact formula; {} for an outsider. Others are "
                       "not charged for it.",
                       BoundText(epsilons.outsider)),
       .number = epsilons.insider});
}

bool TakesPrivateCoins(const dp::RecordedEvent& event) {
  if (const auto* steps = std::get_if<dp::DpSgdSteps>(&event))
    return steps->sampling_rate < 1 && (steps->sampling == dp::SamplingMode::kOwnerPoisson ||
                                        steps->sampling == dp::SamplingMode::kDeposited);
  if (const auto* training = std::get_if<dp::LocalTraining>(&event)) return training->sampling_rate < 1;
  if (const auto* selection = std::get_if<dp::NoisySelection>(&event)) return selection->sampling_rate < 1;
  if (const auto* tuning = std::get_if<dp::Tuning>(&event))
    return std::ranges::any_of(tuning->trials, [](const dp::Tuning::Alike& trial) {
      return std::ranges::any_of(trial.events, TakesPrivateCoins);
    });
  return false;
}

bool CountsOnPrivateCoins(const dp::TrainingRecord& record, dp::AccountantKind accountant) {
  return accountant != dp::AccountantKind::kPea && std::ranges::any_of(record.events, TakesPrivateCoins);
}

void AddAssumptions(Statement& statement, const StatementSource& source) {
  const auto add = [&](const char* key, const char* title, std::string sentence) {
    statement.push_back({.key = key, .title = title, .sentence = std::move(sentence)});
  };
  add("assumes_one_corrupt", "Assumes",
      "At most one party is corrupt, it follows the protocol, and all three add their noise.");
  if (CountsOnPrivateCoins(source.record, source.accountant)) {
    add("assumes_private_coins", "Assumes",
        "Coins that choose an owner's rows stay with that owner; coins and noise come from ChaCha20 streams "
        "that the operating system seeds.");
  }
  if (IsOfDeposits(source.record))
    add("assumes_deposits", "Assumes",
        "No two parties put together their files of a deposit, which are its records. Of owners nothing: "
        "rows are checked on shares, so that a deposit moves what is computed no further, in the norm that "
        "noise is made for, than as many records as its capacity.");
  const bool trains = Trains(source.record);
  add("assumes_sums_seen", "Assumes no less than",
      HasOne<dp::Tuning>(source.record) ? "An adversary sees which trial is released, its score and every "
                                          "noisy sum of it, and knows every other "
                                          "record. What it sees in fact, the released weights, is a function "
                                          "of them; of the other trials it sees "
                                          "nothing."
      : trains
          ? "An adversary sees every noisy sum, and knows every other record. What it sees in fact, those "
            "sums or weights made of them, is a function of them."
          : "An adversary sees all noisy numbers, and knows every other record. What is opened is a "
            "function of those numbers.");
  const bool starts = HasOne<dp::LocalTraining>(source.record) || HasOne<dp::NoisySelection>(source.record);
  add("assumes_sensitivity", "Charged",
      starts   ? "Errors of clipping, of approximation and of every rounding are in the sensitivity; sums of "
                 "discrete Gaussians are charged for what they differ from one; the choice of a first "
                 "model by noisy counts and local training are events of their own."
      : trains ? "Errors of clipping, of approximation and of every rounding are in the sensitivity; sums of "
                 "discrete Gaussians are charged for what they differ from one."
               : "What one unit of privacy changes is a whole number of steps of the noise's lattice, and "
                 "covers every rounding and how far an iteration stops from its minimiser; sums of discrete "
                 "Gaussians are charged for what they differ from one.");
  add("assumes_public_job", "Assumes",
      fmt::format(
          "The job was fixed without looking at the data. The figures are of this job alone: all jobs on "
          "the same {}.",
          IsOfDeposits(source.record)
              ? "deposits add up, in ledgers of their owners' populations at parties that keep such"
              : "data add up, in a ledger where its owner keeps one"));
  add("not_covered", "Does not cover",
      "That an organisation takes part, its declared capacity, what the job says, timing, and accuracy "
      "figures on private data that are told to others.");
}

void AddWarnings(Statement& statement, const dp::TrainingRecord& record) {
  const auto add = [&](const std::string& sentence) {
    statement.push_back({.key = "warning", .title = "Warning", .sentence = sentence});
  };
  if (!record.promise)
    return add("Not stated by the record: whether its job released what no epsilon covers.");
  for (const auto& warning : record.promise->warnings) add(warning);
}

/// The text in lines of at most 96 characters, each after `indent`.
std::string Wrapped(const std::string& text, const std::string& indent) {
  constexpr std::size_t kWidth = 96;
  std::istringstream words(text);
  std::string lines;
  std::string line;
  for (std::string word; words >> word;) {
    if (!line.empty() && indent.size() + line.size() + 1 + word.size() > kWidth) {
      lines += indent + line + '\n';
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return lines + indent + line + '\n';
}

}  // namespace

std::vector<StatementEntry> PrivacyStatement(const StatementSource& source) {
  Statement statement;
  const auto epsilons = dp::Epsilons(source.record, source.delta, source.accountant);
  AddEpsilons(statement, source, epsilons);
  PutValuesFirst(statement, source);
  AddMeaning(statement, source.record);
  AddRows(statement, source);
  AddEvents(statement, source.record, source.accountant);
  AddAccountant(statement, source.accountant, epsilons.error);
  AddTestRecords(statement, source);
  AddAssumptions(statement, source);
  AddWarnings(statement, source.record);
  return statement;
}

std::vector<StatementEntry> ReleasesStatement(double sampling_rate, dp::AccountantKind accountant,
                                              double error) {
  Statement statement;
  AddMeaning(statement, {.job_hash = {}, .run_id = {}, .events = {}, .promise = dp::Promise{}});
  statement.push_back(
      {.key = "sampling",
       .title = "Sampling rate",
       .sentence = sampling_rate == 1
                       ? "Every record is in every release; nothing is amplified."
                       : "Every record is in a release with this probability, independently of all "
                         "others, by coins that the adversary does not see.",
       .number = sampling_rate});
  AddAccountant(statement, accountant, error);
  statement.push_back({.key = "assumes_multiplier",
                       .title = "Assumes",
                       .sentence =
                           "The noise multiplier is the deviation of the noise that the adversary does not "
                           "know over the sensitivity: for a party sigma, for an outsider 1.2247 sigma."});
  statement.push_back({.key = "not_covered",
                       .title = "Does not cover",
                       .sentence =
                           "Batches that are cut, and that noise is a sum of discrete Gaussians: trefoil "
                           "plan and trefoil account --record charge both."});
  return statement;
}

std::string ToText(const std::vector<StatementEntry>& statement) {
  std::string text;
  for (const auto& entry : statement) {
    const auto title = OneLine(entry.title);
    text += entry.number ? fmt::format("{:<22}  {}\n", title, NumberText(entry)) : title + '\n';
    text += Wrapped(OneLine(entry.sentence), "    ");
  }
  return text;
}

std::string NumberText(const StatementEntry& entry) {
  return entry.key == "noise_multiplier" ? MultiplierText(*entry.number) : BoundText(*entry.number);
}

nlohmann::ordered_json ToJson(const std::vector<StatementEntry>& statement) {
  auto json = nlohmann::ordered_json::array();
  for (const auto& entry : statement) {
    nlohmann::ordered_json one{{"key", entry.key}, {"title", entry.title}, {"sentence", entry.sentence}};
    if (entry.number) one["number"] = dp::NumberOrNull(*entry.number);
    json.push_back(std::move(one));
  }
  return json;
}

}  // namespace trefoil::jobs
