#include "protocols/catalogue/catalogue.h"

namespace trefoil::protocols {

std::string NameOf(Form form) { return form == Form::kBulk ? "bulk" : "latency"; }

std::string Section(const std::string& title, const std::string& paper) {
  return '"' + title + '"' + (paper.empty() ? "" : "; " + paper);
}

std::string As(const std::string& parts) { return "as " + parts + ": no value opens in between"; }

std::vector<Entry> Joined(std::initializer_list<std::vector<Entry>> lists) {
  std::vector<Entry> all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

const std::vector<Entry>& Catalogue() {
  static const std::vector<Entry> kEntries =
      Joined({SetUpEntries(), ArithmeticEntries(), ComparisonEntries(), FunctionEntries()});
  return kEntries;
}

}  // namespace trefoil::protocols
