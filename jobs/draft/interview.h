#pragma once
#include <string>

#include "base/error.h"
#include "data/sketch/table_sketch.h"

namespace trefoil::jobs {

/// What a draft of a job needs to know.
struct Question {
  std::string key;         ///< in a file of answers
  std::string text;        ///< what is asked, in lines; what the file says in it went through OneLine()
  std::string proposal{};  ///< an answer as good as the user's own; empty: there is none
  std::string warning{};   ///< what is said behind the proposal wherever it is shown
  std::string note{};      ///< what is said behind both where one question lists several
  bool yes_or_no = false;  ///< whether the answers are yes and no
  bool any_word = false;   ///< whether else yes and no may be answers of the user's own, as a column's name
  bool publishes = false;  ///< whether the proposal tells of the file: it is taken on a yes only
  bool sole = false;       ///< whether no other answer than the proposal gives a job
  bool agreed = false;     ///< whether the user has said yes to it already
  bool kept = true;        ///< whether the answer belongs in a file of answers
  /// The job file's key for it, where nobody is asked: the proposal, which tells nothing of the file, is
  /// taken unless the answer is known beforehand, and `text` says what it means.
  std::string setting{};
};

/// Whoever answers.
class Interview {
 public:
  virtual ~Interview() = default;

  /// The answer in full: where the user takes the proposal, the proposal. Throws ConfigError where there is
  /// none to come. An interview that is to begin again throws something of its own.
  [[nodiscard]] virtual std::string Ask(const Question& question) = 0;
  /// An answer that is none: says why. Throws ConfigError where no other will come.
  virtual void Refuse(const Question& question, const std::string& cause) = 0;
  /// Whether the answer to `key` is known beforehand.
  [[nodiscard]] virtual bool Knows(const std::string& key) const = 0;
};

/// Asks until `parse` takes the answer, of which it throws ConfigError else; returns what it gives.
template <typename Parse>
decltype(auto) AskFor(Interview& interview, const Question& question, const Parse& parse) {
  while (true) {
    const auto answer = interview.Ask(question);
    try {
      return parse(answer);
    } catch (const ConfigError& error) {
      interview.Refuse(question, error.what());
    }
  }
}

/// What a draft is made of.
struct DraftSource {
  std::string name;         ///< proposed for the job
  data::TableSketch table;  ///< of the user's file
};

}  // namespace trefoil::jobs
