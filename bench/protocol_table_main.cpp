#include <iostream>
#include <string_view>

#include "bench/entries.h"
#include "protocols/arithmetic/reveal.h"

// Prints the table of docs/reference/protocols.md; with the argument `reasons` the list of
// docs/explanation/threat_model.md of what is revealed; with `operations` the names of what `bench` measures.
// scripts/protocol_table.py keeps the documents current.
int main(int count, char** arguments) {
  using trefoil::protocols::ReleaseReason;
  const std::string_view wanted = count < 2 ? "" : arguments[1];
  if (wanted == "reasons") {
    for (int k = 0; k < static_cast<int>(ReleaseReason::kTest); ++k)
      std::cout << "- " << SentenceOf(static_cast<ReleaseReason>(k)) << '\n';
  } else if (wanted == "operations") {
    for (const auto& entry : trefoil::bench::AllEntries()) {
      if (entry.prepare && entry.in_bench) std::cout << entry.name << '\n';
    }
  } else {
    std::cout << trefoil::bench::ProtocolTable();
  }
  return 0;
}
