#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "net/http/http_endpoint.h"

namespace trefoil::net {

/// What a problem says beside its status and what went wrong.
struct ProblemDetails {
  std::string code = {};                     ///< for programs, as in "signature"
  std::optional<std::uint64_t> offset = {};  ///< from where an upload goes on
};

/// An answer that says what went wrong, as JSON. Source: RFC 9457.
[[nodiscard]] HttpAnswer Problem(unsigned status, const std::string& detail, const ProblemDetails& more = {});

}  // namespace trefoil::net
