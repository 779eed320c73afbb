#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trefoil/privacy.h"

namespace trefoil {

/// What a job asks of a program that brings its vectors (VectorProgram, trefoil/run.h).
struct VectorCalls {
  std::int64_t count = 0;      ///< calls that the job has, and is charged for
  std::int64_t dimension = 0;  ///< numbers of a vector
  double sampling_rate = 1;    ///< with which each unit of privacy is in a call
  bool owners_sum = false;     ///< a call takes one vector, which the owner has summed, and not one a record
};

/// A column of the parties' files whose values a job counts.
struct CountedColumn {
  std::string name;
  std::vector<std::string> values;  ///< that are counted
};

/// A job of any type, as its file declares it: public, and the same at all three parties. A handle: copies
/// are cheap.
class Job {
 public:
  /// Reads a job file (docs/reference/formats.md), sets each "KEY=VALUE" of `assignments` in order, and
  /// checks it whole; opens no data. Throws ConfigError with one line: place, key, what was found, what was
  /// expected.
  [[nodiscard]] static Job Read(const std::filesystem::path& file,
                                const std::vector<std::string>& assignments = {});

  /// The same of a JSON object with the keys of a job file, as Json() gives it; `source` names it in errors.
  [[nodiscard]] static Job Parse(const std::string& json, const std::string& source = "job");

  /// The values that `type` of a job file may have.
  [[nodiscard]] static std::vector<std::string> Types();
  /// A JSON Schema of the files of a type: every key with what it means, its limits and its default. Throws
  /// ConfigError for another type.
  [[nodiscard]] static std::string Schema(const std::string& type);

  [[nodiscard]] std::string name() const;
  [[nodiscard]] std::string type() const;
  /// At which both epsilons are said.
  [[nodiscard]] double delta() const;
  /// The parties that get results.
  [[nodiscard]] std::vector<int> release_to() const;
  /// Canonical JSON, with every default filled in: what parties compare when they meet.
  [[nodiscard]] std::string Json() const;
  /// SHA-256 of it, in lower-case hexadecimal.
  [[nodiscard]] std::string Hash() const;
  /// As a job file with every default filled in; Read reads the same job back.
  [[nodiscard]] std::string Toml() const;

  /// The most that the job releases. Throws ConfigError for a target that cannot be met.
  [[nodiscard]] Epsilons PlannedEpsilons() const;
  /// What the epsilons do not cover though a user would think so, one line each.
  [[nodiscard]] std::vector<std::string> Warnings() const;

  /// What a run costs at most, as declared, in one form of comparison.
  struct Cost {
    std::string form;  ///< "bulk" or "latency" where a run has the choice; else empty
    int rounds = 0;
    std::array<std::uint64_t, 3> bytes_sent{};  ///< by each party, what is sent ahead included
  };
  /// In each form that the job allows; nothing where the costs depend on a model that the job does not name.
  /// On deposits without their checks, as a job does not say how many deposits there are.
  [[nodiscard]] std::vector<Cost> PlannedCosts() const;

  /// Throws ConfigError where no program can bring the job's vectors.
  [[nodiscard]] VectorCalls CallsOfProgram() const;
  /// Nothing where the job counts none, or values that deposits have.
  [[nodiscard]] std::optional<CountedColumn> Counted() const;

  struct Impl;  ///< not for users of the library, nor is impl()
  [[nodiscard]] const Impl& impl() const { return *impl_; }

 private:
  explicit Job(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

}  // namespace trefoil
