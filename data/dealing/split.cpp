#include "data/dealing/split.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "base/error.h"
#include "data/dataset/vertical.h"
#include "data/formats/cifar.h"
#include "data/formats/csv.h"
#include "data/formats/file.h"
#include "data/formats/idx.h"
#include "data/formats/image_folder.h"
#include "data/formats/numpy/npz.h"

namespace trefoil::data {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kParties = 3;
using RowLists = std::array<std::vector<std::size_t>, kParties>;

/// Ends of the parties' contiguous parts of `count` rows.
std::array<std::size_t, kParties> PartEnds(const Split& split, std::size_t count) {
  if (split.kind != SplitKind::kFractions) return {count / 3, count * 2 / 3, count};
  double sum = 0;
  std::array<std::size_t, kParties> ends{};
  for (std::size_t j = 0; j < kParties; ++j) {
    const double fraction = split.fractions[j];
    sum += fraction;
    // A little room for fractions like 0.7, 0.2, 0.1, whose sum in binary may be above 1.
    if (!(fraction >= 0) || !(sum <= 1 + 1e-9)) {
      throw ConfigError("local.split: found " + NumberText(fraction) +
                        ", expected fractions that are not negative, of sum at most 1");
    }
    ends[j] = std::min(count, static_cast<std::size_t>(std::llround(sum * static_cast<double>(count))));
  }
  return ends;
}

RowLists ListRows(const std::vector<int>& party_of_row) {
  RowLists lists;
  for (std::size_t i = 0; i < party_of_row.size(); ++i) {
    if (party_of_row[i] >= 0) lists.at(static_cast<std::size_t>(party_of_row[i])).push_back(i);
  }
  return lists;
}

IdxArray Take(const IdxArray& array, const std::vector<std::size_t>& rows) {
  IdxArray part{array.shape, {}};
  part.shape.front() = rows.size();
  const std::size_t size = array.row_size();
  part.values.reserve(rows.size() * size);
  for (const auto row : rows) {
    const auto begin = array.values.begin() + static_cast<std::ptrdiff_t>(row * size);
    part.values.insert(part.values.end(), begin, begin + static_cast<std::ptrdiff_t>(size));
  }
  return part;
}

NpyArray Take(const NpyArray& array, const std::vector<std::size_t>& rows) {
  NpyArray part{array.descr, array.shape, {}};
  part.shape.front() = rows.size();
  const std::size_t size = array.shape.front() == 0 ? 0 : array.bytes.size() / array.shape.front();
  part.bytes.reserve(rows.size() * size);
  for (const auto row : rows) part.bytes.append(array.bytes, row * size, size);
  return part;
}

std::string Take(const CifarRows& all, const std::vector<std::size_t>& rows) {
  std::string part;
  part.reserve(rows.size() * kCifarRowBytes);
  for (const auto row : rows) part += all.Row(row);
  return part;
}

/// Each image to the folder of its party, in its class's sub-folder. Nothing that was there before is left.
void DealImages(const DataSpec& spec, const fs::path& source, const std::vector<int>& party_of_row,
                const std::array<DataFiles, kParties>& targets) {
  const auto images = ListImages(source, &spec.label.values);
  if (images.size() != party_of_row.size())
    ThrowDataError(source, "", std::to_string(images.size()) + " images",
                   std::to_string(party_of_row.size()) +
                       " as when they were read: begin again when nobody "
                       "writes to the folder");
  for (const auto& target : targets) EmptyImageFolder(source, target.file);
  for (std::size_t i = 0; i < images.size(); ++i) {
    if (party_of_row[i] >= 0)
      CopyImage(images[i], targets.at(static_cast<std::size_t>(party_of_row[i])).file);
  }
}

void WriteParts(const DataSpec& spec, const DataFiles& source, const std::vector<int>& party_of_row,
                const std::array<DataFiles, kParties>& targets) {
  if (spec.format == Format::kCsv) {
    SplitCsv(source, spec.header, party_of_row, {targets[0].file, targets[1].file, targets[2].file},
             spec.dialect);
    return;
  }
  if (spec.format == Format::kImages) return DealImages(spec, source.file, party_of_row, targets);
  const RowLists lists = ListRows(party_of_row);
  if (spec.format == Format::kCifar) {
    const CifarRows rows = ReadCifar(source.file);
    for (std::size_t j = 0; j < kParties; ++j) WriteFile(targets[j].file, Take(rows, lists[j]));
    return;
  }
  if (spec.format == Format::kIdx) {
    const IdxArray x = ReadIdx(source.x);
    const IdxArray y = ReadIdx(source.y);
    for (std::size_t j = 0; j < kParties; ++j) {
      WriteIdx(targets[j].x, Take(x, lists[j]));
      WriteIdx(targets[j].y, Take(y, lists[j]));
    }
    return;
  }
  const bool npy = spec.format == Format::kNpy;
  const NpyArray x = npy ? ReadNpy(source.x) : ReadNpz(source.file, "x");
  const NpyArray y = npy ? ReadNpy(source.y) : ReadNpz(source.file, "y");
  for (std::size_t j = 0; j < kParties; ++j) {
    if (npy) {
      WriteNpy(targets[j].x, Take(x, lists[j]));
      WriteNpy(targets[j].y, Take(y, lists[j]));
    } else {
      WriteNpz(targets[j].file, {{"x", Take(x, lists[j])}, {"y", Take(y, lists[j])}});
    }
  }
}

/// Each party's files, in folders that are made.
std::array<DataFiles, kParties> MakeTargets(const DataSpec& spec,
                                            const std::array<fs::path, 3>& party_folders) {
  std::array<DataFiles, kParties> targets;
  for (std::size_t j = 0; j < kParties; ++j) {
    fs::create_directories(party_folders[j] / "data");
    targets[j] = PartyFiles(spec.format, party_folders[j]);
  }
  return targets;
}

}  // namespace

std::vector<int> AssignRows(const Split& split, const std::vector<int>& labels,
                            const std::array<std::int64_t, 3>& capacities) {
  std::size_t room = 0;
  for (const auto capacity : capacities) {
    Require(capacity >= 0, "AssignRows: capacities of at least 0");
    room += static_cast<std::size_t>(capacity);
  }
  const std::size_t count = std::min(labels.size(), room);
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (split.kind == SplitKind::kSorted) {
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return labels[a] < labels[b]; });
  }
  const auto ends = PartEnds(split, count);

  std::vector<int> party_of_row(labels.size(), -1);
  auto left = capacities;
  for (std::size_t k = 0; k < count; ++k) {
    std::size_t party = k % kParties;
    if (split.kind != SplitKind::kEven) {
      party = static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), k) - ends.begin());
    }
    if (party == kParties || left[party] == 0) continue;
    --left[party];
    party_of_row[order[k]] = static_cast<int>(party);
  }
  return party_of_row;
}

SplitReport SplitRows(const DataSpec& spec, const DataFiles& source, const std::vector<int>& party_of_row,
                      const std::array<fs::path, 3>& party_folders) {
  Require(!spec.vertical, "SplitRows: a horizontal partition");
  WriteParts(spec, source, party_of_row, MakeTargets(spec, party_folders));
  SplitReport report;
  for (const int party : party_of_row)
    ++(party < 0 ? report.left_out : report.rows.at(static_cast<std::size_t>(party)));
  return report;
}

SplitReport SplitSource(const DataSpec& spec, const DataFiles& source, const Split& split,
                        const std::array<fs::path, 3>& party_folders) {
  const std::vector<int> labels = Load(spec, source).y;
  const std::vector<int> party_of_row = AssignRows(split, labels, spec.rows);
  if (!spec.vertical) return SplitRows(spec, source, party_of_row, party_folders);
  const auto targets = MakeTargets(spec, party_folders);
  const auto files = std::array{targets[0].file, targets[1].file, targets[2].file};
  const std::int64_t records = SplitCsvColumns(source, spec, files);
  SplitReport report;
  report.rows.fill(std::min(records, spec.rows[0]));
  report.left_out = records - report.rows[0];
  return report;
}

}  // namespace trefoil::data
