#include "data/npz.h"

#include <zip.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <stdexcept>
#include <system_error>

#include "data/file.h"

namespace trefoil::data {
namespace {

struct DiscardArchive {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
using Archive = std::unique_ptr<zip_t, DiscardArchive>;

struct CloseEntry {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using Entry = std::unique_ptr<zip_file_t, CloseEntry>;

/// Reads to the end of the entry, where libzip checks its CRC; false if it is damaged.
/// Grows with what arrives, not with the size that the archive claims.
bool ReadEntry(zip_file_t* entry, std::string& content) {
  std::string chunk(std::size_t{1} << 20, '\0');
  for (;;) {
    const auto count = zip_fread(entry, chunk.data(), chunk.size());
    if (count < 0) return false;
    if (count == 0) return true;
    content.append(chunk, 0, static_cast<std::size_t>(count));
  }
}

}  // namespace

NpyArray ReadNpz(const std::filesystem::path& path, const std::string& name) {
  if (!std::filesystem::is_regular_file(path)) ThrowDataError(path, "", "no such file", "an NPZ file");
  int code = 0;
  const Archive archive(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (!archive) ThrowDataError(path, "", "something else", "an NPZ file (a zip archive)");
  const auto index = zip_name_locate(archive.get(), (name + ".npy").c_str(), 0);
  if (index < 0)
    ThrowDataError(path, "", "no array " + Quote(name),
                   "arrays x and y in data, weights and bias in a model");
  const Entry entry(zip_fopen_index(archive.get(), static_cast<zip_uint64_t>(index), 0));
  std::string content;
  if (!entry || !ReadEntry(entry.get(), content)) {
    ThrowDataError(path, "array " + Quote(name), "a damaged or encrypted entry", "a stored or deflated one");
  }
  return ParseNpy(content, path / (name + ".npy"));
}

void WriteNpz(const std::filesystem::path& path,
              const std::vector<std::pair<std::string, NpyArray>>& arrays) {
  std::vector<std::string> contents;  // libzip reads them at zip_close
  contents.reserve(arrays.size());
  for (const auto& [name, array] : arrays) contents.push_back(FormatNpy(array));
  int code = 0;
  Archive archive(zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code));
  // The cause, such as a full disk, is the operating system's.
  const auto fail = [&] {
    zip_error_t* error = archive ? zip_get_error(archive.get()) : nullptr;
    const bool known = error != nullptr && zip_error_system_type(error) == ZIP_ET_SYS;
    throw std::system_error(known ? zip_error_code_system(error) : errno, std::generic_category(),
                            path.string() + ": cannot be written");
  };
  if (!archive) fail();
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    zip_source_t* source = zip_source_buffer(archive.get(), contents[i].data(), contents[i].size(), 0);
    const std::string name = arrays[i].first + ".npy";
    const auto index = zip_file_add(archive.get(), name.c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
      zip_source_free(source);
      fail();
    }
    constexpr zip_uint16_t kNewYear1980 = (1U << 5) | 1U;  // zip's packed date of its first day
    const auto entry = static_cast<zip_uint64_t>(index);
    if (zip_set_file_compression(archive.get(), entry, ZIP_CM_STORE, 0) < 0) fail();
    if (zip_file_set_dostime(archive.get(), entry, 0, kNewYear1980, 0) < 0) fail();
  }
  if (zip_close(archive.get()) < 0) fail();
  static_cast<void>(archive.release());  // zip_close has freed it
}

}  // namespace trefoil::data
