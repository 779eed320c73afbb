#pragma once
#include <pybind11/pybind11.h>

#include <csignal>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "python/core/core.h"
#include "trefoil/run.h"

namespace trefoil::python {

/// A party's program that an object of Python stands for (trefoil._calls.Calls): numbers pass as the bytes of
/// doubles, rows and keys as those of 64-bit integers. The library calls it without the interpreter's lock.
class PythonProgram final : public VectorProgram {
 public:
  /// With the lock. `calls` outlives the object.
  explicit PythonProgram(const pybind11::object& calls)
      : calls_(calls),
        records_(calls.attr("records").cast<std::int64_t>()),
        keys_(NumbersOf<std::int64_t>(calls.attr("keys"))) {}

  [[nodiscard]] std::int64_t records() const override { return records_; }
  [[nodiscard]] std::vector<std::int64_t> keys() const override { return keys_; }

  void Begins(std::int64_t begun, std::int64_t shared) override {
    std::exception_ptr refused;
    (void)Locked(refused, [&] { return calls_.attr("begins")(begun, shared).is_none(); });
  }

  bool Bring(std::int64_t /*call*/, std::span<const std::int64_t> rows, const Add& add) override {
    std::exception_ptr refused;
    return Locked(refused, [&] {
      const pybind11::cpp_function take([&](const pybind11::object& content) {
        const auto numbers = NumbersOf<double>(content);
        const pybind11::gil_scoped_release unlocked;
        try {
          add(numbers);
        } catch (...) {
          refused = std::current_exception();
          throw;
        }
      });
      return calls_.attr("bring")(BytesOf(rows), take).template cast<bool>();
    });
  }

  void Opened(std::int64_t /*call*/, std::span<const double> sum) override {
    std::exception_ptr refused;
    (void)Locked(refused, [&] { return !calls_.attr("opened")(BytesOf(sum)).is_none(); });
  }

 private:
  template <typename T>
  static pybind11::bytes BytesOf(std::span<const T> values) {
    return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
  }

  template <typename T>
  static std::vector<T> NumbersOf(const pybind11::object& content) {
    const auto bytes = content.cast<pybind11::buffer>().request();
    std::vector<T> numbers(static_cast<std::size_t>(bytes.size * bytes.itemsize) / sizeof(T));
    if (!numbers.empty()) std::memcpy(numbers.data(), bytes.ptr, numbers.size() * sizeof(T));
    return numbers;
  }

  /// Holds the lock; what Python raised ends the session, but an error of the library's own stays what it is.
  template <typename Body>
  static bool Locked(const std::exception_ptr& refused, Body body) {
    const pybind11::gil_scoped_acquire locked;
    try {
      return body();
    } catch (const pybind11::error_already_set&) {
      if (refused) std::rethrow_exception(refused);
    }
    throw StoppedError(SIGINT, "the program left the session before its end");
  }

  const pybind11::object& calls_;
  std::int64_t records_;
  std::vector<std::int64_t> keys_;
};

/// Of each object its program; of None, none.
[[nodiscard]] inline std::unique_ptr<PythonProgram> ProgramOf(const pybind11::object& calls) {
  return calls.is_none() ? nullptr : std::make_unique<PythonProgram>(calls);
}

}  // namespace trefoil::python
