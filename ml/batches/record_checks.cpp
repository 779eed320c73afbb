#include "ml/batches/record_checks.h"

#include <map>
#include <string>

#include "base/error.h"
#include "ml/dpsgd/initialisation.h"
#include "ml/on_shares/held_out.h"

namespace trefoil::ml {

void CheckOwnRecords(const TrainingSettings& settings, const OwnRecords& own, int self) {
  const std::int64_t capacity = settings.rows.at(settings.vertical ? 0 : static_cast<std::size_t>(self));
  if (own.rows() > capacity) {
    throw DataError("data: found " + std::to_string(own.rows()) + " rows, the job declares at most " +
                    std::to_string(capacity) + " for party " + std::to_string(self));
  }
  const std::int64_t features =
      settings.vertical ? settings.vertical->features.at(static_cast<std::size_t>(self)) : settings.features;
  if (own.rows() > 0 && own.features() != features) {
    throw DataError("data: found " + std::to_string(own.features()) + " features, the job declares " +
                    std::to_string(features));
  }
  const bool labels = !settings.vertical || settings.vertical->label_party == self;
  const auto rows = static_cast<std::size_t>(own.rows());
  Require(own.y.size() == (labels ? rows : 0), "Train: one label a row, where labels are held");
  Require(own.keys.size() == (settings.vertical ? rows : 0),
          "Train: one key a row with a vertical partition");
  Require(own.groups.size() == (settings.groups ? rows : 0), "Train: one group a row where there are groups");
  Require(own.weights.size() == (settings.max_record_weight && labels ? rows : 0),
          "Train: one weight a row, where labels are held and records have weights");
  std::map<std::int64_t, std::int64_t> sizes;
  for (const std::int64_t group : own.groups) {
    Require(group >= 0 && group < own.rows(), "Train: groups numbered from 0");
    if (++sizes[group] > settings.group_rows) {
      throw DataError("data: found a group of more than " + std::to_string(settings.group_rows) +
                      " rows, expected no more (privacy.max_group_rows)");
    }
  }
}

void CheckHeldOut(const TrainingSettings& settings, const HeldOutRecords& held_out, int self) {
  if (settings.evaluation)
    CheckRecords(settings.evaluation->test, held_out.test, self, "evaluation", "evaluation.rows");
  if (!settings.initialisation || !SelectsByValidation(*settings.initialisation)) return;
  CheckRecords(settings.initialisation->validation, held_out.validation, self, "validation",
               "initialisation.validation_rows");
}

}  // namespace trefoil::ml
