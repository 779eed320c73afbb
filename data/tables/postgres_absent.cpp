#include "base/error.h"
#include "data/tables/postgres_reader.h"

namespace trefoil::data {

bool HasPostgres() { return false; }

std::unique_ptr<QueryReader> OpenPostgres(const std::string& /*database*/, const std::string& /*query*/,
                                          char /*decimal*/) {
  throw ConfigError(
      "found a PostgreSQL database, expected files: this program was built without libpq (scripts/setup "
      "--postgres "
      "before the build)");
}

}  // namespace trefoil::data
