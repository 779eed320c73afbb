#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "apps/job_reader.h"

namespace trefoil::apps {
namespace {

/// The first text that occurs twice, or nothing.
std::optional<std::string> Repeated(const std::vector<std::string>& texts) {
  std::set<std::string> seen;
  for (const auto& text : texts) {
    if (!seen.insert(text).second) return text;
  }
  return {};
}

void CheckLabel(const data::DataSpec& spec, const Section& section) {
  const auto& label = spec.label;
  if (static_cast<int>(label.values.size()) != spec.classes) {
    section.Refuse("values", fmt::format("as many values as data.classes ({})", spec.classes));
  }
  if (const auto twice = Repeated(label.values))
    section.Fail("values", fmt::format("\"{}\" occurs twice", *twice));
  const auto aliases = section.Table("aliases");
  for (const auto& [alias, value] : label.aliases) {
    if (std::find(label.values.begin(), label.values.end(), value) == label.values.end()) {
      aliases.Refuse(alias, "one of data.label.values");
    }
  }
}

void CheckCsv(const data::DataSpec& spec, const Section& section) {
  std::vector<std::string> names;
  const auto features = data::CountFeatures(spec);
  for (const auto& column : spec.columns) {
    names.push_back(column.name);
    if (column.kind != data::ColumnKind::kCategory) continue;
    if (column.values.empty())
      section.Fail("column", fmt::format("column \"{}\" has no values", column.name));
    if (const auto twice = Repeated(column.values)) {
      section.Fail("column",
                   fmt::format("column \"{}\": the value \"{}\" occurs twice", column.name, *twice));
    }
  }
  if (const auto twice = Repeated(names))
    section.Fail("column", fmt::format("the column \"{}\" occurs twice", *twice));
  if (features == 0 && data::CountTexts(spec) == 0)
    section.Fail("column", "all columns are ignored, expected at least one feature");
  if (spec.features != features) {
    section.Refuse("features", fmt::format("{}, which is what the columns give", features));
  }
  CheckLabel(spec, section.Table("label"));
}

}  // namespace

void CheckJobRules(const Job& job, const toml::table& root, const std::string& file) {
  const Section document(root, file);
  const auto data = document.Table("data");
  const auto training = document.Table("training");
  const auto& rows = job.data.rows;
  const auto total = std::accumulate(rows.begin(), rows.end(), std::int64_t{0});
  if (total == 0) data.Refuse("rows", "at least one row in all");
  if (job.data.format == data::Format::kCsv) CheckCsv(job.data, data);
  if (job.training.expected_batch > static_cast<double>(total)) {
    training.Refuse("expected_batch", fmt::format("a number up to {}, the sum of data.rows", total));
  }
  const auto largest = static_cast<double>(*std::max_element(rows.begin(), rows.end()));
  const double share = job.training.expected_batch * largest / static_cast<double>(total);
  const auto bound = static_cast<double>(job.training.max_batch_per_owner);
  // An owner whose every row is drawn cannot draw more than it has.
  if (bound <= share && bound < largest) {
    training.Refuse("max_batch_per_owner",
                    fmt::format("more than {:.1f}, the expected batch of the largest owner", share));
  }
}

}  // namespace trefoil::apps
