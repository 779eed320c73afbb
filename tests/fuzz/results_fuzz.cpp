// What a run directory holds for people and programs: record, summary and progress.
#include <nlohmann/json.hpp>

#include "apps/run_directory.h"
#include "base/error.h"
#include "tests/fuzz/fuzz.h"

namespace trefoil::fuzz {
void Read(std::span<const std::uint8_t> input) {
  const InputFile file(Text(input));
  ReadAs<DataError>([&] {
    const auto record = apps::ReadRecord(file.path());
    const auto json = dp::ToJson(record);
    Check(dp::ToJson(dp::FromJson(json)) == json, "a record that is not what it was");
  });
  ReadAs<DataError>([&] { (void)apps::ReadSummary(file.path()); });
  ReadAs<DataError>([&] { (void)apps::ReadProgress(file.path()); });
  (void)apps::LastProgress(file.path(), 10);
}

}  // namespace trefoil::fuzz
