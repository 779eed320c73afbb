#pragma once
#include <memory>
#include <string>

#include "data/tables/query_reader.h"

namespace trefoil::data {

/// Whether this program can read PostgreSQL databases: it was built with libpq.
[[nodiscard]] bool HasPostgres();

/// Reads the records that a query gives of a PostgreSQL database. `database`: its name, or libpq's
/// `keyword=value` pairs without a password, such as `service=clinic`; all else, passwords above all, libpq
/// takes from its environment variables, its service file and its password file (PGSERVICE, PGPASSFILE and
/// others). Everything is read in one read-only transaction, of one state of the database, through a cursor,
/// which takes one SELECT and nothing else. Cells are the texts that PostgreSQL writes: numbers with the
/// fewest digits that give the same value and with `decimal` before the decimals, dates as ISO 8601, booleans
/// as t and f. Memory: that of a thousand records. Where libpq's environment or files say nothing else, it
/// waits 30 s for a connection, and the server may take ten minutes for an answer (statement_timeout) and be
/// silent for one more (tcp_user_timeout). Throws ConfigError where the program was built without libpq, or
/// `database` may hold a password; DataError, naming the database and not the query, where it cannot be
/// reached, is on a network without sslmode verify-full or verify-ca (before anything is sent), does not
/// answer in time or by a COPY, or refuses the query: with its message where that speaks of the query, else
/// its SQLSTATE.
[[nodiscard]] std::unique_ptr<QueryReader> OpenPostgres(const std::string& database, const std::string& query,
                                                        char decimal);

}  // namespace trefoil::data
