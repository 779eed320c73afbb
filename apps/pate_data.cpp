#include "apps/pate_data.h"

#include <spdlog/fmt/fmt.h>

#include <limits>
#include <optional>

#include "apps/ballots.h"
#include "apps/evaluation.h"
#include "apps/local_data.h"
#include "apps/owners.h"
#include "base/error.h"
#include "base/sha256.h"
#include "data/folders.h"
#include "data/split.h"

namespace trefoil::apps {
namespace {

namespace fs = std::filesystem;

/// Of the file of public records, in this format; the last is what `local` calls it.
std::vector<std::string> QueryNames(data::Format format) {
  switch (format) {
    case data::Format::kIdx:
      return {"queries-idx3-ubyte", "queries-idx3-ubyte.gz"};
    case data::Format::kCsv:
      return {"queries.csv"};
    case data::Format::kNpy:
      return {"queries.npy"};
    case data::Format::kNpz:
      break;
  }
  return {"queries.npz"};
}

void Move(const data::DataFiles& from, const data::DataFiles& to) {
  for (const auto part : {&data::DataFiles::x, &data::DataFiles::y, &data::DataFiles::file}) {
    if (!(from.*part).empty()) fs::rename(from.*part, to.*part);
  }
}

/// Cuts the test records in two: the first for all to see, the others to test with. Returns the former's
/// file.
fs::path CutTestRecords(const PateJob& job, const data::DataFiles& tests, const fs::path& test_folder) {
  const auto top = test_folder.parent_path();
  auto spec = job.schema->data;
  const auto total = static_cast<std::int64_t>(data::Load(spec, tests).y.size());
  const auto records = job.public_records();
  if (total < records) {
    throw DataError(
        fmt::format("{}: found {} test records, expected at least {}, of which public ones are made",
                    tests.rows().string(), total, records));
  }
  spec.rows = {records, total - records, 0};
  const double first = static_cast<double>(records) / static_cast<double>(total);
  const std::array<fs::path, 3> parts{top / "public", top / "cut-test", top / "cut-none"};
  (void)data::SplitSource(spec, tests,
                          {.kind = data::SplitKind::kFractions, .fractions = {first, 1 - first, 0}}, parts);
  if (total > records) {
    fs::create_directories(test_folder);
    Move(data::PartyFiles(spec.format, parts[1]), data::TestFiles(spec.format, test_folder));
  }
  fs::remove_all(parts[1]);
  fs::remove_all(parts[2]);
  const auto queries = parts[0] / QueryNames(spec.format).back();
  fs::rename(data::PartyFiles(spec.format, parts[0]).rows(), queries);
  fs::remove_all(parts[0] / "data");
  return queries;
}

/// The file of public records, found or made; deals the test records.
fs::path FindPublicRecords(const PateJob& job, const fs::path& source, const fs::path& test_folder) {
  const auto& spec = job.schema->data;
  const auto tests = data::FindTestFiles(spec, source);
  const auto names = QueryNames(spec.format);
  for (const auto& name : names) {
    if (!fs::is_regular_file(source / name)) continue;
    if (tests) data::CopyTestFiles(*tests, test_folder);
    return source / name;
  }
  if (tests) return CutTestRecords(job, *tests, test_folder);
  return FindBallotFile(source, names, "public queries, nor test records to make them of");
}

std::string DealToTeachers(const PateJob& job, const fs::path& source, const TaskDeal& deal) {
  const auto& schema = *job.schema;
  const auto report = data::SplitSource(schema.data, data::FindTrainingFiles(schema.data, source),
                                        SplitOf(schema.local), deal.party_folders);
  for (std::size_t j = 0; j < deal.parties.size(); ++j) {
    if (job.teachers.at(j) > 0) deal.parties.at(j).data = data::PartyFiles(schema.data.format, "");
  }
  return fmt::format("dealing {} to {}, {} and {} teachers at three parties: rows {}, {}, {}",
                     source.lexically_normal().string(), job.teachers[0], job.teachers[1], job.teachers[2],
                     report.rows[0], report.rows[1], report.rows[2]);
}

/// The slice of each record.
std::vector<std::size_t> SlicesByHash(const data::Table& table, std::size_t slices) {
  constexpr std::size_t kHexDigits = 15;  // of 60 bits: a remainder's law is within 2^-40 of uniform
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < table.y.size(); ++i) {
    const auto row = table.x.row(static_cast<Eigen::Index>(i));
    std::string bytes = fmt::format("{},", table.y[i]);
    bytes.append(reinterpret_cast<const char*>(row.data()),
                 sizeof(float) * static_cast<std::size_t>(row.size()));
    if (!table.texts.empty()) {
      for (const auto& text : table.texts[i]) bytes += fmt::format("{},{}", text.size(), text);
    }
    chosen.push_back(std::stoull(Sha256Hex(bytes).substr(0, kHexDigits), nullptr, 16) % slices);
  }
  return chosen;
}

std::vector<ml::OwnRecords> Sliced(const data::Table& records, const std::vector<std::size_t>& slice_of,
                                   std::size_t slices) {
  std::vector<std::vector<Eigen::Index>> rows(slices);
  for (std::size_t i = 0; i < slice_of.size(); ++i) rows[slice_of[i]].push_back(static_cast<Eigen::Index>(i));
  std::vector<ml::OwnRecords> parts(slices);
  for (std::size_t k = 0; k < slices; ++k) {
    parts[k].x.resize(static_cast<Eigen::Index>(rows[k].size()), records.x.cols());
    for (std::size_t i = 0; i < rows[k].size(); ++i) {
      parts[k].x.row(static_cast<Eigen::Index>(i)) = records.x.row(rows[k][i]);
      parts[k].y.push_back(records.y[static_cast<std::size_t>(rows[k][i])]);
    }
  }
  return parts;
}

}  // namespace

std::string DealPateRecords(const PateJob& job, const fs::path& source, const TaskDeal& deal) {
  const auto queries = FindPublicRecords(job, source, deal.test);
  if (!job.teacher) {
    return DealBallots({.voters = job.teachers, .queries = job.queries, .classes = job.classes}, source,
                       queries, deal);
  }
  DealQueries(queries, deal);
  return DealToTeachers(job, source, deal);
}

ml::Rows LoadPublicRecords(const PateJob& job, const PartyFile& party) {
  data::DataFiles files;
  (data::HasLabelFile(job.schema->data.format) ? files.x : files.file) = party.pate.queries;
  auto table = LoadRecords(*job.schema, files,
                           {.labels = data::LabelUse::kIgnored, .feature_model = party.feature_model});
  if (table.x.rows() != job.public_records()) {
    throw DataError(fmt::format("{}: found {} records, expected {} ({})", party.pate.queries.string(),
                                table.x.rows(), job.public_records(),
                                job.student ? "student.records" : "pate.queries"));
  }
  return std::move(table.x);
}

std::vector<ml::OwnRecords> LoadSlices(const PateJob& job, const PartyFile& party,
                                       const std::string& party_file) {
  const auto teachers = job.teachers.at(static_cast<std::size_t>(party.id));
  if (!party.pate.predictions.empty())
    throw ConfigError(party_file +
                      ": pate.predictions: found a file, expected none: the job trains the teachers");
  if (teachers == 0 && !party.data.empty())
    throw ConfigError(party_file + ": data: found files, expected none: the job declares no teachers here");
  if (teachers == 0 || !party.owner_rows.empty()) {
    return LoadOwners(
        *job.schema,
        {.count = job.teachers, .least_rows = 0, .most_rows = std::numeric_limits<std::int64_t>::max()},
        party, party_file);
  }
  if (party.data.empty()) throw ConfigError(party_file + ": missing [data], expected x and y, or file");
  const LoadOptions options{.capacity = job.schema->data.rows.at(static_cast<std::size_t>(party.id)),
                            .feature_model = party.feature_model};
  auto table = ReadRecords(*job.schema, party.data, options);
  if (static_cast<std::int64_t>(table.y.size()) < teachers) {
    throw DataError(
        fmt::format("{}: found {} records, expected at least one for each of the {} teachers here",
                    party.data.rows().string(), table.y.size(), teachers));
  }
  const auto slices = static_cast<std::size_t>(teachers);
  const auto slice_of = SlicesByHash(table, slices);
  return Sliced(WithFeatures(*job.schema, std::move(table), options), slice_of, slices);
}

}  // namespace trefoil::apps
