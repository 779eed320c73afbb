#pragma once
#include "ml/dpsgd/training.h"
#include "ml/plan/settings.h"

namespace trefoil::ml {

/// Throws DataError unless a party's own records are as the settings declare them, ContractError without a
/// label, key or group for each row where they are needed.
void CheckOwnRecords(const TrainingSettings& settings, const OwnRecords& own, int self);

/// The same of what it holds beside them. Throws DataError.
void CheckHeldOut(const TrainingSettings& settings, const HeldOutRecords& held_out, int self);

}  // namespace trefoil::ml
