#include "data/formats/file.h"

#include <zlib.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <limits>
#include <locale>
#include <memory>
#include <new>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include "base/error.h"
#include "base/threads/blocking_call.h"

namespace trefoil::data {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kChunk = std::size_t{1} << 20;
constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();  // what is on disk already
constexpr int kGzipWindow = 15 + 16;  // zlib: the largest window, gzip framing

Bytef* ZlibBytes(const char* data) { return reinterpret_cast<Bytef*>(const_cast<char*>(data)); }

struct OpenFile {
  std::ifstream stream;
  std::uintmax_t size = 0;
  bool packed = false;     ///< by gzip
  Sha256* hash = nullptr;  ///< of what is read, if it is asked for
};

/// Reads the next bytes into `out`, and returns how many there were.
std::size_t ReadSome(OpenFile& file, std::string& out) {
  file.stream.read(out.data(), static_cast<std::streamsize>(out.size()));
  const auto count = static_cast<std::size_t>(file.stream.gcount());
  if (file.hash != nullptr) file.hash->Update(std::string_view(out).substr(0, count));
  return count;
}

OpenFile Open(const fs::path& path) {
  std::error_code error;
  const auto status = fs::status(path, error);
  if (!fs::exists(status)) ThrowDataError(path, "", "no such file", "a readable file");
  if (!fs::is_regular_file(status))
    ThrowDataError(path, "", fs::is_directory(status) ? "a folder" : "something else", "a regular file");
  OpenFile file{.stream = std::ifstream(path, std::ios::binary), .size = fs::file_size(path, error)};
  if (error || !file.stream) ThrowDataError(path, "", "a file that cannot be opened", "a readable file");
  std::string magic(2, '\0');
  file.packed = ReadSome(file, magic) == magic.size() && IsGzip(magic);
  file.stream.clear();  // a file may be shorter
  file.stream.seekg(0);
  return file;
}

void RequireWhole(const fs::path& path, std::uintmax_t count, std::uintmax_t size) {
  if (count != size)
    ThrowDataError(path, "", std::to_string(count) + " bytes", std::to_string(size) + " bytes");
}

/// Where unpacked bytes go; false: no more are wanted.
using Sink = std::function<bool(std::string_view bytes)>;

struct EndInflate {
  void operator()(z_stream* stream) const { inflateEnd(stream); }
};

/// Inflates every gzip member of `file`; false if it is cut short or broken.
bool Unpack(OpenFile& file, const Sink& sink) {
  z_stream stream{};
  if (inflateInit2(&stream, kGzipWindow) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, EndInflate> end(&stream);
  std::string chunk(kChunk, '\0');
  std::string unpacked(kChunk, '\0');
  int result = Z_OK;
  for (;;) {
    if (stream.avail_in == 0) {
      stream.next_in = ZlibBytes(chunk.data());
      stream.avail_in = static_cast<uInt>(ReadSome(file, chunk));
    }
    if (result == Z_STREAM_END) {
      if (stream.avail_in == 0) return true;
      inflateReset(&stream);  // the next member
    }
    stream.next_out = ZlibBytes(unpacked.data());
    stream.avail_out = static_cast<uInt>(unpacked.size());
    result = inflate(&stream, Z_NO_FLUSH);
    if (!sink(std::string_view(unpacked).substr(0, unpacked.size() - stream.avail_out))) return true;
    if (result != Z_OK && result != Z_STREAM_END) return false;
  }
}

/// Gives the content of `file`, unpacked, to `sink`, piece by piece.
void ReadUnpacked(const fs::path& path, OpenFile& file, const Sink& sink) {
  if (file.packed) {
    if (!Unpack(file, sink)) ThrowDataError(path, "", "a damaged or cut gzip file", "a whole one");
    return;
  }
  std::string chunk(kChunk, '\0');
  std::uintmax_t total = 0;
  while (const auto count = ReadSome(file, chunk)) {
    total += count;
    if (!sink(std::string_view(chunk).substr(0, count))) return;
  }
  RequireWhole(path, total, file.size);
}

std::string Pack(std::string_view content) {
  Require(content.size() < std::numeric_limits<uInt>::max(), "WriteFile: gzip content of less than 4 GiB");
  z_stream stream{};
  // The fastest level: these files are read once or twice, by the machine that wrote them.
  if (deflateInit2(&stream, 1, Z_DEFLATED, kGzipWindow, 9, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  std::string packed(deflateBound(&stream, static_cast<uLong>(content.size())), '\0');
  stream.next_in = ZlibBytes(content.data());
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = ZlibBytes(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int result = deflate(&stream, Z_FINISH);
  packed.resize(packed.size() - stream.avail_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END) throw std::runtime_error("gzip: packing failed");
  return packed;
}

}  // namespace

void ThrowDataError(const fs::path& file, std::string_view where, std::string_view found,
                    std::string_view expected) {
  std::string text = file.string() + ": ";
  if (!where.empty()) text.append(where).append(": ");
  text.append("found ").append(found).append(", expected ").append(expected);
  const auto controls = [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; };
  std::replace_if(text.begin(), text.end(), controls, '.');
  throw DataError(text);
}

std::string Quote(std::string_view text) {
  constexpr std::size_t kShown = 40;
  std::string quoted = "\"";
  for (const char c : text.substr(0, kShown)) {
    if (c == '\t' || c == '\r') {
      quoted += c == '\t' ? "\\t" : "\\r";
    } else {
      quoted += static_cast<unsigned char>(c) < 32 || c == 127 ? '.' : c;
    }
  }
  return quoted + (text.size() > kShown ? "...\"" : "\"");
}

std::string NumberText(double value) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text << value;
  return text.str();
}

bool IsGzip(std::string_view head) { return head.starts_with("\x1f\x8b"); }

std::string ReadFile(const fs::path& path, const AnnouncedSize& announced, Sha256* on_disk) {
  const BlockingCall call("reading", path);
  OpenFile file = Open(path);
  file.hash = on_disk;
  const MaxBytes most{file.packed ? BoundedContent::kMaxUnannounced : kNoLimit};
  auto content = announced ? BoundedContent(path, announced) : BoundedContent(path, most);
  if (!file.packed) content.ReserveAtMost(file.size);
  const auto append = [&](std::string_view bytes) {
    content.Append(bytes);
    return true;
  };
  ReadUnpacked(path, file, append);
  return content.Take();
}

std::string ReadHead(const fs::path& path, std::size_t count) {
  OpenFile file = Open(path);
  std::string head;
  ReadUnpacked(path, file, [&](std::string_view bytes) {
    head.append(bytes.substr(0, count - head.size()));
    return head.size() < count;
  });
  return head;
}

std::string FileSha256(const fs::path& path) {
  const BlockingCall call("reading", path);
  OpenFile file = Open(path);
  Sha256 hash;
  file.hash = &hash;
  std::string chunk(kChunk, '\0');
  std::uintmax_t count = 0;
  while (const auto some = ReadSome(file, chunk)) count += some;
  RequireWhole(path, count, file.size);
  return hash.Hex();
}

void WriteFile(const fs::path& path, std::string_view content) {
  const BlockingCall call("writing", path);
  const std::string packed = path.extension() == ".gz" ? Pack(content) : std::string();
  const std::string_view bytes = path.extension() == ".gz" ? std::string_view(packed) : content;
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) throw std::runtime_error(path.string() + ": cannot be written");
}

}  // namespace trefoil::data
