#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "jobs/config/fields.h"
#include "jobs/records/schema.h"

namespace trefoil::jobs {

/// A job of type "predict": rows of one party, or of owners who deposited them, classified by a model in
/// shares.
struct PredictSettings {
  std::string name;
  std::string run;  ///< the training's run_id, which names the model
  StoreSpec store{.table = "predict"};
  int client = 0;  ///< where the rows are a party's
  std::int64_t rows =
      0;  ///< at most so many; as many are input. Of deposits their capacities together, likewise
  bool scores = false;
  std::optional<double> threshold{};  ///< in place of the training's model.threshold
};

/// The keys of such a job.
void Fields(FieldVisitor& v, PredictSettings& s);

/// Reads and checks a job file's table; `file` names it in errors. Throws ConfigError with one line: place,
/// key, what was found, what was expected.
[[nodiscard]] PredictSettings ReadPredictSettings(const toml::table& root, const std::string& file);

/// What the job does, in a line.
[[nodiscard]] std::string PredictJobTitle(const PredictSettings& job);

/// The job as compact JSON, keys sorted, all defaults filled in: what the parties compare.
[[nodiscard]] std::string PredictJson(const PredictSettings& job);

}  // namespace trefoil::jobs
