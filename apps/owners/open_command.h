#pragma once
#include "apps/cli/command.h"

namespace trefoil::apps {

/// `owner open`, of the command `owner`: by it an owner reads the predictions that the three parties sealed
/// to it.
void AddOwnerOpen(CLI::App& owner, Action& action);

}  // namespace trefoil::apps
