#pragma once
#include <string>

#include "jobs/draft/interview.h"

namespace trefoil::jobs {

/// A job file of type dpsgd for records of the source's kind: JobType::draft. Asks what DraftRecords() does,
/// then for epsilon, whom it is for and who gets the model. Delta is a power of ten by the declared rows, the
/// loss of a number to be predicted squared, unless other answers are known: nobody is asked. Steps, batches,
/// learning rate and clip are "auto".
[[nodiscard]] std::string DraftDpsgd(const DraftSource& source, Interview& interview);

}  // namespace trefoil::jobs
