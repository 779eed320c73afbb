#pragma once
#include <string>

#include "jobs/draft/interview.h"

namespace trefoil::jobs {

/// A job file of type dpsgd for records of the source's kind: JobType::draft. Asks what DraftRecords() does,
/// then the loss of a number to be predicted, epsilon, delta, whom they are for and who gets the model;
/// steps, batches, learning rate and clip are "auto".
[[nodiscard]] std::string DraftDpsgd(const DraftSource& source, Interview& interview);

}  // namespace trefoil::jobs
