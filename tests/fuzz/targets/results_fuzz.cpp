// What a run directory holds for people and programs: record, summary and progress.
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "runtime/run_directory.h"
#include "tests/fuzz/fuzz.h"

namespace trefoil::fuzz::results_target {
void Read(std::span<const std::uint8_t> input) {
  const InputFile file(Text(input));
  ReadAs<DataError>([&] {
    const auto record = runtime::ReadRecord(file.path());
    const auto json = dp::ToJson(record);
    Check(dp::ToJson(dp::FromJson(json)) == json, "a record that is not what it was");
  });
  ReadAs<DataError>([&] { (void)runtime::ReadSummary(file.path()); });
  ReadAs<DataError>([&] { (void)runtime::ReadProgress(file.path()); });
  (void)runtime::LastProgress(file.path(), 10);
}

const Target kTarget("results", Read);

}  // namespace trefoil::fuzz::results_target
