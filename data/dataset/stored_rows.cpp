#include "data/dataset/stored_rows.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <vector>

#include "base/error.h"
#include "base/threads/blocking_call.h"
#include "data/columns/row_values.h"
#include "data/dataset/table.h"
#include "data/formats/file.h"
#include "data/formats/idx.h"
#include "data/formats/npy.h"

namespace trefoil::data {
namespace {

namespace fs = std::filesystem;

/// Enough for the head of an IDX file and of most NPY files; one with a longer head is read whole.
constexpr std::size_t kMaxHeadBytes = std::size_t{1} << 16;

}  // namespace

/// Read by position rather than mapped: the cache is the same, a file that is cut meanwhile ends in an error
/// and not in a signal, and a limit on the address space (ulimit -v) does not count what is only read.
class StoredRows::File {
 public:
  explicit File(fs::path path)
      : path_(std::move(path)), descriptor_(open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {
    struct stat status {};
    if (descriptor_ < 0 || fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
      Close();
      ThrowDataError(path_, "", "a file that cannot be opened", "a readable file");
    }
    size_ = static_cast<std::size_t>(status.st_size);
  }
  ~File() { Close(); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  [[nodiscard]] const fs::path& path() const { return path_; }
  [[nodiscard]] std::size_t size() const { return size_; }

  /// Throws DataError unless there are as many bytes at `offset`.
  void Read(std::size_t offset, std::span<char> out) const {
    const BlockingCall call("reading", path_);
    std::size_t done = 0;
    while (done < out.size()) {
      const auto count =
          pread(descriptor_, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) {
        ThrowDataError(path_, "byte " + std::to_string(offset + done),
                       count == 0 ? "the end of the file" : std::strerror(errno),
                       std::to_string(size_) + " bytes, as when it was opened");
      }
      done += static_cast<std::size_t>(count);
    }
  }

 private:
  void Close() {
    if (descriptor_ >= 0) close(descriptor_);
  }

  fs::path path_;
  int descriptor_;
  std::size_t size_ = 0;
};

std::optional<StoredRows> StoredRows::Open(const DataSpec& spec, const fs::path& path) {
  if (spec.format != Format::kIdx && spec.format != Format::kNpy) return std::nullopt;
  if (!fs::is_regular_file(path)) return std::nullopt;
  const auto file = std::make_shared<const File>(path);
  std::string head(std::min(file->size(), kMaxHeadBytes), '\0');
  file->Read(0, head);
  if (head.starts_with("\x1f\x8b")) return std::nullopt;
  StoredRows rows(spec, file);
  std::vector<std::size_t> shape;
  if (spec.format == Format::kIdx) {
    IdxHeader header = ParseIdxHeader(head, file->size(), path);
    rows.start_ = header.length;
    shape = std::move(header.shape);
  } else {
    if (NpyHeaderLength(head, path) > kMaxHeadBytes) return std::nullopt;
    NpyHeader header = CheckedNpyHeader(head, file->size(), path);
    if (header.fortran_order || header.descr.starts_with("|S")) return std::nullopt;
    rows.item_ = *NpyItemSize(header.descr);
    rows.start_ = header.length;
    rows.descr_ = std::move(header.descr);
    shape = std::move(header.shape);
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
