#pragma once
#include <vector>

#include "ml/clear/linear_classifier.h"

namespace trefoil::ml {

/// The teachers of one party (PATE), in the clear at their owner: one classifier of each slice of its
/// records, and the class that each gives every row of `queries`. A teacher whose slice has no record
/// abstains: it has no row here. So a record that is added to a slice or removed from it changes the labels
/// of that slice's teacher alone, or whether it has any. Memory: the labels, and one classifier a thread.
/// Pre: as FitClassifier, for each slice. Source: Papernot et al., "Semi-supervised knowledge transfer for
/// deep learning from private training data" (2017), section 2.1.
[[nodiscard]] std::vector<std::vector<int>> LabelByTeachers(const std::vector<OwnRecords>& slices,
                                                            const FeatureRows& queries, int classes,
                                                            const ClassifierSettings& settings,
                                                            ThreadPool& pool);

}  // namespace trefoil::ml
