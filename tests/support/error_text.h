#pragma once
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace trefoil::testing_support {

/// The text of the `Error` that `call` throws; empty if it throws none.
template <typename Error, typename Call>
std::string ErrorText(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos) << "more than one line";
    return error.what();
  }
  return "";
}

}  // namespace trefoil::testing_support
