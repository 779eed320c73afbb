#include "base/secrets/sha256.h"

#include <gtest/gtest.h>

namespace trefoil {
namespace {

// FIPS 180-4's example, and `printf '' | sha256sum`.
TEST(Sha256Hex, IsThatOfTheBytes) {
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

// `head -c 200 /dev/zero | tr '\0' a | sha256sum`; a block has 64 bytes.
TEST(Sha256, TakesPiecesAcrossBlocks) {
  const std::string bytes(200, 'a');
  for (const std::size_t piece : {1, 63, 64, 65, 200}) {
    Sha256 hash;
    for (std::size_t at = 0; at < bytes.size(); at += piece)
      hash.Update(std::string_view(bytes).substr(at, piece));
    EXPECT_EQ(hash.Hex(), "c2a908d98f5df987ade41b5fce213067efbcc21ef2240212a41e54b5e7c28ae5");
  }
}

// `printf abc | openssl dgst -sha256 -binary | base64`.
TEST(Sha256Base64, IsTheSameHash) {
  EXPECT_EQ(Sha256Base64("abc"), "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
}

}  // namespace
}  // namespace trefoil
