#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "data/dataset/load.h"
#include "data/dataset/spec.h"

namespace trefoil::jobs {

/// The files that an option names for data of this spec: two, features and labels (idx, npy), one (npz,
/// cifar; of images a folder), or those of one table (csv). Where labels are ignored those of the first
/// kind may be left out. Throws ConfigError for another number.
[[nodiscard]] data::DataFiles NamedFiles(std::string_view option, const std::vector<std::string>& paths,
                                         const data::DataSpec& spec,
                                         data::LabelUse labels = data::LabelUse::kRead);

/// The table that a query (--query) gives of the database that an option names: an SQLite file, or
/// `postgres:` and what names a PostgreSQL database (data/tables/postgres_reader.h). Throws DataError for a
/// file that is not there.
[[nodiscard]] data::DataFiles NamedQuery(const std::string& database, const std::string& query);

/// What --data names: a folder, that is its test files, or, of images without such, itself; or files as
/// above; with a query the one database that it asks. Throws DataError for what is not there, and for a
/// folder of images that has, beside `test`, an image, or a folder that may be a class: any but `train`,
/// `validation` and `queries`, and these, too, where label values of the spec are called so; ConfigError as
/// NamedFiles().
[[nodiscard]] data::DataFiles NamedTestData(const std::vector<std::string>& paths, const data::DataSpec& spec,
                                            data::LabelUse labels = data::LabelUse::kRead,
                                            const std::string& query = {});

}  // namespace trefoil::jobs
