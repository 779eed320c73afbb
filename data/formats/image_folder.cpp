#include "data/formats/image_folder.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/secrets/sha256.h"
#include "data/formats/file.h"
#include "data/formats/image_file.h"

namespace trefoil::data {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExpected = "PNG or JPEG files in sub-folders named by class";
constexpr std::size_t kRounds = 3;  // as many as `local` deals to

/// What is in a folder, in the order of the names' bytes, hidden files apart.
std::vector<fs::path> Entries(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error))
    ThrowDataError(folder, "", fs::exists(folder, error) ? "a file" : "no such folder",
                   "a folder of " + std::string(kExpected));
  std::vector<fs::path> entries;
  fs::directory_iterator at(folder, error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    if (!at->path().filename().string().starts_with('.')) entries.push_back(at->path());
  }
  if (error) ThrowDataError(folder, "", "a folder that cannot be read", "a readable one");
  std::sort(entries.begin(), entries.end(), [](const fs::path& a, const fs::path& b) {
    return a.filename().string() < b.filename().string();
  });
  return entries;
}

/// A link could lead out of the folder, or bring one image twice.
bool IsFolder(const fs::path& path) {
  std::error_code error;
  const auto status = fs::symlink_status(path, error);
  if (error || (!fs::is_directory(status) && !fs::is_regular_file(status)))
    ThrowDataError(path, "", fs::is_symlink(status) ? "a symbolic link" : "something else", kExpected);
  return fs::is_directory(status);
}

std::vector<fs::path> FilesOf(const fs::path& folder) {
  auto files = Entries(folder);
  for (const auto& path : files) {
    if (IsFolder(path)) ThrowDataError(path, "", "a folder", "PNG or JPEG files alone in a class's folder");
  }
  return files;
}

/// Triple files of one folder that follow each other, or what is left of them.
struct Triple {
  const std::string& folder;
  std::span<const fs::path> files;
};

/// Files of the classes in turn, a larger class more often. A block has threes of different classes: first
/// one file of each, then the second, then the third. Whoever takes records 0, 3, 6 ... of a block has one
/// of each class, also where the classes are a multiple of three, since then each round begins with the
/// next class.
void AddBlock(const std::vector<Triple>& block, std::vector<ImageFile>& images) {
  for (std::size_t round = 0; round < kRounds; ++round) {
    for (std::size_t k = 0; k < block.size(); ++k) {
      const auto& [folder, files] = block[(k + (block.size() % kRounds == 0 ? round : 0)) % block.size()];
      if (round < files.size()) images.push_back({.folder = folder, .path = files[round]});
    }
  }
}

using Folders = std::map<std::string, std::vector<fs::path>>;

std::size_t CountTriples(const std::vector<fs::path>& files) {
  return (files.size() + kRounds - 1) / kRounds;
}

/// For rank 0, 1, 2 ... the fractions 0, 1/2, 1/4, 3/4, 1/8 ..., in 2^-32: ranks that follow each other lie
/// far apart (the van der Corput sequence).
std::uint64_t Phase(std::uint64_t rank) {
  std::uint64_t phase = 0;
  for (std::uint64_t bit = std::uint64_t{1} << 31; rank != 0; rank >>= 1, bit >>= 1)
    phase += (rank & 1) * bit;
  return phase;
}

/// The phase of each folder. Ranks go by size: folders of about one size have ranks that follow each other,
/// so that small ones do not all lie at one place of the list.
std::map<std::string, std::uint64_t> PhasesOf(const Folders& folders) {
  std::vector<std::pair<std::size_t, std::string>> by_size;
  for (const auto& [name, files] : folders) by_size.emplace_back(CountTriples(files), name);
  std::sort(by_size.rbegin(), by_size.rend());
  std::map<std::string, std::uint64_t> phases;
  for (const auto& [count, name] : by_size) phases.emplace(name, Phase(phases.size()));
  return phases;
}

std::vector<ImageFile> InTurn(const Folders& folders) {
  const auto phases = PhasesOf(folders);
  std::size_t largest = 0;
  for (const auto& [name, files] : folders) largest = std::max(largest, CountTriples(files));
  std::vector<std::vector<Triple>> blocks(largest);
  for (const auto& [name, files] : folders) {
    const auto count = CountTriples(files);
    for (std::size_t k = 0; k < count; ++k) {
      const auto first = k * kRounds;
      const auto some = std::span(files).subspan(first, std::min(kRounds, files.size() - first));
      // Spread evenly: (k + phase) * largest / count, which is k for the largest folders, and below `largest`.
      const auto block = (k * largest + ((phases.at(name) * largest) >> 32)) / count;
      blocks[block].push_back({.folder = name, .files = some});
    }
  }
  std::vector<ImageFile> images;
  for (const auto& block : blocks) AddBlock(block, images);
  return images;
}

std::vector<ImageFile> ByPath(const Folders& folders) {
  std::vector<ImageFile> images;
  for (const auto& [name, files] : folders) {
    for (const auto& path : files) images.push_back({.folder = name, .path = path});
  }
  std::sort(images.begin(), images.end(),
            [](const ImageFile& a, const ImageFile& b) { return a.path.native() < b.path.native(); });
  return images;
}

}  // namespace

std::vector<ImageFile> ListImages(const fs::path& folder, const std::vector<std::string>* classes) {
  Folders folders;  // a file in none is under the empty name
  for (const auto& path : Entries(folder)) {
    const auto name = path.filename().string();
    const bool inner = IsFolder(path);
    if (classes != nullptr && !inner) ThrowDataError(path, "", "a file beside the classes", kExpected);
    if (classes != nullptr && std::find(classes->begin(), classes->end(), name) == classes->end())
      ThrowDataError(path, "", "a folder " + Quote(name), "one that is named by one of data.label.values");
    if (inner) {
      folders[name] = FilesOf(path);
    } else {
      folders[""].push_back(path);
    }
  }
  return classes == nullptr ? ByPath(folders) : InTurn(folders);
}

std::string ImagesSha256(const fs::path& folder) {
  std::string lines;
  for (const auto& [inner, path] : ListImages(folder)) {
    if (!IsImageFile(path))
      ThrowDataError(path, "", "something else", "a PNG or JPEG file, as the others of a folder");
    lines += Sha256Hex(inner + "/" + path.filename().string()) + " " + FileSha256(path) + "\n";
  }
  return Sha256Hex(lines);
}

void CopyImage(const ImageFile& image, const fs::path& target) {
  const auto folder = target / image.folder;
  const auto copy = folder / image.path.filename();
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) fs::copy_file(image.path, copy, fs::copy_options::overwrite_existing, error);
  // The source may be read-only.
  if (!error) fs::permissions(copy, fs::perms::owner_write, fs::perm_options::add, error);
  if (error) ThrowDataError(image.path, "", error.message(), "a file that can be copied to " + copy.string());
}

void EmptyImageFolder(const fs::path& source, const fs::path& target) {
  std::error_code error;
  Require(!fs::equivalent(source, target, error), "EmptyImageFolder: another folder than the source");
  fs::remove_all(target, error);
  if (!error) fs::create_directories(target, error);
  if (error) ThrowDataError(target, "", error.message(), "a folder that can be made anew");
}

}  // namespace trefoil::data
