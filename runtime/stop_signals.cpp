#include "runtime/stop_signals.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <initializer_list>

#include "base/error_report.h"

namespace trefoil::runtime {
namespace {

std::atomic<int> noted{0};
static_assert(std::atomic<int>::is_always_lock_free, "a handler may use it");

void Note(int signal) {
  int none = 0;
  if (!noted.compare_exchange_strong(none, signal)) EndBySignal(signal);
}

void Handle(void (*handler)(int)) {
  struct sigaction before {};
  const bool hang_up = sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler != SIG_IGN;
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
  if (hang_up) sigaction(SIGHUP, &action, nullptr);
}

}  // namespace

void EndOnStopSignals() {
  if (getpid() == 1) Handle(&EndBySignal);
}

void NoteStopSignals() { Handle(&Note); }

int StopSignal() { return noted; }

void EndBySignal(int signal) {
  std::signal(signal, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  pthread_sigmask(SIG_UNBLOCK, &only, nullptr);  // as it is in its own handler
  (void)std::raise(signal);
  _exit(kStopped + signal);
}

}  // namespace trefoil::runtime
