#include "jobs/statistics/result_files.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "data/columns/column_encoder.h"
#include "data/formats/csv.h"
#include "data/formats/file.h"

namespace trefoil::jobs {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMomentsFile = "moments.csv";
constexpr const char* kQuantilesFile = "quantiles.csv";
constexpr const char* kBinsFile = "bins.csv";
constexpr const char* kCorrelationsFile = "correlations.csv";
constexpr const char* kCorrelationsNoiseFile = "correlations_noise.csv";
constexpr const char* kTablesFile = "tables.csv";

std::string Number(double value) { return fmt::format("{:.10g}", value); }

/// Of noise, whose size is all that there is to say.
std::string Size(double deviation) { return fmt::format("{:.4g}", deviation); }

std::string Line(std::vector<std::string> fields) {
  for (auto& field : fields) field = data::CsvField(field);
  return fmt::format("{}\n", fmt::join(fields, ","));
}

const std::string& NameOfColumn(const StatisticsSettings& job, std::size_t column) {
  return job.columns[column].column.name;
}

ResultFile Moments(const StatisticsSettings& job, const StatisticsLayout& layout,
                   const StatisticsEstimates& estimates) {
  ResultFile file{.name = kMomentsFile,
                  .text = "column,count,missing,mean,mean_noise,deviation,deviation_noise\n"};
  for (std::size_t k = 0; k < layout.moments.size(); ++k) {
    const auto& found = estimates.moments[k];
    file.text += Line({NameOfColumn(job, layout.moments[k].column), Number(found.count),
                       Number(found.missing), Number(found.mean.value), Size(found.mean.noise),
                       Number(found.deviation.value), Size(found.deviation.noise)});
  }
  return file;
}

ResultFile Quantiles(const StatisticsSettings& job, const StatisticsLayout& layout,
                     const StatisticsEstimates& estimates) {
  ResultFile file{.name = kQuantilesFile, .text = "column,probability,quantile,rank_noise\n"};
  for (std::size_t k = 0; k < layout.quantiles.size(); ++k) {
    for (std::size_t p = 0; p < job.probabilities.size(); ++p) {
      const auto& found = estimates.quantiles[k][p];
      file.text += Line({NameOfColumn(job, layout.quantiles[k].column), Number(job.probabilities[p]),
                         Number(found.value), Size(found.rank_noise)});
    }
  }
  return file;
}

ResultFile Bins(const StatisticsSettings& job, const StatisticsLayout& layout,
                const StatisticsEstimates& estimates) {
  ResultFile file{.name = kBinsFile, .text = "column,low,high,count\n"};
  for (std::size_t k = 0; k < layout.quantiles.size(); ++k) {
    const auto& column = job.columns[layout.quantiles[k].column];
    const auto edge = [&](std::size_t bin) {
      return Number(BorderOf(column, static_cast<std::int64_t>(bin), layout.bins));
    };
    for (std::size_t bin = 0; bin < estimates.bins[k].size(); ++bin)
      file.text += Line({column.column.name, edge(bin), edge(bin + 1), Number(estimates.bins[k][bin])});
  }
  return file;
}

ResultFile Correlations(const StatisticsSettings& job, const char* name, const Eigen::MatrixXd& matrix,
                        std::string (*text)(double)) {
  std::vector<std::string> head{"column"};
  head.insert(head.end(), job.correlations.begin(), job.correlations.end());
  ResultFile file{.name = name, .text = Line(head)};
  for (Eigen::Index j = 0; j < matrix.rows(); ++j) {
    std::vector<std::string> line{job.correlations[static_cast<std::size_t>(j)]};
    for (Eigen::Index k = 0; k < matrix.cols(); ++k) line.push_back(text(matrix(j, k)));
    file.text += Line(line);
  }
  return file;
}

ResultFile Tables(const StatisticsSettings& job, const StatisticsLayout& layout,
                  const StatisticsEstimates& estimates) {
  ResultFile file{.name = kTablesFile, .text = "rows,columns,row,column,count\n"};
  for (std::size_t t = 0; t < layout.tables.size(); ++t) {
    const auto& table = layout.tables[t];
    auto count = estimates.tables[t].begin();
    for (const auto& row : table.row_values) {
      for (const auto& column : table.column_values)
        file.text +=
            Line({job.tables[t].rows, job.tables[t].columns.value_or(""), row, column, Number(*count++)});
    }
  }
  return file;
}

using CsvLines = std::vector<std::vector<std::string>>;

/// The lines of a released file, its head the first; none where it is not there.
CsvLines ReadLines(const fs::path& path, std::size_t lines) {
  CsvLines read;
  if (!fs::exists(path)) return read;
  data::CsvReader reader(path);
  while (reader.Next() && read.size() <= lines + 1) {
    read.push_back(reader.fields());
    if (read.back().size() != read.front().size()) break;
  }
  if (read.size() != lines + 1 || read.back().size() != read.front().size())
    data::ThrowDataError(path, "", "another number of lines or fields",
                         std::to_string(lines) + " lines below a head, as the job has them");
  return read;
}

ShownTable TableOf(const char* title, const CsvLines& lines) {
  return {.title = title, .head = lines.front(), .rows = CsvLines(lines.begin() + 1, lines.end())};
}

double NumberIn(const std::string& field, const fs::path& path) {
  double value = 0;
  if (const auto expected = data::ReadNumber(field, '.', value))
    data::ThrowDataError(path, "", data::Quote(field), *expected);
  return value;
}

/// Neighbouring bins are joined where there are more than are drawn, so that none is left out.
std::vector<ShownPlot> PlotsOf(const StatisticsSettings& job, const StatisticsLayout& layout,
                               const fs::path& folder) {
  const auto path = folder / kBinsFile;
  const auto bins = static_cast<std::size_t>(layout.bins);
  const auto lines = ReadLines(path, layout.quantiles.size() * bins);
  std::vector<ShownPlot> plots;
  if (lines.empty()) return plots;
  const auto joined = (bins + kMaxDrawnPoints - 1) / kMaxDrawnPoints;
  auto line = lines.begin() + 1;
  for (const auto& laid : layout.quantiles) {
    const auto& column = job.columns[laid.column];
    auto& plot = plots.emplace_back(ShownPlot{.title = "Distribution of " + column.column.name,
                                              .x_label = column.column.name,
                                              .y_label = "records a bin",
                                              .range = {column.low, column.high},
                                              .points = {}});
    const double width = (column.high - column.low) / static_cast<double>(layout.bins);
    for (std::size_t bin = 0; bin < bins; bin += joined) {
      const auto count = static_cast<double>(std::min(joined, bins - bin));
      double sum = 0;
      for (auto k = bin; k < std::min(bin + joined, bins); ++k) sum += NumberIn((line++)->back(), path);
      // What noise has brought below zero is drawn at zero.
      plot.points.emplace_back(column.low + (static_cast<double>(bin) + count / 2) * width,
                               std::max(0.0, sum / count));
    }
  }
  return plots;
}

void ShowTables(const StatisticsSettings& job, const StatisticsLayout& layout, const fs::path& folder,
                std::vector<ShownTable>& shown) {
  std::size_t size = 0;
  for (const auto& table : layout.tables) size += table.row_values.size() * table.column_values.size();
  const auto lines = ReadLines(folder / kTablesFile, size);
  if (lines.empty()) return;
  auto line = lines.begin() + 1;
  for (std::size_t t = 0; t < layout.tables.size(); ++t) {
    const auto& asked = job.tables[t];
    auto& table = shown.emplace_back(
        ShownTable{.title = asked.columns ? fmt::format("Records by {} and {}", asked.rows, *asked.columns)
                                          : fmt::format("Records by {}", asked.rows),
                   .head = {asked.rows},
                   .rows = {}});
    const auto& columns = layout.tables[t].column_values;
    if (asked.columns) {
      table.head.insert(table.head.end(), columns.begin(), columns.end());
    } else {
      table.head.emplace_back("count");
    }
    for (const auto& value : layout.tables[t].row_values) {
      auto& row = table.rows.emplace_back(std::vector{value});
      for (std::size_t k = 0; k < columns.size(); ++k) row.push_back((line++)->back());
    }
  }
}

}  // namespace

std::vector<ResultFile> FilesOf(const StatisticsSettings& job, const StatisticsLayout& layout,
                                const StatisticsEstimates& estimates) {
  std::vector<ResultFile> files;
  if (!layout.moments.empty()) files.push_back(Moments(job, layout, estimates));
  if (!layout.quantiles.empty()) {
    files.push_back(Quantiles(job, layout, estimates));
    files.push_back(Bins(job, layout, estimates));
  }
  if (!layout.correlations.empty()) {
    files.push_back(Correlations(job, kCorrelationsFile, estimates.correlations, Number));
    files.push_back(Correlations(job, kCorrelationsNoiseFile, estimates.correlations_noise, Size));
  }
  if (!layout.tables.empty()) files.push_back(Tables(job, layout, estimates));
  return files;
}

ShownResults ShownStatistics(const StatisticsSettings& job, const StatisticsLayout& layout,
                             const fs::path& folder) {
  ShownResults shown;
  const auto show = [&](const char* title, const char* file, std::size_t lines) {
    if (const auto read = ReadLines(folder / file, lines); !read.empty())
      shown.tables.push_back(TableOf(title, read));
  };
  if (!layout.moments.empty()) show("Means and deviations", kMomentsFile, layout.moments.size());
  if (!layout.quantiles.empty())
    show("Quantiles", kQuantilesFile, layout.quantiles.size() * job.probabilities.size());
  if (!layout.correlations.empty()) {
    show("Correlations", kCorrelationsFile, job.correlations.size());
    show("Noise of the correlations", kCorrelationsNoiseFile, job.correlations.size());
  }
  if (!layout.tables.empty()) ShowTables(job, layout, folder, shown.tables);
  if (!layout.quantiles.empty()) shown.plots = PlotsOf(job, layout, folder);
  return shown;
}

}  // namespace trefoil::jobs
