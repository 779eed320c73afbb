#include "jobs/records/classify.h"

#include "ml/clear/linear_classifier.h"

namespace trefoil::jobs {

Eigen::RowVectorXd Logits(const ml::Model& model, const Eigen::RowVectorXd& row) {
  Eigen::RowVectorXd activation = row;
  for (const auto& layer : model.hidden) {
    const Eigen::RowVectorXd z = activation * layer.weights + layer.bias.transpose();
    activation = z.cwiseMax(0.0).cwiseMin(model.activation_bound);
  }
  return activation * model.weights + model.bias.transpose();
}

int ClassOf(const Eigen::RowVectorXd& logits) { return ml::ChoiceOf(logits).label; }

std::string ClassName(const RecordSchema& schema, int index) {
  const auto& values = schema.data.label.values;
  const auto k = static_cast<std::size_t>(index);
  return k < values.size() ? values[k] : std::to_string(index);
}

Evaluation Evaluate(const ml::Model& model, const data::Table& table, int classes) {
  Evaluation evaluation;
  evaluation.classes.resize(static_cast<std::size_t>(classes));
  for (std::size_t row = 0; row < table.y.size(); ++row) {
    const int predicted = ClassOf(Logits(model, table.x.row(static_cast<Eigen::Index>(row)).cast<double>()));
    const bool correct = predicted == table.y[row];
    auto& own = evaluation.classes[static_cast<std::size_t>(table.y[row])];
    ++own.records;
    own.correct += correct ? 1 : 0;
    ++evaluation.classes[static_cast<std::size_t>(predicted)].predicted;
    ++evaluation.records;
    evaluation.correct += correct ? 1 : 0;
  }
  return evaluation;
}

}  // namespace trefoil::jobs
