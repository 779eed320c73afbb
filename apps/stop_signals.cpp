#include "apps/stop_signals.h"

#include <csignal>
#include <initializer_list>

namespace trefoil::apps {
namespace {

volatile std::sig_atomic_t noted = 0;

}  // namespace

void NoteStopSignals() {
  struct sigaction before {};
  const bool hang_up = sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler != SIG_IGN;
  struct sigaction action {};
  action.sa_handler = [](int signal) { noted = signal; };
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
  if (hang_up) sigaction(SIGHUP, &action, nullptr);
}

int StopSignal() { return noted; }

}  // namespace trefoil::apps
