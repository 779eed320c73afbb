// An IDX file of images, and the same bytes as labels; plain or packed.
#include "base/error.h"
#include "data/formats/idx.h"
#include "tests/fuzz/table.h"

namespace trefoil::fuzz::idx_target {

void Read(std::span<const std::uint8_t> input) {
  const InputFile file(Text(input));
  data::DataSpec spec;
  spec.features = 4;
  LoadTable(spec, {.x = file.path(), .y = file.path(), .file = {}});
  spec.image = {1, 2, 2};
  LoadTable(spec, {.x = file.path(), .y = file.path(), .file = {}});
  try {
    const auto array = data::ReadIdx(file.path());
    Check(array.values.size() == array.rows() * array.row_size(),
          "another number of values than of its shape");
  } catch (const DataError&) {
  }
}

const Target kTarget("idx", Read);

}  // namespace trefoil::fuzz::idx_target
