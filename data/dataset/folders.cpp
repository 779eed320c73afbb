#include "data/dataset/folders.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/formats/cifar.h"
#include "data/formats/file.h"
#include "data/formats/image_folder.h"

namespace trefoil::data {
namespace {

namespace fs = std::filesystem;

enum class Part { kTrain, kTest, kValidation };

const char* NameOf(Part part) {
  return part == Part::kTrain ? "train" : part == Part::kTest ? "test" : "validation";
}

/// The first of `names` in the folder; empty if there is none.
fs::path FirstOf(const fs::path& folder, const std::vector<std::string>& names) {
  for (const auto& name : names) {
    if (fs::exists(folder / name)) return folder / name;
  }
  return {};
}

std::vector<std::string> CifarNames(Part part) {
  if (part == Part::kTrain) return {"train.bin", kFirstCifarFile};
  if (part == Part::kTest) return {"test.bin", "test_batch.bin"};
  return {"validation.bin"};
}

/// Names that the one file of CSV, CIFAR or NPZ, or the folder of images, may have, or the two files of x and
/// of y.
std::array<std::vector<std::string>, 2> NamesOf(const DataSpec& spec, Part part) {
  const std::string name = NameOf(part);
  const std::string idx = part == Part::kTest ? "t10k" : name;
  switch (spec.format) {
    case Format::kIdx:
      return {{{idx + "-images-idx3-ubyte", idx + "-images-idx3-ubyte.gz"},
               {idx + "-labels-idx1-ubyte", idx + "-labels-idx1-ubyte.gz"}}};
    case Format::kCsv:
      return {{{spec.name + "-" + name + ".csv", name + ".csv"}, {}}};
    case Format::kNpy:
      return {{{name + "-x.npy"}, {name + "-y.npy"}}};
    case Format::kCifar:
      return {{CifarNames(part), {}}};
    case Format::kImages:
      return {{{name}, {}}};
    case Format::kNpz:
      break;
  }
  return {{{name + ".npz"}, {}}};
}

[[noreturn]] void ThrowMissing(const fs::path& folder, const std::array<std::vector<std::string>, 2>& names) {
  std::string list;
  for (const auto& alternatives : names) {
    if (!list.empty() && !alternatives.empty()) list += ", and ";
    for (std::size_t i = 0; i < alternatives.size(); ++i) list += (i == 0 ? "" : " or ") + alternatives[i];
  }
  ThrowDataError(folder, "",
                 fs::is_directory(folder) ? "a folder without the data set's files" : "no such folder", list);
}

/// A folder's files STEM-1.csv, STEM-2.csv ... in the order of their numbers.
std::vector<fs::path> Numbered(const fs::path& folder, const std::string& stem) {
  // Sorted by length first, which is by number: none has leading zeros.
  std::vector<std::pair<std::size_t, std::string>> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const auto name = entry.path().filename().string();
    if (!name.starts_with(stem + "-") || !name.ends_with(".csv")) continue;
    const auto number = std::string_view(name).substr(stem.size() + 1, name.size() - stem.size() - 5);
    const bool digits = number.find_first_not_of("0123456789") == std::string_view::npos;
    if (digits && !number.empty() && number.front() != '0') names.emplace_back(name.size(), name);
  }
  std::sort(names.begin(), names.end());
  std::vector<fs::path> files;
  for (const auto& [size, name] : names) files.push_back(folder / name);
  return files;
}

/// A table in several numbered files: of the first of `names` that has any, as in train-1.csv of train.csv.
std::optional<DataFiles> FindNumbered(const fs::path& folder, const std::vector<std::string>& names) {
  for (const auto& name : names) {
    DataFiles files;
    if (fs::is_directory(folder)) files.SetTable(Numbered(folder, fs::path(name).stem()));
    if (!files.empty()) return files;
  }
  return {};
}

/// Nothing if none of the files is there.
std::optional<DataFiles> Find(const DataSpec& spec, const fs::path& folder, Part part) {
  const auto names = NamesOf(spec, part);
  const fs::path first = FirstOf(folder, names[0]);
  if (spec.format == Format::kCsv && first.empty()) return FindNumbered(folder, names[0]);
  if (first.filename() == kFirstCifarFile) return DataFiles{{}, {}, folder};
  if (names[1].empty()) return first.empty() ? std::nullopt : std::optional(DataFiles{{}, {}, first});
  const fs::path second = FirstOf(folder, names[1]);
  if (first.empty() && second.empty()) return std::nullopt;
  if (first.empty()) ThrowMissing(folder, {names[0], {}});
  if (second.empty()) ThrowMissing(folder, {names[1], {}});
  return DataFiles{first, second, {}};
}

/// Nothing that was there before is left among them.
void CopyImages(const fs::path& source, const fs::path& target) {
  const auto images = ListImages(source);
  EmptyImageFolder(source, target);
  for (const auto& image : images) CopyImage(image, target);
}

}  // namespace

DataFiles FindTrainingFiles(const DataSpec& spec, const fs::path& folder) {
  auto files = Find(spec, folder, Part::kTrain);
  if (!files) ThrowMissing(folder, NamesOf(spec, Part::kTrain));
  return *files;
}

std::optional<DataFiles> FindTestFiles(const DataSpec& spec, const fs::path& folder) {
  return Find(spec, folder, Part::kTest);
}

std::optional<DataFiles> FindValidationFiles(const DataSpec& spec, const fs::path& folder) {
  return Find(spec, folder, Part::kValidation);
}

DataFiles TestFiles(Format format, const fs::path& folder) {
  const auto names = NamesOf({.name = "", .format = format, .columns = {}, .label = {}}, Part::kTest);
  if (names[1].empty()) return {{}, {}, folder / names[0].back()};
  return {folder / names[0].back(), folder / names[1].back(), {}};
}

DataFiles PartyFiles(Format format, const fs::path& party_folder) {
  const fs::path data = party_folder / "data";
  switch (format) {
    case Format::kIdx:
      return {data / "images-idx3-ubyte.gz", data / "labels-idx1-ubyte.gz", {}};
    case Format::kCsv:
      return {{}, {}, data / "train.csv"};
    case Format::kNpy:
      return {data / "x.npy", data / "y.npy", {}};
    case Format::kCifar:
      return {{}, {}, data / "train.bin"};
    case Format::kImages:
      return {{}, {}, data / "train"};
    case Format::kNpz:
      break;
  }
  return {{}, {}, data / "train.npz"};
}

void CopyTestFiles(const DataFiles& files, const fs::path& folder) {
  fs::create_directories(folder);
  auto all = files.table();
  all.insert(all.end(), {files.x, files.y});
  for (const auto& path : all) {
    if (path.empty()) continue;
    const fs::path target = folder / path.filename();
    if (fs::is_directory(path)) {
      CopyImages(path, target);
      continue;
    }
    fs::copy_file(path, target, fs::copy_options::overwrite_existing);
    fs::permissions(target, fs::perms::owner_write, fs::perm_options::add);  // the source may be read-only
  }
}

}  // namespace trefoil::data
