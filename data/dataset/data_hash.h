#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "data/dataset/data_files.h"

namespace trefoil::data {

/// SHA-256, in hexadecimal, by which a ledger knows a data set: of the lines "KEY SHA-256-OF-THE-FILE", KEY
/// being x and y, or file, of [data], a line for each of its files, and PathSha256() for a folder of images.
/// Of the bytes as they are on disk; of a query the one line "query SHA-256-OF-WHAT-IT-GIVES". Throws
/// DataError for a file that cannot be read.
[[nodiscard]] std::string DataHash(const DataFiles& files);

/// FileSha256(), or of a folder ImagesSha256(), and what they throw. CIFAR-10's own files, which are found
/// together, are no folder of images.
[[nodiscard]] std::string PathSha256(const std::filesystem::path& path);

/// Calls `read`, which reads `path`, and returns the PathSha256() of what it read: the same before and after it.
/// Throws DataError where it is not, what PathSha256() throws, and what `read` throws.
[[nodiscard]] std::string PathSha256(const std::filesystem::path& path, const std::function<void()>& read);

/// Data sets that are read more than once and have to stay as they were at first.
class SameData {
 public:
  /// Before the first reading. Throws as DataHash.
  void Add(const DataFiles& files) { Add(files, DataHash(files)); }
  /// The same of files whose DataHash is known.
  void Add(const DataFiles& files, std::string hash) { hashes_.emplace_back(files, std::move(hash)); }
  /// After each reading, and whenever it matters. Throws DataError naming the first data set that has another
  /// DataHash than when it was added, and as DataHash; says nothing of the hashes, by which data could be
  /// guessed.
  void Require() const;

 private:
  std::vector<std::pair<DataFiles, std::string>> hashes_;
};

}  // namespace trefoil::data
