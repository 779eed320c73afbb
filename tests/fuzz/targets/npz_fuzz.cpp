// An NPZ file of rows and labels, or of a released model.
#include "base/error.h"
#include "jobs/files/model_file.h"
#include "tests/fuzz/table.h"

namespace trefoil::fuzz::npz_target {

void Read(std::span<const std::uint8_t> input) {
  const InputFile file(Text(input));
  data::DataSpec spec;
  spec.format = data::Format::kNpz;
  spec.features = 4;
  LoadTable(spec, {.x = {}, .y = {}, .file = file.path()});
  try {
    const auto loaded = jobs::LoadModel(file.path());
    const auto arrays = jobs::ModelArrays(loaded.model);
    Check(arrays.size() >= 2, "a model without weights");
  } catch (const DataError&) {
  } catch (const ConfigError&) {
  }
}

const Target kTarget("npz", Read);

}  // namespace trefoil::fuzz::npz_target
