#include "data/features/onnx_writer.h"

#include <bit>
#include <functional>
#include <numeric>

#include "base/error.h"

namespace trefoil::data {
namespace {

static_assert(std::endian::native == std::endian::little, "raw_data is little-endian");

constexpr std::uint64_t kIrVersion = 5;
constexpr std::uint64_t kOpset = 10;
constexpr std::uint64_t kFloat = 1;           // TensorProto.DataType
constexpr std::uint64_t kAttributeFloat = 1;  // AttributeProto.AttributeType
constexpr std::uint64_t kAttributeInt = 2;
constexpr std::uint64_t kAttributeInts = 7;

std::string Varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7FU) | 0x80U);
  return bytes + static_cast<char>(value);
}

/// A field of wire type 0.
std::string Number(std::uint64_t field, std::uint64_t value) { return Varint(field << 3) + Varint(value); }

/// A field of wire type 2: a text, bytes, or a message.
std::string Bytes(std::uint64_t field, std::string_view bytes) {
  return Varint(field << 3 | 2U).append(Varint(bytes.size())).append(bytes);
}

/// Little-endian bytes.
std::string Raw(std::span<const float> values) {
  const auto raw = std::as_bytes(values);
  return {reinterpret_cast<const char*>(raw.data()), raw.size()};
}

/// AttributeProto.
std::string Attribute(const OnnxAttribute& attribute) {
  const auto name = Bytes(1, attribute.name);
  if (const auto* whole = std::get_if<std::int64_t>(&attribute.value))
    return name + Number(3, static_cast<std::uint64_t>(*whole)) + Number(20, kAttributeInt);
  if (const auto* number = std::get_if<float>(&attribute.value))
    return name + Varint(2U << 3 | 5U) + Raw({number, 1}) + Number(20, kAttributeFloat);
  std::string values;
  for (const auto value : std::get<std::vector<std::int64_t>>(attribute.value))
    values += Number(8, static_cast<std::uint64_t>(value));
  return name + values + Number(20, kAttributeInts);
}

/// ValueInfoProto.
std::string ValueInfo(const OnnxValue& value) {
  std::string dimensions;
  for (const auto length : value.shape) {
    const bool any = length == kAnyLength;
    dimensions += Bytes(1, any ? Bytes(2, "N") : Number(1, static_cast<std::uint64_t>(length)));
  }
  return Bytes(1, value.name) + Bytes(2, Bytes(1, Number(1, kFloat) + Bytes(2, dimensions)));
}

}  // namespace

void OnnxWriter::AddConstant(std::string_view name, const std::vector<std::int64_t>& shape,
                             std::span<const float> values) {
  const auto size = std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  Require(size == static_cast<std::int64_t>(values.size()), "AddConstant: as many values as its shape says");
  std::string tensor;
  for (const auto length : shape) tensor += Number(1, static_cast<std::uint64_t>(length));
  graph_ += Bytes(5, tensor + Number(2, kFloat) + Bytes(8, name) + Bytes(9, Raw(values)));
}

void OnnxWriter::AddNode(std::string_view type, const std::vector<std::string>& inputs,
                         std::string_view output, const std::vector<OnnxAttribute>& attributes) {
  std::string node;
  for (const auto& input : inputs) node += Bytes(1, input);
  // Tools show nodes by name, and a value has exactly one that makes it.
  node += Bytes(2, output) + Bytes(3, output) + Bytes(4, type);
  for (const auto& attribute : attributes) node += Bytes(5, Attribute(attribute));
  graph_ += Bytes(1, node);
}

std::string OnnxWriter::Finish(const OnnxValue& input, const OnnxValue& output, std::string_view description,
                               const std::map<std::string, std::string>& metadata) const {
  const std::string graph =
      graph_ + Bytes(2, "trefoil") + Bytes(11, ValueInfo(input)) + Bytes(12, ValueInfo(output));
  std::string model = Number(1, kIrVersion) + Bytes(2, "trefoil") + Bytes(6, description) + Bytes(7, graph) +
                      Bytes(8, Bytes(1, "") + Number(2, kOpset));
  for (const auto& [key, value] : metadata) model += Bytes(14, Bytes(1, key) + Bytes(2, value));
  return model;
}

}  // namespace trefoil::data
