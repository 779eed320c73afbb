#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace trefoil::data {

/// Writes small ONNX models byte by byte, as the format's protobuf schema (onnx.proto) numbers its fields.
class OnnxModel {
 public:
  /// Appends a node; `attributes` are encoded by Integer() and Integers().
  void AddNode(const std::string& type, const std::vector<std::string>& inputs, const std::string& output,
               const std::string& attributes = "") {
    std::string node;
    for (const auto& input : inputs) node += Bytes(1, input);
    graph_ += Bytes(1, node + Bytes(2, output) + Bytes(4, type) + attributes);
  }

  void AddConstant(const std::string& name, const std::vector<int>& shape, const std::vector<float>& values) {
    std::string tensor;
    for (const int length : shape) tensor += Number(1, length);
    std::string raw(values.size() * sizeof(float), '\0');
    std::memcpy(raw.data(), values.data(), raw.size());
    graph_ += Bytes(5, tensor + Number(2, 1) + Bytes(8, name) + Bytes(9, raw));
  }

  /// The model with one input and one output of these shapes, batch included.
  [[nodiscard]] std::string Finish(const std::vector<int>& input, const std::vector<int>& output) const {
    const std::string graph =
        graph_ + Bytes(2, "graph") + Bytes(11, Value("x", input)) + Bytes(12, Value("y", output));
    return Number(1, 7) + Bytes(7, graph) + Bytes(8, Bytes(1, "") + Number(2, 11));
  }

  static std::string Integer(const std::string& name, int value) {
    return Bytes(5, Bytes(1, name) + Number(3, value) + Number(20, 2));
  }
  static std::string Integers(const std::string& name, const std::vector<int>& values) {
    std::string attribute = Bytes(1, name);
    for (const int value : values) attribute += Number(8, value);
    return Bytes(5, attribute + Number(20, 7));
  }

 private:
  static std::string Varint(std::uint64_t value) {
    std::string bytes;
    for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7FU) | 0x80U);
    return bytes + static_cast<char>(value);
  }
  static std::string Number(int field, int value) {
    return Varint(static_cast<std::uint64_t>(field) << 3) + Varint(static_cast<std::uint64_t>(value));
  }
  static std::string Bytes(int field, const std::string& bytes) {
    return Varint(static_cast<std::uint64_t>(field) << 3 | 2U) + Varint(bytes.size()) + bytes;
  }
  static std::string Value(const std::string& name, const std::vector<int>& shape) {
    std::string dimensions;
    for (const int length : shape) dimensions += Bytes(1, Number(1, length));
    return Bytes(1, name) + Bytes(2, Bytes(1, Number(1, 1) + Bytes(2, dimensions)));
  }

  std::string graph_;
};

}  // namespace trefoil::data
