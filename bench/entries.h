#pragma once
#include <string>
#include <vector>

#include "protocols/catalogue/catalogue.h"

namespace trefoil::bench {

/// The catalogue of protocols, and what ml/ makes of them: in the order in which they are listed and run.
[[nodiscard]] const std::vector<protocols::Entry>& AllEntries();

/// Their table in Markdown, as docs/reference/protocols.md has it: for every protocol the cost that it
/// declares, its error, where it comes from and what each party sees.
[[nodiscard]] std::string ProtocolTable();

// By file. Their figures in the table are of whole steps, models and results.

/// DP-SGD steps, and what is done with a model once it is trained.
[[nodiscard]] std::vector<protocols::Entry> ModelEntries();

/// What jobs do on shares that release one noisy result: counts, votes, sums of classifiers, steps on votes.
[[nodiscard]] std::vector<protocols::Entry> ReleaseEntries();

}  // namespace trefoil::bench
