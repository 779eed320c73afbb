#include "data/dataset/stored_rows.h"

#include <limits>
#include <vector>

#include "base/error.h"
#include "data/columns/row_values.h"
#include "data/dataset/table.h"
#include "data/formats/idx.h"
#include "data/formats/numpy/npy.h"

namespace trefoil::data {

std::optional<StoredRows> StoredRows::Open(const DataSpec& spec, const std::filesystem::path& path) {
  if (spec.format != Format::kIdx && spec.format != Format::kNpy) return std::nullopt;
  if (!std::filesystem::is_regular_file(path)) return std::nullopt;
  const auto file = std::make_shared<const PositionedFile>(path);
  StoredRows rows(spec, file);
  std::vector<std::size_t> shape;
  if (spec.format == Format::kIdx) {
    const auto head = file->Head(kMaxIdxHead);
    if (IsGzip(head)) return std::nullopt;
    IdxHeader header = ParseIdxHeader(head, file->size(), path);
    rows.start_ = header.length;
    shape = std::move(header.shape);
  } else {
    auto header = ReadNpyHeader(*file);
    if (!header || header->fortran_order || header->descr.starts_with("|S")) return std::nullopt;
    rows.item_ = *NpyItemSize(header->descr);
    rows.start_ = header->length;
    rows.descr_ = std::move(header->descr);
    shape = std::move(header->shape);
  }
  CheckRowShape(spec, path, shape, (file->size() - rows.start_) / rows.item_);
  rows.rows_ = shape.front();
  return rows;
}

void StoredRows::Read(std::size_t row, std::span<float> out) const {
  Require(row < rows_ && out.size() == columns(), "StoredRows: a row that is there, and room for it");
  std::string bytes(columns() * item_, '\0');
  file_->Read(start_ + row * bytes.size(), bytes);
  const std::size_t first = row * columns();
  if (descr_.empty()) {
    const std::span values(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    ToFeatures(spec_, file_->path(), first, values, out.data());
  } else {
    const auto values = NpyToDoubles(descr_, bytes, file_->path());
    ToFeatures<double>(spec_, file_->path(), first, values, out.data());
  }
}

void StoredRows::Check() const {
  const bool bytes = descr_.empty() || descr_ == "|u1" || descr_ == "|b1";
  if (bytes && std::numeric_limits<std::uint8_t>::max() / spec_.scale <= kLargestValue) return;
  std::vector<float> row(columns());
  for (std::size_t k = 0; k < rows_; ++k) Read(k, row);
}

}  // namespace trefoil::data
