#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

#include "data/dataset/table.h"
#include "data/features/image.h"

namespace trefoil::data {

/// Records to extract features from, without a job: labels are kept as they are.
struct FeatureInput {
  Matrix x;
  ImageSize image{};  ///< where x came as an array of three or four dimensions, channels last
  std::vector<std::vector<std::string>> texts{};  ///< of a text file: one a record
  std::vector<std::int64_t> labels{};             ///< one a record, or none at all
};

/// Reads records, values divided by `scale`: an IDX file, NPY, or NPZ (array x, and y if there is one), which
/// are told apart by content; with `as_text` any file, one record a line (LF or CRLF). `labels`, if not
/// empty, is an IDX or NPY file of integers. Throws DataError naming the file for what is neither, for values
/// that are not finite or above kLargestValue after scaling, and for another number of labels than records.
[[nodiscard]] FeatureInput ReadFeatureInput(const std::filesystem::path& file, bool as_text,
                                            const std::filesystem::path& labels, double scale);

/// Writes features as float32 and labels as int64: x and y to an NPZ file (y only if there are labels), or x
/// alone to an NPY file. Throws ConfigError for a name that ends in neither ".npz" nor ".npy", or for labels
/// that would be lost; std::runtime_error if the file cannot be written.
void WriteFeatures(const std::filesystem::path& file, const Matrix& x,
                   const std::vector<std::int64_t>& labels);

/// Throws as WriteFeatures() for a name that it would refuse.
void CheckFeatureFileName(const std::filesystem::path& file, bool labels);

}  // namespace trefoil::data
