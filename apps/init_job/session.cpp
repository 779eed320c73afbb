#include "apps/init_job/session.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>
#include <iostream>

#include "base/error_report.h"
#include "jobs/config/toml/toml_reader.h"
#include "jobs/config/toml/toml_writer.h"

namespace trefoil::apps {
namespace {

std::string Trimmed(const std::string& line) {
  constexpr const char* kBlanks = " \t\r";
  const auto first = line.find_first_not_of(kBlanks);
  return first == std::string::npos ? "" : line.substr(first, line.find_last_not_of(kBlanks) + 1 - first);
}

std::string LowerCase(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// The proposal with what belongs to it, as a terminal may show it.
std::string Shown(const jobs::Question& question) { return OneLine(question.proposal + question.warning); }

}  // namespace

Answers ReadAnswers(const std::string& file) {
  const auto table = jobs::ReadToml(file);
  const jobs::Section section(table, file);
  Answers answers;
  for (const auto& key : section.Keys()) answers[key] = section.Text(key);
  return answers;
}

std::string Session::Ask(const jobs::Question& question) {
  std::string answer;
  const auto known = known_.find(question.key);
  if (known != known_.end()) {
    answer = known->second;
  } else if (!question.setting.empty()) {
    answer = question.proposal;
    unasked_.push_back(fmt::format("{} = {}: {}", question.setting, answer, question.text));
  } else if (!question.proposal.empty() && (question.agreed || yes_)) {
    if (!question.agreed && !Repeats())
      out_ << fmt::format("{}\n  {}{}\n", question.text, Shown(question),
                          question.publishes ? " (becomes public)" : "");
    answer = question.proposal;
  } else {
    answer = Given(question);
  }
  Keep(question, answer);
  return answer;
}

/// The user's answer, of before where it stands.
std::string Session::Given(const jobs::Question& question) {
  if (!Repeats()) {
    given_.push_back(Prompt(question));
    if (given_.back() != taken_back_) cause_.clear();
  }
  return given_[repeated_++];
}

std::string Session::Prompt(const jobs::Question& question) {
  if (!explained_ && !given_.empty()) {
    out_ << "(An answer \"back\" returns to the question before.)\n";
    explained_ = true;
  }
  if (!again_) out_ << question.text << '\n';
  again_ = false;
  const bool proposes = !question.proposal.empty();
  if (proposes && !question.yes_or_no)
    out_ << (question.publishes
                 ? fmt::format("  From the file: {}\n  yes: this becomes public{}", Shown(question),
                               question.sole ? ", or there is no job" : ". Or your own")
                 : fmt::format("  Enter: {}", Shown(question)));
  while (true) {
    out_ << (question.yes_or_no ? "  yes or no > " : " > ") << std::flush;
    std::string line;
    if (!std::getline(in_, line))
      throw SessionEnd(
          !cause_.empty()
              ? cause_
              : fmt::format(
                    "standard input: ended before the answer \"{}\", expected one (--yes takes proposals)",
                    question.key));
    const auto answer = Trimmed(line);
    const auto word = LowerCase(answer);
    if (word == "back" && !given_.empty()) {
      given_.pop_back();
      cause_.clear();
      throw Back();
    }
    if (word == "back" && !question.any_word) {  // there it may be a column's name
      out_ << "  There is no question before this one.\n";
      continue;
    }
    if (question.yes_or_no && !word.empty()) return word;
    const bool agreed = question.publishes ? word == "yes" : word.empty() || answer == "yes";
    if (proposes && agreed && (word.empty() || !question.any_word)) return question.proposal;
    // Said to a proposal these words are no answer of one's own, such as a mark of missing values or a name.
    const bool denied =
        proposes && !question.any_word && (word == "no" || word == "n" || word == "yes" || word == "y");
    if (!word.empty() && !denied) return answer;
    if (denied && question.sole)
      out_ << "  Without a yes to it there is no job: go back, or end here (Ctrl-C).\n";
    else if (denied)
      out_ << "  Then an answer of your own, or an end here (Ctrl-C)."
           << (question.publishes ? " One that is this word can only stand in a file for --answers.\n"
                                  : "\n");
    else
      out_ << (question.publishes ? "  Only yes makes it public.\n" : "  An answer is needed.\n");
  }
}

void Session::Refuse(const jobs::Question& question, const std::string& cause) {
  if (known_.contains(question.key) || yes_ || question.agreed || !question.setting.empty())
    throw SessionEnd(fmt::format("answer \"{}\": {}", question.key, cause));
  given_.pop_back();
  --repeated_;
  again_ = true;
  out_ << "  " << OneLine(cause) << '\n';
}

void Session::Restart() {
  repeated_ = 0;
  taken_.clear();
  unasked_.clear();
}

bool Session::TakeBack(const std::string& cause) {
  if (given_.empty() || (cause == cause_ && given_.back() == taken_back_)) return false;
  cause_ = cause;
  taken_back_ = given_.back();
  given_.pop_back();
  out_ << "  " << OneLine(cause) << '\n';
  Restart();
  return true;
}

void Session::Keep(const jobs::Question& question, const std::string& answer) {
  // What nobody was asked follows the rule again when other answers are changed.
  if (!question.kept || (!question.setting.empty() && !known_.contains(question.key))) return;
  const auto same = [&](const auto& one) { return one.first == question.key; };
  taken_.erase(std::remove_if(taken_.begin(), taken_.end(), same), taken_.end());
  taken_.emplace_back(question.key, answer);
}

std::string Session::AnswersToml() const {
  std::string text = "# Answers of trefoil init-job, for --answers.\n";
  for (const auto& [key, answer] : taken_)
    text += fmt::format("{} = {}\n", jobs::TomlString(key), jobs::TomlString(answer));
  return text;
}

std::vector<std::string> Session::Unused() const {
  std::vector<std::string> unused;
  for (const auto& [key, answer] : known_) {
    const auto same = [&, &name = key](const auto& one) { return one.first == name; };
    if (std::none_of(taken_.begin(), taken_.end(), same)) unused.push_back(key);
  }
  return unused;
}

}  // namespace trefoil::apps
