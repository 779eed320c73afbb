#include "tests/fuzz/table.h"

#include "base/error.h"

namespace trefoil::fuzz {
namespace {

constexpr std::int64_t kCapacity = 50;

void CheckTable(const data::Table& table, const data::DataSpec& spec, data::LabelUse labels) {
  Check(table.x.rows() <= kCapacity, "more rows than declared");
  Check(table.x.cols() == spec.features, "another number of features than declared");
  Check(table.x.allFinite(), "a value that is not finite");
  if (labels != data::LabelUse::kRead) return;
  Check(table.x.rows() == static_cast<Eigen::Index>(table.y.size()), "another number of labels than rows");
  for (const int label : table.y) Check(label >= 0 && label < spec.classes, "a label of no class");
}

}  // namespace

void LoadTable(const data::DataSpec& spec, const data::DataFiles& files) {
  for (const auto labels : {data::LabelUse::kRead, data::LabelUse::kIgnored}) {
    try {
      CheckTable(data::Load(spec, files, kCapacity, labels), spec, labels);
    } catch (const DataError&) {
    }
  }
}

}  // namespace trefoil::fuzz
