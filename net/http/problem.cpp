#include "net/http/problem.h"

#include <nlohmann/json.hpp>

namespace trefoil::net {
namespace {

// What goes with "about:blank". Sources: RFC 9110, section 15; RFC 6585, section 4 (429); RFC 4918, section
// 11.5 (507).
const char* TitleOf(unsigned status) {
  switch (status) {
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 411:
      return "Length Required";
    case 413:
      return "Content Too Large";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 503:
      return "Service Unavailable";
    case 507:
      return "Insufficient Storage";
    default:
      return "Internal Server Error";
  }
}

}  // namespace

HttpAnswer Problem(unsigned status, const std::string& detail, const ProblemDetails& more) {
  nlohmann::json json{
      {"type", "about:blank"}, {"title", TitleOf(status)}, {"status", status}, {"detail", detail}};
  if (!more.code.empty()) json["code"] = more.code;
  if (more.offset) json["offset"] = *more.offset;
  // What is not UTF-8 in `detail` is replaced.
  return {.status = status,
          .body = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n",
          .type = "application/problem+json"};
}

}  // namespace trefoil::net
