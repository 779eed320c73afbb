#include "jobs/ranks/same_files.h"

#include "base/error.h"
#include "data/formats/file.h"
#include "jobs/ranks/of_rank0.h"

namespace trefoil::jobs {

std::vector<std::string> DigestsOfRank0(const std::vector<std::filesystem::path>& files, FileDigest digest,
                                        mpc::Ranks& ranks) {
  constexpr std::size_t kHexDigits = 64;
  std::string text;
  for (std::size_t k = 0; ranks.rank() == 0 && k < files.size(); ++k) text += digest(files[k]);
  text = OfRank0(text, ranks);
  const auto count = text.size() / kHexDigits;
  if (count != files.size())
    throw DataError(std::to_string(files.size()) +
                    " data files: found another number than rank 0, expected " + std::to_string(count));
  std::vector<std::string> digests;
  for (std::size_t k = 0; k < count; ++k) digests.push_back(text.substr(k * kHexDigits, kHexDigits));
  return digests;
}

void RequireSameFile(const std::filesystem::path& file, const std::string& found,
                     const std::string& of_rank_0) {
  if (found != of_rank_0)
    data::ThrowDataError(file, "", "another file than rank 0's",
                         "the same on all machines of a party, and that nobody changes it");
}

}  // namespace trefoil::jobs
