#include "jobs/dpsgd/settings/draft.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "jobs/config/common_fields.h"
#include "jobs/config/toml/toml_writer.h"
#include "jobs/draft/records_draft.h"
#include "jobs/draft/value_list.h"

namespace trefoil::jobs {
namespace {

double AskNumber(Interview& interview, const Question& question, double least, double most) {
  return AskFor(interview, question, [&](const std::string& answer) {
    const double number = ParseNumber(answer, question.key);
    if (number <= least || number >= most)
      throw ConfigError(fmt::format("{}: found {}, expected a number above {} and below {}", question.key,
                                    answer, least, most));
    return number;
  });
}

double AskEpsilon(Interview& interview) {
  return AskNumber(interview,
                   {.key = "epsilon",
                    .text = "Epsilon: what the model may tell of a record. 1 is strict, 3 usual, 10 weak.",
                    .proposal = "1"},
                   0, 1024);
}

/// At most a tenth of one over the rows that there may be, as AdviceOn() advises, a power of ten.
double AskDelta(const RecordsDraft& records, Interview& interview) {
  const auto rows =
      static_cast<double>(std::accumulate(records.rows.begin(), records.rows.end(), std::int64_t{0}));
  const double power = std::floor(-std::log10(10 * std::max(1.0, rows)));
  return AskNumber(
      interview,
      {.key = "delta",
       .text = "the probability that epsilon does not hold, at most a tenth of one over the rows",
       .proposal = fmt::format("1e{:.0f}", std::min(-5.0, power)),
       .setting = "privacy.delta"},
      0, 1);
}

std::string AskAdversary(Interview& interview) {
  const Question question{
      .key = "against",
      .text =
          "For whom epsilon is meant: an insider, one of the three parties, who knows its own noise, or an "
          "outsider, who sees the model alone. Both are computed; the insider's is larger, so that what is "
          "meant for an insider holds for outsiders, too.",
      .proposal = "insider"};
  return AskFor(interview, question, [](const std::string& answer) {
    if (answer != "outsider" && answer != "insider")
      throw ConfigError("against: found \"" + answer + "\", expected outsider or insider");
    return answer;
  });
}

std::string AskRelease(bool target, Interview& interview) {
  const Question question{
      .key = "release",
      .text = target ? "Which of the parties 0, 1 and 2 get the model?"
                     : "Which of the parties 0, 1 and 2 get the model? (none: it stays in shares)",
      .proposal = "0, 1, 2"};
  return AskFor(interview, question, [target](const std::string& answer) {
    auto parties = WordsOf(answer);
    std::sort(parties.begin(), parties.end());
    if (parties == std::vector<std::string>{"none"}) parties.clear();
    if (target && parties.empty())
      throw ConfigError("release: found none, expected a party: a model of numbers does not stay in shares");
    const bool known = std::all_of(parties.begin(), parties.end(), [](const std::string& party) {
      return party == "0" || party == "1" || party == "2";
    });
    if (!known || std::adjacent_find(parties.begin(), parties.end()) != parties.end())
      throw ConfigError("release: found \"" + answer +
                        "\", expected different party numbers from 0 to 2, or none");
    return fmt::format("{}", fmt::join(parties, ", "));
  });
}

/// [model] of a job that predicts a number of this range.
std::string AskLoss(const data::TargetRange& range, Interview& interview) {
  const Question question{
      .key = "loss",
      .text = fmt::format(
          "how errors of the number count; or \"huber\" with a huber_threshold, a difference beyond which "
          "they count by their length, where some numbers are far from what the rest of their record says{}",
          range.low == 0 ? "; or \"poisson\", of counts, which columns change by a factor" : ""),
      .proposal = "squared",
      .setting = "model.loss"};
  const auto loss = AskFor(interview, question, [&range](const std::string& answer) -> std::string {
    const auto words = WordsOf(answer);
    if (words.size() == 2 && words[0] == "huber") {
      const double threshold = ParseNumber(words[1], "loss");
      if (threshold <= 0)
        throw ConfigError(fmt::format("loss: found the threshold {}, expected one above 0", words[1]));
      return fmt::format("\"huber\"\nhuber_threshold = {}", threshold);
    }
    if (answer == "poisson" && range.low != 0)
      throw ConfigError(
          fmt::format("loss: found poisson with a target from {}, expected one from 0", range.low));
    if (answer != "squared" && answer != "poisson")
      throw ConfigError("loss: found \"" + answer + "\", expected squared, huber THRESHOLD or poisson");
    return "\"" + answer + "\"";
  });
  return "[model]\n# squared, huber or poisson: docs/howto/tables.md, \"Numbers to be predicted\".\nloss = " +
         loss + "\n\n";
}

}  // namespace

std::string DraftDpsgd(const DraftSource& source, Interview& interview) {
  const auto records = DraftRecords(source, interview);
  const auto model = records.target ? AskLoss(*records.target, interview) : "";
  const double epsilon = AskEpsilon(interview);
  const double delta = AskDelta(records, interview);
  const auto against = AskAdversary(interview);
  const auto release = AskRelease(records.target.has_value(), interview);
  return fmt::format(
      "# Drafted by trefoil init-job. The same at all three parties; everything in it is public.\n"
      "# What tells too much of one file (rows, means, scales, values): change it before others have it.\n"
      "version = 1\ntype = \"dpsgd\"\nname = {}\n{}\n{}"
      "[training]\n# Numbers by rule from what is declared here, never from data: docs/howto/settings.md.\n"
      "steps = \"auto\"\nexpected_batch = \"auto\"\nlearning_rate = \"auto\"\nmomentum = \"auto\"\n"
      "schedule = \"linear\"\n\n"
      "[privacy]\nepsilon = {}\n"
      "delta = {}  # the probability that epsilon does not hold: keep it below a tenth of one over the rows\n"
      "against = \"{}\"  # insider: one of the three parties; outsider: who sees the model alone\n"
      "clip = \"auto\"\naccountant = \"pld\"\n\n"
      "[release]\nto = [{}]  # the parties that get the model\n",
      TomlString(records.name), records.toml, model, epsilon, delta, against, release);
}

}  // namespace trefoil::jobs
