#include "jobs/evaluation/classify.h"

#include "base/error.h"
#include "ml/clear/linear_classifier.h"

namespace trefoil::jobs {

Eigen::RowVectorXd Logits(const ml::Model& model, const Eigen::RowVectorXd& row) {
  Eigen::RowVectorXd activation = row;
  for (const auto& layer : model.hidden) {
    const Eigen::RowVectorXd z = activation * layer.weights + layer.bias.transpose();
    activation = z.cwiseMax(0.0).cwiseMin(model.activation_bound);
  }
  Eigen::RowVectorXd logits = activation * model.weights + model.bias.transpose();
  if (!logits.allFinite())
    throw DataError("the model's weights are too large: a record's logits are not finite");
  return logits;
}

int ClassOf(const Eigen::RowVectorXd& logits, double decision) {
  if (logits.size() == 1) return logits(0) > decision ? 1 : 0;
  return ml::ChoiceOf(logits).label;
}

double TargetOf(const ModelSchema& schema, const Eigen::RowVectorXd& logits) {
  return data::TargetAt(schema.records.data.target.value(), ml::ShareAt(schema.classifier.loss, logits(0)));
}

std::string ClassName(const RecordSchema& schema, int index) {
  const auto& values = schema.data.label.values;
  const auto k = static_cast<std::size_t>(index);
  return k < values.size() ? values[k] : std::to_string(index);
}

}  // namespace trefoil::jobs
