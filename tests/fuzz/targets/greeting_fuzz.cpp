// What a peer says first: its hello, and its job where the jobs differ.
#include "base/error.h"
#include "net/start/handshake.h"
#include "tests/fuzz/fuzz.h"

namespace trefoil::fuzz::greeting_target {
namespace {

constexpr const char* kJob =
    R"({"name":"test","data":{"rows":[1,2,3]},"privacy":{"delta":1e-05,"epsilon":3.0},"x":null})";

void ReadHello(std::span<const std::uint8_t> input) {
  try {
    const auto hello = net::DecodeHello(std::as_bytes(input));
    const net::Hello mine{.sender = 0, .receiver = 1, .job = net::HashJob(kJob)};
    net::CheckGreeting(mine, hello, 1);
    (void)net::JobsDiffer(mine, hello);
    const auto again = net::EncodeHello(hello);
    Check(Text({reinterpret_cast<const std::uint8_t*>(again.data()), again.size()}) == Text(input),
          "a hello that is not what it was");
  } catch (const ProtocolError&) {
  } catch (const ConfigError&) {
  }
}

}  // namespace

void Read(std::span<const std::uint8_t> input) {
  ReadHello(input);
  const auto line = net::DescribeJobDifference(kJob, std::string(Text(input)), 1);
  Check(!line.empty() && line.find('\n') == std::string::npos,
        "an error of another number of lines than one");
}

const Target kTarget("greeting", Read);

}  // namespace trefoil::fuzz::greeting_target
