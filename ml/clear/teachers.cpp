#include "ml/clear/teachers.h"

#include <algorithm>

namespace trefoil::ml {

std::vector<std::vector<int>> LabelByTeachers(const std::vector<OwnRecords>& slices,
                                              const FeatureRows& queries, int classes,
                                              const ClassifierSettings& settings, ThreadPool& pool) {
  std::vector<std::vector<int>> labels(slices.size());
  pool.ParallelFor(slices.size(), 1, [&](std::size_t begin, std::size_t end) {
    ThreadPool own(1);  // a teacher is one thread's
    for (std::size_t k = begin; k < end; ++k) {
      if (slices[k].y.empty()) continue;
      const auto model = FitClassifier(slices[k], classes, settings, own);
      for (const auto& choice : Classify(model, queries, own)) labels[k].push_back(choice.label);
    }
  });
  labels.erase(std::remove_if(labels.begin(), labels.end(), [](const auto& one) { return one.empty(); }),
               labels.end());
  return labels;
}

}  // namespace trefoil::ml
