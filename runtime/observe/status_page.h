#pragma once
#include <string>

#include "net/http/http_endpoint.h"

namespace trefoil::runtime {

/// The page on which people watch a run: one file, which asks for /status.json every second and for nothing
/// else, and shows what that says as text, never as markup.
[[nodiscard]] net::HttpAnswer StatusPage();

/// /status.json with this content.
[[nodiscard]] net::HttpAnswer StatusAnswer(std::string json);

}  // namespace trefoil::runtime
