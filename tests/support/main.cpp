// main() of test programs that compute: as the program's own (apps/main.cpp), it keeps freed memory. With the
// C library's defaults, clearing pages was a third of the processor time of the tests of protocols.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/allocator.h"

int main(int argc, char** argv) {
  trefoil::KeepFreedMemory();
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
