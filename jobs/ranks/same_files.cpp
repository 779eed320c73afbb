#include "jobs/ranks/same_files.h"

#include <cstdint>
#include <span>
#include <string>

#include "base/error.h"
#include "data/formats/file.h"
#include "data/formats/positioned_file.h"

namespace trefoil::jobs {

void RequireSameFiles(const std::vector<std::filesystem::path>& files, mpc::Ranks& ranks) {
  std::vector<std::string> own;
  const auto sample = [&] {
    for (const auto& file : files) own.push_back(data::SampleSha256(file));
  };
  std::uint64_t count = files.size();
  if (ranks.rank() == 0) sample();  // what is wrong at all machines is for the first of them to find
  ranks.Broadcast(std::as_writable_bytes(std::span(&count, 1)));
  if (count != files.size())
    throw DataError(std::to_string(files.size()) +
                    " data files: found another number than rank 0, expected " + std::to_string(count));
  if (ranks.rank() > 0) sample();
  for (std::size_t k = 0; k < files.size(); ++k) {
    auto first = own[k];
    ranks.Broadcast(std::as_writable_bytes(std::span(first)));
    if (first != own[k])
      data::ThrowDataError(files[k], "", "another file than rank 0's", "the same on all machines of a party");
  }
}

}  // namespace trefoil::jobs
