#include "include/trefoil/version.h"

namespace trefoil {

const char* Version() { return TREFOIL_VERSION; }  // base/CMakeLists.txt: the project's

}  // namespace trefoil
