// What libFuzzer calls with each input, in a program of one target.
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  trefoil::fuzz::Target::first->read({data, size});
  return 0;
}
