#pragma once
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "jobs/draft/interview.h"

namespace trefoil::apps {

/// Answers by key.
using Answers = std::map<std::string, std::string>;

/// A TOML file `key = "answer"`, as AnswersToml() writes it. Throws ConfigError naming the line.
[[nodiscard]] Answers ReadAnswers(const std::string& file);

/// Questions and answers on streams, a line each.
class Session : public jobs::Interview {
 public:
  /// `known` answers are taken first; with `yes` every proposal else is. The streams outlive the session.
  Session(std::istream& in, std::ostream& out, Answers known, bool yes)
      : in_(in), out_(out), known_(std::move(known)), yes_(yes) {}

  [[nodiscard]] std::string Ask(const jobs::Question& question) override;
  void Refuse(const jobs::Question& question, const std::string& cause) override;
  [[nodiscard]] bool Knows(const std::string& key) const override { return known_.contains(key); }

  /// All answers that were given or taken, in full, in the order of the questions: the same job again. None to
  /// what nobody was asked.
  [[nodiscard]] std::string AnswersToml() const;
  /// The keys of known answers to which there was no question.
  [[nodiscard]] std::vector<std::string> Unused() const;
  /// "KEY = VALUE: MEANING" for each key of the job whose proposal was taken without a question.
  [[nodiscard]] const std::vector<std::string>& Unasked() const { return unasked_; }

 private:
  [[nodiscard]] std::string Prompt(const jobs::Question& question);
  void Keep(const jobs::Question& question, const std::string& answer);

  std::istream& in_;
  std::ostream& out_;
  Answers known_;
  bool yes_;
  std::vector<std::pair<std::string, std::string>> taken_;
  std::vector<std::string> unasked_;
};

}  // namespace trefoil::apps
