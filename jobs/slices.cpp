#include "jobs/slices.h"

#include <spdlog/fmt/fmt.h>

#include <string>
#include <utility>

#include "base/secrets/sha256.h"
#include "jobs/records/load_records.h"

namespace trefoil::jobs {
namespace {

std::vector<ml::OwnRecords> Sliced(const data::Table& records, const std::vector<std::size_t>& slice_of,
                                   std::size_t slices) {
  std::vector<std::vector<Eigen::Index>> rows(slices);
  for (std::size_t i = 0; i < slice_of.size(); ++i) rows[slice_of[i]].push_back(static_cast<Eigen::Index>(i));
  std::vector<ml::OwnRecords> parts(slices);
  for (std::size_t k = 0; k < slices; ++k) {
    parts[k].x.resize(static_cast<Eigen::Index>(rows[k].size()), records.x.cols());
    for (std::size_t i = 0; i < rows[k].size(); ++i) {
      parts[k].x.row(static_cast<Eigen::Index>(i)) = records.x.row(rows[k][i]);
      parts[k].y.push_back(records.y[static_cast<std::size_t>(rows[k][i])]);
    }
  }
  return parts;
}

}  // namespace

std::vector<std::size_t> SlicesByHash(const data::Table& table, std::size_t slices) {
  constexpr std::size_t kHexDigits = 15;  // of 60 bits: a remainder's law is within 2^-40 of uniform
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < table.y.size(); ++i) {
    const auto row = table.x.row(static_cast<Eigen::Index>(i));
    std::string bytes = fmt::format("{},", table.y[i]);
    bytes.append(reinterpret_cast<const char*>(row.data()),
                 sizeof(float) * static_cast<std::size_t>(row.size()));
    if (!table.texts.empty()) {
      for (const auto& text : table.texts[i]) bytes += fmt::format("{},{}", text.size(), text);
    }
    chosen.push_back(std::stoull(Sha256Hex(bytes).substr(0, kHexDigits), nullptr, 16) % slices);
  }
  return chosen;
}

std::vector<ml::OwnRecords> LoadSlicesByHash(const RecordSchema& schema, const PartyFile& party,
                                             std::size_t slices, std::size_t threads) {
  const LoadOptions options{.capacity = schema.data.rows.at(static_cast<std::size_t>(party.id)),
                            .threads = threads,
                            .feature_model = party.feature_model};
  auto table = ReadRecords(schema, party.data, options);
  const auto slice_of = SlicesByHash(table, slices);
  return Sliced(WithFeatures(schema, std::move(table), options), slice_of, slices);
}

}  // namespace trefoil::jobs
