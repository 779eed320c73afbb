// Stops a party at a chosen moment, for scripts/acceptance.d/fault_matrix.py: preloaded (LD_PRELOAD), it
// raises SIGSTOP, once, before the process does what TREFOIL_STOP_AT says: "connect:" (to a peer),
// "open:PART" or "rename:PART" (a file to a path that has PART in it), or "pread:BYTES:PART" (so many bytes
// of such a file). Two stop one thread for good while the others go on: "hang:PART", which reads such a file,
// and "isend:N:BYTES", which sends, for the N-th time, a message of so many bytes to another of its party's
// ranks, by MPI. "copy:BYTES" stops nothing: it makes every copy of so many bytes in memory, such as a row of
// a table has, take 10 ms, as if it came from a disk.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>

namespace {

void StopAt(std::string_view call, const char* path) {
  static std::atomic<bool> stopped{false};
  const char* wanted = std::getenv("TREFOIL_STOP_AT");
  if (wanted == nullptr || !std::string_view(wanted).starts_with(call)) return;
  if (std::strstr(path, wanted + call.size()) != nullptr && !stopped.exchange(true)) raise(SIGSTOP);
}

std::string PathOf(int descriptor) {
  char path[4096] = {};
  const auto link = "/proc/self/fd/" + std::to_string(descriptor);
  return readlink(link.c_str(), path, sizeof path - 1) >= 0 ? path : "";
}

/// Counts the messages whose length TREFOIL_STOP_AT means.
void HangAtSend(int bytes) {
  static std::atomic<long> calls{0};
  const char* wanted = std::getenv("TREFOIL_STOP_AT");
  if (wanted == nullptr || !std::string_view(wanted).starts_with("isend:")) return;
  char* size = nullptr;
  const long nth = std::strtol(wanted + std::strlen("isend:"), &size, 10);
  if (bytes != std::atoi(size + 1) || ++calls != nth) return;
  for (;;) pause();
}

void HangAtRead(int descriptor) {
  const char* wanted = std::getenv("TREFOIL_STOP_AT");
  if (wanted == nullptr || !std::string_view(wanted).starts_with("hang:")) return;
  while (std::strstr(PathOf(descriptor).c_str(), wanted + std::strlen("hang:")) != nullptr) pause();
}

void PauseAtCopy(size_t bytes) {
  static const char* const wanted = std::getenv("TREFOIL_STOP_AT");
  if (wanted == nullptr || !std::string_view(wanted).starts_with("copy:")) return;
  if (bytes != std::strtoul(wanted + std::strlen("copy:"), nullptr, 10)) return;
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

template <typename Function>
Function* Original(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

int connect(int socket, const sockaddr* address, socklen_t length) {
  if (address->sa_family == AF_INET) StopAt("connect:", "");
  return Original<decltype(connect)>("connect")(socket, address, length);
}

int rename(const char* from, const char* to) noexcept {
  StopAt("rename:", to);
  return Original<decltype(rename)>("rename")(from, to);
}

int open(const char* path, int flags, ...) {
  StopAt("open:", path);
  va_list rest;
  va_start(rest, flags);
  const int mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, int) : 0;
  va_end(rest);
  return Original<int(const char*, int, ...)>("open")(path, flags, mode);
}

/// As Open MPI declares it, whose types of data, communicators and requests are pointers.
int MPI_Isend(const void* bytes, int count, void* type, int to, int tag, void* group, void** request) {
  HangAtSend(count);
  return Original<decltype(MPI_Isend)>("MPI_Isend")(bytes, count, type, to, tag, group, request);
}

void* memmove(void* to, const void* from, size_t count) noexcept {
  static auto* const original = Original<decltype(memmove)>("memmove");
  PauseAtCopy(count);
  return original(to, from, count);
}

ssize_t pread(int descriptor, void* out, size_t count, off_t offset) {
  StopAt("pread:" + std::to_string(count) + ":", PathOf(descriptor).c_str());
  return Original<decltype(pread)>("pread")(descriptor, out, count, offset);
}

ssize_t read(int descriptor, void* out, size_t count) {
  HangAtRead(descriptor);
  return Original<decltype(read)>("read")(descriptor, out, count);
}

}  // extern "C"
