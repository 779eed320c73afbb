#include "data/sketch/raw_records.h"

#include <algorithm>
#include <filesystem>
#include <string>

#include "base/threads/blocking_call.h"
#include "data/formats/cifar.h"
#include "data/formats/csv_reader.h"
#include "data/formats/file.h"
#include "data/formats/idx.h"
#include "data/formats/image_file.h"
#include "data/formats/image_folder.h"
#include "data/formats/numpy/npy.h"
#include "data/formats/numpy/npz.h"
#include "data/tables/query_reader.h"

namespace trefoil::data {
namespace {

using Use = std::function<void(std::string_view)>;

constexpr std::size_t kHead = std::size_t{1} << 16;
constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr std::string_view kZipMagic = "PK\x03\x04";

/// The record of a table, however it is written.
std::string Plain(std::string_view line) {
  std::string plain;
  for (const char c : line) {
    if (c == '"' || c == ' ' || c == '\r') continue;
    const bool separates = c == ';' || c == '\t' || c == '|' || c == '.';
    plain.push_back(separates ? ',' : c);
  }
  return plain;
}

void UseLines(std::string_view text, const Use& use) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  for (bool first = true; !text.empty(); first = false) {
    const auto end = text.find('\n');
    const auto plain = Plain(text.substr(0, end));
    if (!first && !plain.empty()) use(plain);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

/// Pre: `bytes` are so many rows of equal length.
void UseRows(std::string_view bytes, std::size_t rows, const Use& use) {
  for (std::size_t row = 0; row < rows; ++row)
    use(bytes.substr(bytes.size() / rows * row, bytes.size() / rows));
}

void UseArray(const NpyArray& array, const Use& use) {
  UseRows(array.bytes, array.shape.empty() ? 1 : array.shape.front(), use);
}

/// Control characters that no text has.
bool IsText(std::string_view head) {
  return std::none_of(head.begin(), head.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < ' ' && (byte < '\t' || byte > '\r');
  });
}

void UseFeatures(const std::filesystem::path& file, const Use& use) {
  if (ReadHead(file, kNpyMagic.size()) == kNpyMagic) return UseArray(ReadNpy(file), use);
  const auto array = ReadIdx(file);
  UseRows({reinterpret_cast<const char*>(array.values.data()), array.values.size()}, array.rows(), use);
}

void UseTable(const std::filesystem::path& file, const Use& use) {
  const bool folder = std::filesystem::is_directory(file);
  if (folder && !std::filesystem::exists(file / kFirstCifarFile)) {
    for (const auto& image : ListImages(file)) use(ReadAnyImageFile(image.path));
    return;
  }
  const auto head = folder ? std::string() : ReadHead(file, kHead);
  if (head.starts_with(kZipMagic)) return UseArray(ReadNpz(file, "x"), use);
  if (!folder && IsText(head)) return UseLines(ReadFile(file), use);
  const auto images = ReadCifar(file);
  UseRows(images.bytes, images.rows(), use);
}

void UseQuery(const DataFiles& files, const Use& use) {
  const auto reader = OpenQuery(files, '.');
  (void)reader->Next();  // the names
  while (reader->Next()) {
    std::string line;
    for (const auto& field : reader->fields()) line += (&field == reader->fields().data() ? "" : ",") + field;
    use(Plain(line));
  }
}

}  // namespace

void ForEachRawRecord(const DataFiles& files, const Use& use) {
  const BlockingCall call("reading", files.rows());
  if (!files.query.empty()) return UseQuery(files, use);
  if (!files.x.empty()) UseFeatures(files.x, use);
  for (const auto& file : files.table()) UseTable(file, use);
}

}  // namespace trefoil::data
