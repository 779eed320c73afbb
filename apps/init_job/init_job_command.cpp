#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>
#include <iostream>
#include <memory>

#include "apps/cli/command.h"
#include "apps/init_job/session.h"
#include "base/error_report.h"
#include "data/formats/file.h"
#include "data/sketch/table_sketch.h"
#include "jobs/advice.h"
#include "jobs/config/named_files.h"
#include "jobs/job.h"
#include "jobs/statement/bound_text.h"

namespace trefoil::apps {
namespace {

namespace fs = std::filesystem;

struct InitJobOptions {
  std::string data;
  std::string query;
  std::string out;
  std::string label;
  std::optional<std::string> header;
  std::string answers;
  bool yes = false;
  jobs::JobTypes types;
};

/// A name for the job, of the file's.
std::string NameOf(const fs::path& data) {
  std::string name = data.stem().string().substr(0, 64);
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '_' && c != '-') c = '-';
  }
  return !name.empty() && std::isalnum(static_cast<unsigned char>(name[0])) != 0 ? name : "job";
}

/// Before the first question, so that no answer is lost.
void RequireNew(const fs::path& file) {
  const auto folder = fs::absolute(file).parent_path();
  if (!fs::is_directory(folder))
    throw ConfigError(fmt::format("--out: {} is no folder, expected one that is there", folder.string()));
  if (fs::exists(file))
    throw ConfigError(fmt::format("--out: {} is there already, expected a new file's name", file.string()));
}

Answers KnownAnswers(const InitJobOptions& options) {
  auto answers = options.answers.empty() ? Answers{} : ReadAnswers(options.answers);
  if (!options.label.empty()) answers["label"] = options.label;
  return answers;
}

[[noreturn]] void RefuseAnswer(const InitJobOptions& options, const std::string& key) {
  throw SessionEnd(fmt::format("{}: found an answer \"{}\" to no question", options.answers, key));
}

/// Before the first question, too: answers about a column that the table has not.
void RequireColumns(const InitJobOptions& options, const Answers& known, const data::TableSketch& table) {
  for (const auto& [key, answer] : known) {
    const auto same = [&, &name = key](const auto& column) { return "column " + column.name == name; };
    if (key.starts_with("column ") && std::none_of(table.columns.begin(), table.columns.end(), same))
      RefuseAnswer(options, key);
  }
}

/// Writes the job, and reads it back with all checks of a plan; what is refused does not stay.
std::unique_ptr<jobs::Job> WriteJob(const fs::path& file, const std::string& text, jobs::JobTypes types) {
  data::WriteFile(file, text);
  try {
    auto job = jobs::ReadJob(file, {}, types);
    (void)job->Plan({});
    return job;
  } catch (...) {
    fs::remove(file);
    throw;
  }
}

/// Asks, and writes the job, until there is one: where answers that each are one give none together, as a label
/// with missing values does, the last of them is asked for again.
std::unique_ptr<jobs::Job> Draft(const InitJobOptions& options, const jobs::DraftSource& source,
                                 Session& session) {
  while (true) {
    try {
      const auto text = jobs::DraftJob(source, session, options.types);
      if (const auto unused = session.Unused(); !unused.empty()) RefuseAnswer(options, unused.front());
      return WriteJob(options.out, text, options.types);
    } catch (const Session::Back&) {
      session.Restart();
    } catch (const SessionEnd&) {
      throw;
    } catch (const ConfigError& error) {
      if (!session.TakeBack(error.what())) throw;
    }
  }
}

int InitJob(const InitJobOptions& options) {
  const fs::path out = options.out;
  const fs::path kept = options.out + ".answers";
  RequireNew(out);
  RequireNew(kept);
  if (options.header && !options.query.empty())
    throw ConfigError("--header: found with --query, expected without: its columns have names");
  std::optional<bool> header;
  if (options.header) header = *options.header == "yes";
  const auto files =
      options.query.empty() ? data::OneFile(options.data) : jobs::NamedQuery(options.data, options.query);
  const jobs::DraftSource source{.name = NameOf(options.data), .table = data::SketchTable(files, header)};
  const auto known = KnownAnswers(options);
  RequireColumns(options, known, source.table);
  Session session(std::cin, std::cout, known, options.yes);
  const auto job = Draft(options, source, session);
  data::WriteFile(kept, session.AnswersToml());
  const auto epsilons = job->Epsilons();
  std::cout << fmt::format(
      "\n{}: job {}, epsilon {}, delta {}; {}\n{}: the answers, for "
      "--answers\n",
      out.string(), job->name(), jobs::EpsilonsText(epsilons.outsider, epsilons.insider, jobs::FirstOf(*job)),
      jobs::DeltaText(job->delta()), job->Title(), kept.string());
  if (const auto& unasked = session.Unasked(); !unasked.empty())
    std::cout << fmt::format("Not asked; for others change {}:\n  {}\n", out.string(),
                             fmt::join(unasked, "\n  "));
  std::cout << fmt::format("Next: trefoil plan --job {}\n", out.string());
  for (const auto& line : jobs::AdviceOn(*job, epsilons)) std::cout << OneLine("Note: " + line) + '\n';
  return kDone;
}

}  // namespace

void AddInitJob(CLI::App& program, Action& action, jobs::JobTypes types) {
  auto options = std::make_shared<InitJobOptions>();
  options->types = types;
  auto* command =
      program.add_subcommand("init-job",
                             "Draft a job for a table by six questions; an answer \"back\" returns "
                             "to the one before. Nothing of the table's values or rows gets into the "
                             "job without a yes that says so");
  command
      ->add_option(
          "DATA", options->data,
          "The CSV file, which stays as it is; with --query an SQLite database, or postgres:DATABASE")
      ->required();
  command->add_option("--query", options->query, "The SELECT that gives the table; it stays out of the job");
  command->add_option("--out", options->out, "The job file to write; the answers go beside it, JOB.answers")
      ->required();
  command->add_option("--label", options->label,
                      "The column to predict, by name or number; else it is asked");
  command
      ->add_option("--header", options->header,
                   "Whether the first line names the columns; else it is guessed")
      ->check(CLI::IsMember({"yes", "no"}));
  command->add_option("--answers", options->answers,
                      "Answers of an earlier session; what they lack is asked");
  command->add_flag(
      "--yes", options->yes,
      "Take every proposal, so that values and ranges of the file become public, and its rows, rounded");
  command->callback([options, &action] { action = [options] { return InitJob(*options); }; });
}

}  // namespace trefoil::apps
