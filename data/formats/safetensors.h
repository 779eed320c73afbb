#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "data/formats/numpy/npy.h"

namespace trefoil::data {

/// A safetensors file of these arrays, in this order, with texts by name as its metadata: eight bytes that
/// give the length of a JSON header, the header, padded by blanks to a multiple of eight, and the arrays'
/// bytes one after the other. Equal arguments give equal bytes. Pre: elements are of type <f8, <f4 or <i8;
/// names differ from each other and from "__metadata__". Source: https://github.com/huggingface/safetensors,
/// README, "Format".
[[nodiscard]] std::string FormatSafetensors(const std::vector<std::pair<std::string, NpyArray>>& arrays,
                                            const std::map<std::string, std::string>& metadata);

}  // namespace trefoil::data
