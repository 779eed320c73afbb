#pragma once
#include <string>

namespace trefoil::bench {

/// The table of docs/reference/protocols.md: for every protocol the cost that it declares, its error, where it comes
/// from and what each party sees, in Markdown. A line a protocol, without a heading.
[[nodiscard]] std::string ProtocolTable();

}  // namespace trefoil::bench
