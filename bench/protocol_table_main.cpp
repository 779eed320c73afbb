#include <iostream>

#include "bench/protocol_table.h"

// Prints the table of docs/reference/protocols.md; scripts/protocol_table.py puts it there and checks that it is
// current.
int main() {
  std::cout << trefoil::bench::ProtocolTable();
  return 0;
}
