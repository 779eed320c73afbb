#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset/load.h"
#include "jobs/dpsgd/settings.h"
#include "ml/dpsgd/training.h"

namespace trefoil::jobs {

/// How a model does on clear records.
struct Evaluation {
  /// The records of one class.
  struct ClassCount {
    std::int64_t records = 0;
    std::int64_t correct = 0;
    std::int64_t predicted = 0;  ///< records of any class that the model takes for this one
  };

  std::int64_t records = 0;
  std::int64_t correct = 0;
  std::vector<ClassCount> classes;

  /// Share of correct predictions, 0 to 1. Pre: there are records.
  [[nodiscard]] double accuracy() const {
    return static_cast<double>(correct) / static_cast<double>(records);
  }
};

/// The model's output for one row: through the hidden layers, if there are any, and the last one.
[[nodiscard]] Eigen::RowVectorXd Logits(const ml::Model& model, const Eigen::RowVectorXd& row);

/// The class that logits mean: the largest one's (the first of equal ones), and with one column class 1 where
/// it is above zero.
[[nodiscard]] int ClassOf(const Eigen::RowVectorXd& logits);

/// How the job calls a class: the value of its label, or its number.
[[nodiscard]] std::string ClassName(const DpsgdSettings& job, int index);

/// Compares predictions with the labels. `table` has been prepared as for training (LoadRecords).
[[nodiscard]] Evaluation Evaluate(const ml::Model& model, const data::Table& table, int classes);

/// What a training holds of its features in memory at most; larger ones are read from disk as they are drawn.
inline constexpr std::uintmax_t kMostInMemory = std::uintmax_t{256} << 20;

/// How LoadRecords does its work.
struct LoadOptions {
  std::optional<std::int64_t> capacity{};  ///< more rows are an error
  /// LoadOwnRecords leaves features in their file where they would take more bytes and can be read row by
  /// row.
  std::optional<std::uintmax_t> most_in_memory{};
  std::size_t threads = 0;  ///< for extracting features; 0: all cores
  data::LabelUse labels = data::LabelUse::kRead;
  std::filesystem::path feature_model{};  ///< the ONNX model's file, where the job's features come from one
};

/// Reads a data set as the job declares it. Throws DataError as data::Load; ConfigError if the job's features
/// want a model and none is given.
[[nodiscard]] data::Table ReadRecords(const DpsgdSettings& job, const data::DataFiles& files,
                                      const LoadOptions& options = {});

/// Makes the features of records as ReadRecords() gives them: with method "none" rows are scaled down to the
/// job's row_norm where they are longer (with a vertical partition each party's columns to theirs), extracted
/// ones are scaled to it in any case (but for zeros). Throws DataError as data::Extract.
[[nodiscard]] data::Table WithFeatures(const DpsgdSettings& job, data::Table table,
                                       const LoadOptions& options = {});

/// ReadRecords(), then WithFeatures().
[[nodiscard]] data::Table LoadRecords(const DpsgdSettings& job, const data::DataFiles& files,
                                      const LoadOptions& options = {});

/// Whether a training can read its features from disk as it draws them: plain IDX and NPY, used as they are.
[[nodiscard]] bool MayStayOnDisk(const DpsgdSettings& job);

/// What this party brings to a training: LoadRecords() of its file, with the capacity that the job declares
/// for it; with groups as the unit of privacy also each row's; with a vertical partition its columns, and
/// classes if it holds them, in the order of the keys. Throws as LoadRecords(); DataError where a key occurs
/// twice, or more often than a group may have rows. Features that stay in their file have been read
/// once, and are scaled as they are read again.
[[nodiscard]] ml::OwnRecords LoadOwnRecords(const DpsgdSettings& job, int party, const data::DataFiles& files,
                                            LoadOptions options = {});

}  // namespace trefoil::jobs
