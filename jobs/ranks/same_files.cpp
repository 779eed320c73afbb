#include "jobs/ranks/same_files.h"

#include <cstdint>
#include <span>

#include "base/error.h"
#include "data/formats/file.h"

namespace trefoil::jobs {

std::vector<std::string> DigestsOfRank0(const std::vector<std::filesystem::path>& files, FileDigest digest,
                                        mpc::Ranks& ranks) {
  constexpr std::size_t kHexDigits = 64;
  std::vector<std::string> digests(files.size(), std::string(kHexDigits, '0'));
  for (std::size_t k = 0; ranks.rank() == 0 && k < files.size(); ++k) digests[k] = digest(files[k]);
  std::uint64_t count = files.size();
  ranks.Broadcast(std::as_writable_bytes(std::span(&count, 1)));
  if (count != files.size())
    throw DataError(std::to_string(files.size()) +
                    " data files: found another number than rank 0, expected " + std::to_string(count));
  for (auto& one : digests) ranks.Broadcast(std::as_writable_bytes(std::span(one)));
  return digests;
}

void RequireSameFile(const std::filesystem::path& file, const std::string& found,
                     const std::string& at_first) {
  if (found != at_first)
    data::ThrowDataError(file, "", "another file than rank 0's at first",
                         "the same on all machines of a party, and that nobody changes it");
}

}  // namespace trefoil::jobs
