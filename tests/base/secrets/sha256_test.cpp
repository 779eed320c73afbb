#include "base/secrets/sha256.h"

#include <gtest/gtest.h>

namespace trefoil {
namespace {

// FIPS 180-4's example, and `printf '' | sha256sum`.
TEST(Sha256Hex, IsThatOfTheBytes) {
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

// `printf abc | openssl dgst -sha256 -binary | base64`.
TEST(Sha256Base64, IsTheSameHash) {
  EXPECT_EQ(Sha256Base64("abc"), "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
}

}  // namespace
}  // namespace trefoil
