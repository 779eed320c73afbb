#pragma once
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "data/formats/numpy/npy.h"

namespace trefoil::data {

/// Reads the array `name` of an NPZ file (a zip archive of NPY files, stored or deflated). `check`, if there
/// is one, sees its shape before its elements are read.
/// Throws DataError if the file or array is missing, damaged or encrypted, longer than its own header says,
/// or no array that ReadNpy reads; or if two members of the archive have one name, of which programs would
/// read now the one and now the other.
[[nodiscard]] NpyArray ReadNpz(const std::filesystem::path& path, const std::string& name,
                               const ShapeCheck& check = {});

/// Whether an NPZ file has an array `name`. Throws DataError as ReadNpz unless it is an NPZ file.
[[nodiscard]] bool HasNpzArray(const std::filesystem::path& path, const std::string& name);

/// Replaces `path` in one step by an NPZ file of these arrays, in this order, not compressed; on disk when
/// this returns. Equal arrays give equal bytes: every entry is dated 1 January 1980. Throws
/// std::runtime_error if it cannot be written.
void WriteNpz(const std::filesystem::path& path, const std::vector<std::pair<std::string, NpyArray>>& arrays);

}  // namespace trefoil::data
