#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace trefoil::dp {

/// Throws DataError "training record: KEY: found X, expected Y".
[[noreturn]] void RefuseRecord(const std::string& key, const std::string& found, const std::string& expected);

/// A JSON object that must hold exactly the given keys; `place` is its path in the record, for texts. Of
/// another object, and of a member that is not of the type asked for, it throws DataError naming the key.
/// Refers to `json`.
class StrictObject {
 public:
  StrictObject(const nlohmann::json& json, std::string place, const std::vector<const char*>& keys);

  [[nodiscard]] std::string Path(const std::string& key) const;
  [[nodiscard]] bool Has(const char* key) const { return json_.contains(key); }
  [[nodiscard]] const nlohmann::json& At(const char* key) const { return json_.at(key); }

  [[nodiscard]] std::string Text(const char* key) const;
  [[nodiscard]] std::string Hex(const char* key) const;     ///< lower case, at least a digit
  [[nodiscard]] std::int64_t Count(const char* key) const;  ///< from 0 to 2^53
  [[nodiscard]] std::array<std::int64_t, 3> Counts(const char* key) const;
  /// Integers from 0 to 2^53, as many as there are.
  [[nodiscard]] std::vector<std::int64_t> ListOfCounts(const char* key) const;
  /// From 0 to `largest`.
  [[nodiscard]] double Number(const char* key, double largest = std::numeric_limits<double>::max()) const;
  [[nodiscard]] bool Flag(const char* key) const;

 private:
  const nlohmann::json& json_;
  std::string place_;
};

}  // namespace trefoil::dp
