#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "dp/accounting/any_accountant.h"
#include "jobs/config/toml_reader.h"
#include "jobs/dpsgd/settings.h"

namespace trefoil::jobs {

/// Reads the tables of a job file into a DpsgdSettings, every key checked by itself; `file` names the document in
/// errors.
[[nodiscard]] DpsgdSettings ReadJobTables(const toml::table& root, const std::string& file);

/// Whether it is a type of job, and no training, whose models have a schema (ReadSchema).
[[nodiscard]] bool IsTypeWithSchema(const std::string& type);

/// The keys of a schema: version, type, name, fraction_bits, those of [data] and of [features].
[[nodiscard]] const std::vector<std::string>& SchemaKeys();

/// Reads and checks what a job of another type than a training says of its records, and of a model of them:
/// the keys of SchemaKeys, horizontal partitions without groups only. All else of the job is as by default.
/// Throws ConfigError as the readers do.
[[nodiscard]] DpsgdSettings ReadSchema(const toml::table& root, const std::string& file,
                                       int default_fraction_bits);

/// Checks what the keys of [data] say about each other. Throws ConfigError as the readers do.
void CheckDataRules(const data::DataSpec& spec, const Section& data);

/// Checks what keys say about each other. Throws ConfigError as the readers do.
void CheckJobRules(const DpsgdSettings& job, const toml::table& root, const std::string& file);

/// data.rows: the declared capacity of each party. Throws ConfigError as Section.
[[nodiscard]] std::array<std::int64_t, 3> ReadRows(const Section& section);

/// privacy.accountant of a job of another type than a training: "pld", which is exact for plain Gaussians and
/// next to it for the rest, or "rdp". Throws ConfigError as Section.
[[nodiscard]] dp::AccountantKind ReadTaskAccountant(const Section& privacy);

/// [local], of the document `root`. Throws ConfigError as Section.
[[nodiscard]] LocalSpec ReadLocal(const Section& section, const toml::table& root);

/// training.lost_steps_max where the job does not say: a tenth of the steps.
[[nodiscard]] constexpr std::int64_t DefaultLostSteps(std::int64_t steps) { return steps / 10; }

}  // namespace trefoil::jobs
