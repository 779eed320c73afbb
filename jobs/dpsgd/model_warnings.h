#pragma once
#include <string>
#include <vector>

#include "jobs/dpsgd/settings.h"
#include "ml/dpsgd/training.h"

namespace trefoil::jobs {

/// What the released model says of this party's own records, a line each, for their owner's eyes alone: that the clip
/// shortens the gradients of nine tenths of them at least, or that all are shorter than half of it (of linear models that
/// are clipped); that all are taken for one class, though they are not of one; that the mean loss is hardly below that of
/// a model of zeros, or above it. Each line ends with what acting on it in a public job would tell the others.
/// `class_weights`: what errors were multiplied by, if by anything. `threshold`: the released model's. Nothing for records
/// of a vertical partition, which no party holds whole, and for such as stay in their file.
[[nodiscard]] std::vector<std::string> ModelWarnings(const DpsgdSettings& job, const ml::Model& model,
                                                     const ml::OwnRecords& own,
                                                     const std::vector<double>& class_weights,
                                                     double threshold);

}  // namespace trefoil::jobs
