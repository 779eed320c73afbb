#include "apps/report/evaluation_file.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "tests/apps/temporary_folder.h"

namespace trefoil::apps {
namespace {

using Json = nlohmann::ordered_json;

/// An evaluation of two classes as the file of the model "m" has it, changed and written back.
struct File {
  TemporaryFolder folder;
  std::filesystem::path model = folder.Write("model.npz", "m");
  Json json;

  File() {
    jobs::ModelSchema schema;
    schema.records.data.label.values = {"well", "<ill>"};
    schema.probabilities = true;
    data::Table table{.x = data::Matrix(5, 1), .y = {1, 0, 0, 0, 1}};
    table.x << 1, -1, 2, -2, 3;
    const ml::Model identity{.weights = Eigen::MatrixXd::Identity(1, 1), .bias = Eigen::VectorXd::Zero(1)};
    json = Json::parse(EvaluationText(jobs::Evaluate(identity, schema, table), schema.records, model));
  }

  std::string Section(const Json& changed) {
    return EvaluationSection(folder.Write("evaluation.json", changed.dump()), model);
  }
};

TEST(EvaluationSection, ShowsFiguresPlotsAndTables) {
  File file;
  const auto page = file.Section(file.json);
  for (const auto* part :
       {"<data value=\"0.8\">0.8000</data>", "aria-label=\"ROC\"", "aria-label=\"Calibration\"",
        ">&lt;ill&gt;<", "<th>taken for</th>", ">guessing<", ">as said<"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  EXPECT_EQ(page.find("<ill>"), std::string::npos);
  EXPECT_EQ(page.find("Warning"), std::string::npos);
  file.json["warnings"] = {"<b>"};
  file.json["calibration"] = nullptr;
  file.json["log_loss"] = nullptr;
  const auto other = file.Section(file.json);
  EXPECT_NE(other.find("Warning: &lt;b&gt;"), std::string::npos);
  EXPECT_EQ(other.find("Calibration"), std::string::npos);
}

TEST(EvaluationSection, PlotsTargetsOnBothSidesOfZero) {
  File file;
  const auto bin = [](double said, double is) { return Json{{"records", 5}, {"said", said}, {"true", is}}; };
  for (const auto& bins :
       {Json{bin(-3, -4), bin(2, 5)}, Json{bin(1, 2), bin(4, 5)}, Json{bin(-5, -4), bin(-2, -1)}}) {
    const auto page = file.Section({{"model", file.json["model"]},
                                    {"warnings", Json::array()},
                                    {"records", 10},
                                    {"r_squared", 0.5},
                                    {"rmse", 1.0},
                                    {"calibration", bins}});
    EXPECT_NE(page.find("aria-label=\"Calibration\""), std::string::npos) << bins;
  }
}

TEST(EvaluationSection, RefusesWhatIsNoEvaluation) {
  File file;
  for (const auto& [key, value] : file.json.items()) {
    if (key == "correct") continue;  // accuracy says it, too
    Json without = file.json;
    without.erase(key);
    EXPECT_THROW((void)file.Section(without), DataError) << key;
    for (const Json& wrong : {Json("x"), Json{{"x", 1}}, Json{1, "x"}}) {
      Json changed = file.json;
      changed[key] = wrong;
      EXPECT_THROW((void)file.Section(changed), DataError) << key << ' ' << wrong;
    }
  }
  for (const Json& wrong : {Json(), Json::array(), Json(1)})
    EXPECT_THROW((void)file.Section(wrong), DataError);
}

TEST(EvaluationSection, RefusesThatOfAnotherModel) {
  File file;
  (void)file.folder.Write("model.npz", "another");
  EXPECT_THROW((void)file.Section(file.json), DataError);
  std::filesystem::remove(file.model);
  EXPECT_FALSE(file.Section(file.json).empty());  // nothing to compare it with
}

}  // namespace
}  // namespace trefoil::apps
