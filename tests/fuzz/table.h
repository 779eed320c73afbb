#pragma once
#include "data/dataset/load.h"
#include "data/dataset/spec.h"
#include "tests/fuzz/fuzz.h"

namespace trefoil::fuzz {

/// Loads rows as a job would, and checks that what a reader let pass is what the spec promises. Data and
/// configuration errors are what it may answer.
void LoadTable(const data::DataSpec& spec, const data::DataFiles& files);

}  // namespace trefoil::fuzz
