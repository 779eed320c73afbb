#pragma once
#include <string>
#include <vector>

namespace trefoil::testing_support {

/// How files were made to last since the last call of this, in order: "fsync NAME" of a file or folder,
/// "rename NAME" of what a file was renamed to; NAME without its folders, and
/// ", unnamed" behind it where no BlockingCall says what hangs if it does. Of programs that
/// trefoil_track_files (tests/CMakeLists.txt) links, and of their own calls, not of shared libraries'.
std::vector<std::string> TakeFileCalls();

}  // namespace trefoil::testing_support
