#include "data/formats/numpy/npz.h"

#include <zip.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <set>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "base/files/sync_to_disk.h"
#include "base/threads/blocking_call.h"
#include "data/formats/file.h"

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
bool ReadEntry(zip_file_t* entry, BoundedContent& content) {
  std::string chunk(std::size_t{1} << 20, '\0');
  for (;;) {
    const auto count = zip_fread(entry, chunk.data(), chunk.size());
    if (count < 0) return false;
    if (count == 0) return true;
    content.Append(std::string_view(chunk).substr(0, static_cast<std::size_t>(count)));
  }
}

constexpr std::string_view kEnding = ".npy";

/// What NumPy calls a member: "x.npy" and "x" are one array to it.
std::string ArrayName(std::string_view member) {
  if (member.ends_with(kEnding)) member.remove_suffix(kEnding.size());
  return std::string(member);
}

void RequireDistinctNames(zip_t* archive, const std::filesystem::path& path) {
  std::set<std::string> names;
  const auto count = static_cast<zip_uint64_t>(std::max<zip_int64_t>(0, zip_get_num_entries(archive, 0)));
  for (zip_uint64_t i = 0; i < count; ++i) {
    const char* member = zip_get_name(archive, i, ZIP_FL_ENC_RAW);
    if (member != nullptr && !names.insert(ArrayName(member)).second)
      ThrowDataError(path, "", "two members of the name " + Quote(ArrayName(member)), "one array of a name");
  }
}

Archive OpenArchive(const std::filesystem::path& path) {
  const auto status = std::filesystem::status(path);
  if (!std::filesystem::exists(status)) ThrowDataError(path, "", "no such file", "an NPZ file");
  if (!std::filesystem::is_regular_file(status)) ThrowDataError(path, "", "something else", "an NPZ file");
  int code = 0;
  Archive archive(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (!archive) ThrowDataError(path, "", "something else", "an NPZ file (a zip archive)");
  RequireDistinctNames(archive.get(), path);
  return archive;
}

/// Writes an archive; `file`: what it is the draft of, for errors.
void WriteArchive(const std::filesystem::path& draft, const std::filesystem::path& file,
                  const std::vector<std::pair<std::string, NpyArray>>& arrays) {
  std::vector<std::string> contents;  // libzip reads them at zip_close
  contents.reserve(arrays.size());
  for (const auto& [name, array] : arrays) contents.push_back(FormatNpy(array));
  int code = 0;
  Archive archive(zip_open(draft.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code));
  // The cause, such as a full disk, is the operating system's.
  const auto fail = [&] {
    zip_error_t* error = archive ? zip_get_error(archive.get()) : nullptr;
    const bool known = error != nullptr && zip_error_system_type(error) == ZIP_ET_SYS;
    throw std::system_error(known ? zip_error_code_system(error) : errno, std::generic_category(),
                            file.string() + ": cannot be written");
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

zip_int64_t Locate(zip_t* archive, const std::string& name) {
  return zip_name_locate(archive, (name + std::string(kEnding)).c_str(), 0);
}

}  // namespace

NpyArray ReadNpz(const std::filesystem::path& path, const std::string& name, const ShapeCheck& check) {
  const Archive archive = OpenArchive(path);
  const auto index = Locate(archive.get(), name);
  if (index < 0)
    ThrowDataError(path, "", "no array " + Quote(name),
                   "arrays x and y in data, weights and bias in a model");
  const Entry entry(zip_fopen_index(archive.get(), static_cast<zip_uint64_t>(index), 0));
  const auto place = path / (name + ".npy");
  BoundedContent content(place, NpySize(place, check));
  if (!entry || !ReadEntry(entry.get(), content)) {
    ThrowDataError(path, "array " + Quote(name), "a damaged or encrypted entry", "a stored or deflated one");
  }
  return ParseNpy(content.Take(), place);
}

bool HasNpzArray(const std::filesystem::path& path, const std::string& name) {
  return Locate(OpenArchive(path).get(), name) >= 0;
}

void WriteNpz(const std::filesystem::path& path,
              const std::vector<std::pair<std::string, NpyArray>>& arrays) {
  const BlockingCall call("writing", path);
  auto draft = path;
  draft += ".part";
  std::error_code error;
  std::filesystem::remove(draft, error);  // of an interrupted process, or a link that leads elsewhere
  try {
    WriteArchive(draft, path, arrays);  // libzip closes the file without having it on disk
    PutInPlace(draft, path);
  } catch (...) {
    std::filesystem::remove(draft, error);  // gives a full disk its room back
    throw;
  }
}

}  // namespace trefoil::data
