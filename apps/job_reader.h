#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/job.h"
#include "apps/toml_reader.h"

namespace trefoil::apps {

/// Reads the tables of a job file into a Job, every key checked by itself; `file` names the document in
/// errors.
[[nodiscard]] Job ReadJobTables(const toml::table& root, const std::string& file);

/// Checks what keys say about each other. Throws ConfigError as the readers do.
void CheckJobRules(const Job& job, const toml::table& root, const std::string& file);

/// data.rows: the declared capacity of each party. Throws ConfigError as Section.
[[nodiscard]] std::array<std::int64_t, 3> ReadRows(const Section& section);

/// [local], of the document `root`. Throws ConfigError as Section.
[[nodiscard]] LocalSpec ReadLocal(const Section& section, const toml::table& root);

}  // namespace trefoil::apps
