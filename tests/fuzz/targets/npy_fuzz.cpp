// An NPY file: rows, labels, teachers' labels, votes.
#include "base/error.h"
#include "data/formats/numpy/npy.h"
#include "tests/fuzz/table.h"
#include "tests/fuzz/votes.h"

namespace trefoil::fuzz::npy_target {
namespace {

void CheckArray(const data::NpyArray& array, const std::filesystem::path& path) {
  Check(array.bytes.size() == array.size() * array.item_size(), "another number of bytes than of its shape");
  const auto again = data::ParseNpy(data::FormatNpy(array), path);
  Check(again.shape == array.shape && again.bytes == array.bytes && again.descr == array.descr,
        "an array that is not what it was");
  if (array.descr.starts_with("|S")) {
    (void)data::NpyToText(array, path);
  } else {
    Check(data::NpyToDoubles(array, path).size() == array.size(),
          "another number of elements than of its shape");
  }
}

}  // namespace

void Read(std::span<const std::uint8_t> input) {
  const InputFile file(Text(input));
  data::DataSpec spec;
  spec.format = data::Format::kNpy;
  spec.features = 4;
  LoadTable(spec, {.x = file.path(), .y = file.path(), .file = {}});
  ReadAs<DataError>([&] { CheckArray(data::ReadNpy(file.path()), file.path()); });
  ReadVoteFiles(file.path());
}

const Target kTarget("npy", Read);

}  // namespace trefoil::fuzz::npy_target
