#pragma once
#include <filesystem>
#include <optional>

#include "data/dataset/load.h"
#include "data/dataset/spec.h"

namespace trefoil::data {

/// The training files of a source folder, by these names; the first that is there counts:
///   IDX  train-images-idx3-ubyte[.gz], train-labels-idx1-ubyte[.gz]
///   CSV  NAME-train.csv (NAME is the spec's), train.csv; else all of NAME-train-1.csv, NAME-train-2.csv ...
///   or of
///        train-1.csv, train-2.csv ... as one table
///   NPY  train-x.npy, train-y.npy
///   NPZ  train.npz
///   CIFAR  train.bin, or data_batch_1.bin, which stands for all five of CIFAR-10: then `file` is the folder
///   images  the folder train
/// Throws DataError listing what was looked for if the folder or a file is missing.
[[nodiscard]] DataFiles FindTrainingFiles(const DataSpec& spec, const std::filesystem::path& folder);

/// The test files likewise, with "test" for "train" and, for IDX, "t10k"; for CIFAR also
/// test_batch.bin; nothing if there are none.
/// Throws DataError if there is only one of two.
[[nodiscard]] std::optional<DataFiles> FindTestFiles(const DataSpec& spec,
                                                     const std::filesystem::path& folder);

/// Validation files likewise, with "validation" for "train" in every format.
[[nodiscard]] std::optional<DataFiles> FindValidationFiles(const DataSpec& spec,
                                                           const std::filesystem::path& folder);

/// Test files of a folder under names by which FindTestFiles() finds them; IDX gzipped.
[[nodiscard]] DataFiles TestFiles(Format format, const std::filesystem::path& folder);

/// The files of a party folder, as party files name them: data/images-idx3-ubyte.gz and
/// data/labels-idx1-ubyte.gz, data/train.csv, data/x.npy and data/y.npy, data/train.npz,
/// data/train.bin, or the folder data/train.
[[nodiscard]] DataFiles PartyFiles(Format format, const std::filesystem::path& party_folder);

/// Copies test or validation files into a folder (made if needed) under their names, where FindTestFiles()
/// finds them.
void CopyTestFiles(const DataFiles& files, const std::filesystem::path& folder);

}  // namespace trefoil::data
