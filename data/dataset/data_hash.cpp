#include "data/dataset/data_hash.h"

#include <filesystem>
#include <system_error>

#include "base/secrets/sha256.h"
#include "data/formats/cifar.h"
#include "data/formats/file.h"
#include "data/formats/image_folder.h"
#include "data/tables/query_reader.h"

namespace trefoil::data {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void RefuseOtherData(const fs::path& place) {
  ThrowDataError(place, "", "other data than were read at first",
                 "the same: begin again when nobody replaces them");
}

}  // namespace

std::string PathSha256(const std::filesystem::path& path) {
  std::error_code error;
  const bool images = fs::is_directory(path, error) && !fs::exists(path / kFirstCifarFile, error);
  return images ? ImagesSha256(path) : FileSha256(path);
}

std::string PathSha256(const fs::path& path, const std::function<void()>& read) {
  auto hash = PathSha256(path);
  read();
  if (PathSha256(path) != hash) RefuseOtherData(path);
  return hash;
}

std::string DataHash(const DataFiles& files) {
  std::string lines;
  const auto add = [&](const std::string& key, const std::filesystem::path& file) {
    if (!file.empty()) lines += key + " " + PathSha256(file) + "\n";
  };
  add("x", files.x);
  add("y", files.y);
  if (!files.query.empty()) return Sha256Hex("query " + QuerySha256(files) + "\n");
  for (const auto& file : files.table()) add("file", file);
  return Sha256Hex(lines);
}

void SameData::Require() const {
  for (const auto& [files, hash] : hashes_) {
    if (DataHash(files) != hash) RefuseOtherData(files.place());
  }
}

}  // namespace trefoil::data
