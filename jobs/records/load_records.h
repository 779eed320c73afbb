#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "data/dataset/load.h"
#include "jobs/records/schema.h"
#include "ml/dpsgd/training.h"

namespace trefoil::jobs {

/// What a training holds of its features in memory at most; larger ones are read from disk as they are drawn.
inline constexpr std::uintmax_t kMaxInMemory = std::uintmax_t{256} << 20;

/// How LoadRecords does its work.
struct LoadOptions {
  std::optional<std::int64_t> capacity{};  ///< more rows are an error
  /// LoadOwnRecords leaves features in their file where they would take more bytes and can be read row by
  /// row.
  std::optional<std::uintmax_t> max_in_memory{};
  std::size_t threads = 0;  ///< for extracting features; 0: all cores
  data::LabelUse labels = data::LabelUse::kRead;
  std::int64_t group_rows = 0;  ///< rows with one key at most, which make a group; 0: there are no groups
  std::filesystem::path feature_model{};  ///< the ONNX model's file, where the job's features come from one
};

/// Reads a data set as the job declares it. Throws DataError as data::Load; ConfigError if the job's features
/// want a model and none is given.
[[nodiscard]] data::Table ReadRecords(const RecordSchema& schema, const data::DataFiles& files,
                                      const LoadOptions& options = {});

/// Makes the features of records as ReadRecords() gives them: with method "none" rows are scaled down to the
/// job's row_norm where they are longer (with a vertical partition each party's columns to theirs), extracted
/// ones are scaled to it in any case (but for zeros). Throws DataError as data::Extract.
[[nodiscard]] data::Table WithFeatures(const RecordSchema& schema, data::Table table,
                                       const LoadOptions& options = {});

/// Makes extracted features rows: scaled up or down to the job's row_norm, and with its means moved by them
/// and scaled to it again (but for zeros). Pre: as many columns as means, where there are any.
void ScaleExtracted(const FeatureSpec& features, data::Matrix& x);

/// The second half of that, for rows that were scaled to row_norm before the means were known.
void SubtractMeans(const FeatureSpec& features, data::Matrix& x);

/// ReadRecords(), then WithFeatures().
[[nodiscard]] data::Table LoadRecords(const RecordSchema& schema, const data::DataFiles& files,
                                      const LoadOptions& options = {});

/// Whether a training can read its features from disk as it draws them: plain IDX and NPY, used as they are.
[[nodiscard]] bool MayStayOnDisk(const RecordSchema& schema);

/// What this party brings to a training: LoadRecords() of its file, with the capacity that the job declares
/// for it; with groups as the unit of privacy also each row's; with a vertical partition its columns, and
/// classes if it holds them, in the order of the keys. Throws as LoadRecords(); DataError where a key occurs
/// twice, or more often than a group may have rows. Features that stay in their file have been read
/// once, and are scaled as they are read again.
[[nodiscard]] ml::OwnRecords LoadOwnRecords(const RecordSchema& schema, int party,
                                            const data::DataFiles& files, LoadOptions options = {});

}  // namespace trefoil::jobs
