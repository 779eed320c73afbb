#pragma once
#include <vector>

#include "jobs/dpsgd/settings/settings.h"
#include "jobs/job.h"
#include "ml/dpsgd/training.h"

namespace trefoil::jobs {

/// What the released model says of this party's own records, a line each, for their owner's eyes alone: of
/// how many of them the clip shortens the gradients, which is a warning where it is nine tenths at least, or
/// where all are shorter than half of it, else a note (of linear models that are clipped); as warnings that
/// all are taken for one class, though they are not of one; that the mean loss is hardly below that of a
/// model of zeros, or above it. Each line ends with what acting on it in a public job would tell the others.
/// `class_weights`: what errors were multiplied by, if by anything. `threshold`: the released model's.
/// Nothing for records of a vertical partition, which no party holds whole, and for such as stay in their
/// file.
[[nodiscard]] OwnerLines ModelWarnings(const DpsgdSettings& job, const ml::Model& model,
                                       const ml::OwnRecords& own, const std::vector<double>& class_weights,
                                       double threshold);

}  // namespace trefoil::jobs
