#include "data/dataset/vertical.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "data/formats/csv.h"
#include "data/formats/file.h"

namespace trefoil::data {
std::int64_t SplitCsvColumns(const DataFiles& files, const DataSpec& spec,
                             const std::array<std::filesystem::path, 3>& targets) {
  TableReader reader(files, spec.header, spec.dialect);
  const auto names = CsvColumnNames(spec, reader);
  std::array<std::vector<std::size_t>, 3> held;
  for (std::size_t party = 0; party < held.size(); ++party) {
    const DataSpec part = PartOf(spec, static_cast<int>(party));
    for (std::size_t k = 0; k < names.size(); ++k) {
      const bool label = names[k] == spec.label.column;
      const bool declared = std::any_of(part.columns.begin(), part.columns.end(),
                                        [&](const Column& column) { return column.name == names[k]; });
      if (label ? spec.label.party == static_cast<int>(party) : declared) held.at(party).push_back(k);
    }
  }
  std::array<std::string, 3> contents;
  if (spec.dialect.encoding) contents.fill(std::string(kByteOrderMark));  // fields are UTF-8 by now
  const auto append = [&](const std::vector<std::string>& fields) {
    for (std::size_t party = 0; party < held.size(); ++party) {
      auto& content = contents.at(party);
      for (const auto k : held.at(party))
        content += CsvField(fields.at(k), spec.dialect.separator) + spec.dialect.separator;
      content.back() = '\n';
    }
  };
  if (spec.header) append(names);
  std::int64_t records = 0;
  for (; reader.Next(); ++records) {
    if (records < spec.rows[0]) append(reader.fields());
  }
  for (std::size_t party = 0; party < targets.size(); ++party)
    WriteFile(targets.at(party), contents.at(party));
  return records;
}

void SortByKey(Table& table, const std::filesystem::path& path) {
  Require(table.keys.size() == static_cast<std::size_t>(table.x.rows()), "SortByKey: a key a record");
  std::vector<std::size_t> order(table.keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return table.keys[a] < table.keys[b]; });
  Table sorted{.x = Matrix(table.x.rows(), table.x.cols()), .y = {}};
  for (const auto from : order) {
    if (!sorted.keys.empty() && sorted.keys.back() == table.keys[from]) {
      ThrowDataError(path, "record " + std::to_string(from + 1), "the key of an earlier record",
                     "each key once");
    }
    sorted.x.row(static_cast<Eigen::Index>(sorted.keys.size())) =
        table.x.row(static_cast<Eigen::Index>(from));
    sorted.keys.push_back(table.keys[from]);
    if (!table.y.empty()) sorted.y.push_back(table.y[from]);
    if (!table.weights.empty()) sorted.weights.push_back(table.weights[from]);
  }
  table = std::move(sorted);
}

}  // namespace trefoil::data
