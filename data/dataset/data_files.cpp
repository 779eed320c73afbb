#include "data/dataset/data_files.h"

namespace trefoil::data {

std::vector<std::filesystem::path> DataFiles::table() const {
  std::vector<std::filesystem::path> files;
  if (!file.empty()) files.push_back(file);
  files.insert(files.end(), more.begin(), more.end());
  return files;
}

void DataFiles::SetTable(const std::vector<std::filesystem::path>& files) {
  file = files.empty() ? std::filesystem::path() : files.front();
  more.assign(files.empty() ? files.end() : files.begin() + 1, files.end());
}

std::filesystem::path DataFiles::place() const {
  auto name = rows();
  if (!more.empty())
    name += " and " + std::to_string(more.size()) + (more.size() == 1 ? " more file" : " more files");
  return name;
}

}  // namespace trefoil::data
