#pragma once
#include <gtest/gtest.h>

#include <ostream>
#include <string>

namespace trefoil::jobs {

/// `text` with one part of it, which must be there, replaced.
inline std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

/// A replacement in a file, and the error that it leads to.
struct EditCase {
  std::string name;
  std::string from;
  std::string to;
  std::string error;
};
inline void PrintTo(const EditCase& value, std::ostream* out) { *out << value.name; }

}  // namespace trefoil::jobs
