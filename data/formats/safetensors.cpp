#include "data/formats/safetensors.h"

#include <nlohmann/json.hpp>
#include <string_view>

#include "base/error.h"
#include "base/length_prefix.h"

namespace trefoil::data {
namespace {

std::string_view TypeOf(const NpyArray& array) {
  if (array.descr == "<f8") return "F64";
  if (array.descr == "<f4") return "F32";
  Require(array.descr == "<i8", "FormatSafetensors: float64, float32 or int64");
  return "I64";
}

}  // namespace

std::string FormatSafetensors(const std::vector<std::pair<std::string, NpyArray>>& arrays,
                              const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header{{"__metadata__", metadata}};
  std::size_t begin = 0;
  for (const auto& [name, array] : arrays) {
    Require(!header.contains(name), "FormatSafetensors: each name once");
    const std::size_t end = begin + array.bytes.size();
    header[name] = {{"dtype", TypeOf(array)}, {"shape", array.shape}, {"data_offsets", {begin, end}}};
    begin = end;
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  std::string file = WithLength(text);
  for (const auto& [name, array] : arrays) file += array.bytes;
  return file;
}

}  // namespace trefoil::data
