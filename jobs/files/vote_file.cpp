#include "jobs/files/vote_file.h"

#include <charconv>
#include <cmath>
#include <numeric>
#include <string>

#include "data/formats/csv_reader.h"
#include "data/formats/file.h"
#include "data/formats/numpy/npy.h"

namespace trefoil::jobs {
namespace {

namespace fs = std::filesystem;

constexpr double kMaxVotes = 1e9;

std::string PlaceOf(std::size_t query, std::size_t column) {
  return "query " + std::to_string(query + 1) + ", class " + std::to_string(column);
}

VoteFile ReadNpyVotes(const fs::path& file) {
  const auto array = data::ReadNpy(file);
  if (array.shape.size() != 2)
    data::ThrowDataError(file, "", std::to_string(array.shape.size()) + " dimensions",
                         "2: queries and classes");
  const auto values = data::NpyToDoubles(array, file);
  VoteFile votes;
  for (std::size_t query = 0; query < array.shape[0]; ++query) {
    auto& counts = votes.counts.emplace_back();
    for (std::size_t column = 0; column < array.shape[1]; ++column) {
      const double value = values[query * array.shape[1] + column];
      if (!(value >= 0 && value <= kMaxVotes && value == std::floor(value)))
        data::ThrowDataError(file, PlaceOf(query, column), data::NumberText(value),
                             "a whole number from 0 to 10^9");
      counts.push_back(static_cast<std::int64_t>(value));
    }
  }
  return votes;
}

VoteFile ReadCsvVotes(const fs::path& file) {
  data::CsvReader reader(file);
  VoteFile votes;
  while (reader.Next()) {
    const auto query = votes.counts.size();
    auto& counts = votes.counts.emplace_back();
    for (const auto& field : reader.fields()) {
      std::int64_t count = -1;
      const auto* end = field.data() + field.size();
      const auto [stop, error] = std::from_chars(field.data(), end, count);
      if (error != std::errc{} || stop != end || count < 0 || static_cast<double>(count) > kMaxVotes)
        data::ThrowDataError(file, PlaceOf(query, counts.size()), data::Quote(field),
                             "a whole number from 0 to 10^9");
      counts.push_back(count);
    }
    if (counts.size() != votes.counts.front().size()) {
      data::ThrowDataError(file, "query " + std::to_string(query + 1),
                           std::to_string(counts.size()) + " classes",
                           std::to_string(votes.counts.front().size()));
    }
  }
  return votes;
}

}  // namespace

VoteFile ReadVotes(const fs::path& file) {
  auto votes = file.extension() == ".npy" ? ReadNpyVotes(file) : ReadCsvVotes(file);
  if (votes.counts.empty() || votes.counts.front().empty())
    data::ThrowDataError(file, "", "no votes", "a line or row of counts for each query");
  for (std::size_t query = 0; query < votes.counts.size(); ++query) {
    const auto& counts = votes.counts[query];
    const auto teachers = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    if (query == 0) votes.teachers = teachers;
    if (teachers != votes.teachers) {
      data::ThrowDataError(file, "query " + std::to_string(query + 1), std::to_string(teachers) + " votes",
                           std::to_string(votes.teachers) + ", as in the first query");
    }
  }
  return votes;
}

}  // namespace trefoil::jobs
