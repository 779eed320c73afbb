#pragma once
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "jobs/draft/interview.h"

namespace trefoil::apps {

/// Answers by key.
using Answers = std::map<std::string, std::string>;

/// A TOML file `key = "answer"`, as AnswersToml() writes it. Throws ConfigError naming the line.
[[nodiscard]] Answers ReadAnswers(const std::string& file);

/// What no other answer of the user's mends.
class SessionEnd : public ConfigError {
 public:
  using ConfigError::ConfigError;
};

/// Questions and answers on streams, a line each. Whoever asks begins again from the first question where the
/// user goes back: answers that stand are given again then, and nothing is shown of them.
class Session : public jobs::Interview {
 public:
  /// `known` answers are taken first; with `yes` every proposal else is. The streams outlive the session.
  Session(std::istream& in, std::ostream& out, Answers known, bool yes)
      : in_(in), out_(out), known_(std::move(known)), yes_(yes) {}

  /// What Ask() throws where the user goes back.
  struct Back {};

  /// Throws SessionEnd where the stream ends, with the cause of TakeBack() if that is why it asks; Back.
  [[nodiscard]] std::string Ask(const jobs::Question& question) override;
  /// Throws SessionEnd where the user did not give the answer.
  void Refuse(const jobs::Question& question, const std::string& cause) override;
  [[nodiscard]] bool Knows(const std::string& key) const override { return known_.contains(key); }

  /// Before the questions are asked again from the first.
  void Restart();
  /// The same, and the user's last answer is asked for once more, as `cause` says. Returns whether there is
  /// one, and not the same again for the same cause; else it does nothing.
  [[nodiscard]] bool TakeBack(const std::string& cause);

  /// All answers that were given or taken, in full, in the order of the questions: the same job again. None
  /// to what nobody was asked.
  [[nodiscard]] std::string AnswersToml() const;
  /// The keys of known answers to which there was no question.
  [[nodiscard]] std::vector<std::string> Unused() const;
  /// "KEY = VALUE: MEANING" for each key of the job whose proposal was taken without a question.
  [[nodiscard]] const std::vector<std::string>& Unasked() const { return unasked_; }

 private:
  [[nodiscard]] bool Repeats() const { return repeated_ < given_.size(); }
  [[nodiscard]] std::string Given(const jobs::Question& question);
  [[nodiscard]] std::string Prompt(const jobs::Question& question);
  void Keep(const jobs::Question& question, const std::string& answer);

  std::istream& in_;
  std::ostream& out_;
  Answers known_;
  bool yes_;
  bool explained_ = false;          ///< how to go back
  std::vector<std::string> given_;  ///< by the user, each to one question
  std::size_t repeated_ = 0;        ///< of these, since the first question
  bool again_ = false;              ///< whether the next question is the last one once more
  std::string taken_back_;          ///< the last answer that TakeBack() asks for once more
  std::string cause_;               ///< why, until another one is given
  std::vector<std::pair<std::string, std::string>> taken_;
  std::vector<std::string> unasked_;
};

}  // namespace trefoil::apps
