#include "apps/command_line.h"
#include "base/secure_memory.h"

int main(int argc, char** argv) {
  trefoil::DisableCoreDumps();
  return trefoil::apps::RunCommandLine(argc, argv);
}
