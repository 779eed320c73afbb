#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace trefoil::data {

/// An attribute of an ONNX node: a whole number, a list of them, or a number.
struct OnnxAttribute {
  std::string name;
  std::variant<std::int64_t, std::vector<std::int64_t>, float> value;
};

/// An input or output of an ONNX graph, of float32.
struct OnnxValue {
  std::string name;
  std::vector<std::int64_t> shape;  ///< kAnyLength: a length that only the run decides
};

inline constexpr std::int64_t kAnyLength = -1;

/// A model of more bytes is refused: protobuf counts them in 31 bits.
inline constexpr std::size_t kLargestOnnx = (std::size_t{1} << 31) - 1;

/// Puts an ONNX model together: constants and nodes in the order in which they are computed, in float32. What
/// it makes is a protobuf message of onnx.proto, IR version 5, operators of opset 10 of the default domain;
/// equal calls give equal bytes. Which operators there are, and that names match, is the caller's affair.
/// Source: https://github.com/onnx/onnx, onnx.proto (field numbers) and docs/Operators.md; protobuf's
/// encoding.
class OnnxWriter {
 public:
  /// Pre: as many values as the shape's product.
  void AddConstant(std::string_view name, const std::vector<std::int64_t>& shape,
                   std::span<const float> values);

  void AddNode(std::string_view type, const std::vector<std::string>& inputs, std::string_view output,
               const std::vector<OnnxAttribute>& attributes = {});

  /// The model of all that was added, with a text for its reader and further texts by name.
  [[nodiscard]] std::string Finish(const OnnxValue& input, const OnnxValue& output,
                                   std::string_view description = {},
                                   const std::map<std::string, std::string>& metadata = {}) const;

 private:
  std::string graph_;
};

}  // namespace trefoil::data
