#include "jobs/pate/pate_data.h"

#include <spdlog/fmt/fmt.h>

#include <limits>
#include <optional>

#include "base/error.h"
#include "data/dataset/folders.h"
#include "data/dealing/split.h"
#include "data/formats/file.h"
#include "data/formats/image_folder.h"
#include "jobs/average/owners.h"
#include "jobs/pate/teacher_labels.h"
#include "jobs/records/load_records.h"
#include "jobs/records/local_data.h"
#include "jobs/slices.h"

namespace trefoil::jobs {
namespace {

namespace fs = std::filesystem;

/// Names of the file (of images the folder) of public records, in this format; `local` uses the last.
std::vector<std::string> QueryNames(data::Format format) {
  switch (format) {
    case data::Format::kIdx:
      return {"queries-idx3-ubyte", "queries-idx3-ubyte.gz"};
    case data::Format::kCsv:
      return {"queries.csv"};
    case data::Format::kNpy:
      return {"queries.npy"};
    case data::Format::kCifar:
      return {"queries.bin"};
    case data::Format::kImages:
      return {"queries"};
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

/// The images of a folder of classes, in the turn that these take, as a folder without sub-folders: read by the
/// order of paths, as where labels are not looked at, the first ones are of every class then, too.
void NumberImages(const data::DataSpec& spec, const fs::path& source, const fs::path& target) {
  const auto images = data::ListImages(source, &spec.label.values);
  data::EmptyImageFolder(source, target);
  for (std::size_t k = 0; k < images.size(); ++k)
    fs::rename(images[k].path, target / fmt::format("{:08}-{}", k + 1, images[k].path.filename().string()));
}

/// Where not all public records are answered, those of the first classes' folders would be.
void RequireOneFolder(const PateSettings& job, const fs::path& folder) {
  if (job.queries == job.public_records() && job.answers == job.queries) return;
  for (const auto& image : data::ListImages(folder)) {
    if (!image.folder.empty())
      throw DataError(
          folder.string() + ": found a folder " + data::Quote(image.folder) +
          ", expected images alone: the first public records are the queries, and folder by folder "
          "these would be of few classes");
  }
}

/// Cuts the test records in two: the first for all to see, the others to test with. Returns the former's
/// file.
fs::path CutTestRecords(const PateSettings& job, const data::DataFiles& tests, const fs::path& test_folder) {
  const auto top = test_folder.parent_path();
  auto spec = job.schema->data;
  const auto total = static_cast<std::int64_t>(data::Load(spec, tests).y.size());
  const auto records = job.public_records();
  if (total < records) {
    throw DataError(
        fmt::format("{}: found {} test records, expected at least {}, of which public ones are made",
                    tests.place().string(), total, records));
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
  const auto cut = data::PartyFiles(spec.format, parts[0]).rows();
  if (spec.format == data::Format::kImages) {
    NumberImages(spec, cut, queries);
  } else {
    fs::rename(cut, queries);
  }
  fs::remove_all(parts[0] / "data");
  return queries;
}

/// The file of public records, found or made; deals the test records.
fs::path FindPublicRecords(const PateSettings& job, const fs::path& source, const fs::path& test_folder) {
  const auto& spec = job.schema->data;
  const auto tests = data::FindTestFiles(spec, source);
  const auto names = QueryNames(spec.format);
  for (const auto& name : names) {
    const auto file = source / name;
    if (!(spec.format == data::Format::kImages ? fs::is_directory(file) : fs::is_regular_file(file)))
      continue;
    if (spec.format == data::Format::kImages) RequireOneFolder(job, file);
    if (tests) data::CopyTestFiles(*tests, test_folder);
    return file;
  }
  if (tests) return CutTestRecords(job, *tests, test_folder);
  return FindLabelFile(source, names, "public queries, nor test records to make them of");
}

std::string DealToTeachers(const PateSettings& job, const fs::path& source, const SplitTarget& deal) {
  const auto& schema = *job.schema;
  const auto report = data::SplitSource(schema.data, data::FindTrainingFiles(schema.data, source),
                                        SplitOf(job.local), deal.party_folders);
  for (std::size_t j = 0; j < deal.parties.size(); ++j) {
    if (job.teachers.at(j) > 0) deal.parties.at(j).data = data::PartyFiles(schema.data.format, "");
  }
  return fmt::format("dealing {} to {}, {} and {} teachers at three parties: rows {}, {}, {}",
                     source.lexically_normal().string(), job.teachers[0], job.teachers[1], job.teachers[2],
                     report.rows[0], report.rows[1], report.rows[2]);
}

}  // namespace

std::string DealPateRecords(const PateSettings& job, const fs::path& source, const SplitTarget& deal) {
  const auto queries = FindPublicRecords(job, source, deal.test);
  if (!job.teacher) {
    return SplitTeacherLabels({.voters = job.teachers, .queries = job.queries, .classes = job.classes},
                              source, queries, deal);
  }
  DealQueries(queries, deal);
  return DealToTeachers(job, source, deal);
}

ml::FeatureRows LoadPublicRecords(const PateSettings& job, const PartyFile& party, std::size_t threads) {
  if (job.schema->data.format == data::Format::kImages) RequireOneFolder(job, party.inputs["pate.queries"]);
  data::DataFiles files;
  (data::HasLabelFile(job.schema->data.format) ? files.x : files.file) = party.inputs["pate.queries"];
  auto table = LoadRecords(
      *job.schema, files,
      {.threads = threads, .labels = data::LabelUse::kIgnored, .feature_model = party.feature_model});
  if (table.x.rows() != job.public_records()) {
    throw DataError(fmt::format("{}: found {} records, expected {} ({})",
                                party.inputs["pate.queries"].string(), table.x.rows(), job.public_records(),
                                job.student ? "student.records" : "pate.queries"));
  }
  return std::move(table.x);
}

std::vector<ml::OwnRecords> LoadSlices(const PateSettings& job, const PartyFile& party,
                                       const std::string& party_file, std::size_t threads) {
  const auto teachers = job.teachers.at(static_cast<std::size_t>(party.id));
  if (!party.inputs["pate.predictions"].empty())
    throw ConfigError(party_file +
                      ": pate.predictions: found a file, expected none: the job trains the teachers");
  if (teachers == 0 && !party.data.empty())
    throw ConfigError(party_file + ": data: found files, expected none: the job declares no teachers here");
  if (teachers == 0 || !party.owner_rows.empty()) {
    return LoadOwners(
        *job.schema,
        {.count = job.teachers, .min_rows = 0, .max_rows = std::numeric_limits<std::int64_t>::max()}, party,
        party_file, threads);
  }
  if (party.data.empty()) throw ConfigError(party_file + ": missing [data], expected x and y, or file");
  return LoadSlicesByHash(*job.schema, party, static_cast<std::size_t>(teachers), threads);
}

}  // namespace trefoil::jobs
