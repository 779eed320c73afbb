#include <iostream>
#include <string_view>

#include "bench/protocol_table.h"
#include "protocols/arithmetic/reveal.h"

// Prints the table of docs/reference/protocols.md or, with the argument `reasons`, the list of
// docs/explanation/threat_model.md of what is revealed; scripts/protocol_table.py puts them there and checks that they
// are current.
int main(int count, char** arguments) {
  using trefoil::protocols::ReleaseReason;
  if (count < 2 || std::string_view(arguments[1]) != "reasons") {
    std::cout << trefoil::bench::ProtocolTable();
    return 0;
  }
  for (int k = 0; k < static_cast<int>(ReleaseReason::kTest); ++k)
    std::cout << "- " << SentenceOf(static_cast<ReleaseReason>(k)) << '\n';
  return 0;
}
