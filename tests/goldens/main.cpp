// goldens_test [--renew] [--goldens FOLDER]: compares what the program does with what is kept in
// tests/goldens; --renew keeps what it does now.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "tests/goldens/compare.h"
#include "tests/goldens/fixed_coins.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int k = 1; k < argc; ++k) {
    const std::string argument = argv[k];
    if (argument == "--renew") {
      trefoil::goldens::TheGoldens().renew = true;
    } else if (argument == "--goldens" && k + 1 < argc) {
      trefoil::goldens::TheGoldens().folder = argv[++k];
    } else {
      std::fprintf(stderr, "goldens_test: found %s, expected --renew or --goldens FOLDER\n", argv[k]);
      return 2;
    }
  }
  trefoil::goldens::ReplaceSystemRandomness();
  return RUN_ALL_TESTS();
}
