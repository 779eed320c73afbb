#include "data/tables/postgres_reader.h"

#include <libpq-fe.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/blocking_call.h"
#include "base/error.h"
#include "data/formats/file.h"

namespace trefoil::data {
namespace {

constexpr const char* kOneQuery = "one SELECT, which only reads";
constexpr const char* kFetch = "FETCH FORWARD 1000 FROM trefoil";
// What the server writes is to depend on nobody's settings.
constexpr const char* kBegin =
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL datestyle = 'ISO, YMD'; "
    "SET LOCAL intervalstyle = 'iso_8601'; SET LOCAL timezone = 'UTC'; SET LOCAL extra_float_digits = 1; "
    "SET LOCAL client_min_messages = 'error'";

// Types of PostgreSQL, by numbers that never change (its pg_type.dat).
constexpr Oid kBytea = 17;
constexpr std::array<Oid, 3> kNumbers{700, 701, 1700};  // real, double precision, numeric

struct EndConnection {
  void operator()(PGconn* connection) const { PQfinish(connection); }
};
struct EndResult {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Connection = std::unique_ptr<PGconn, EndConnection>;
using Answer = std::unique_ptr<PGresult, EndResult>;

/// Notices of the server may quote data.
void Ignore(void* /*context*/, const PGresult* /*notice*/) {}

bool IsLocal(std::string_view host, std::string_view address) {
  return host.starts_with('/') || host.starts_with('@') || address.starts_with("127.") || address == "::1";
}

class PostgresReader final : public QueryReader {
 public:
  PostgresReader(const std::string& database, const std::string& query, char decimal)
      : QueryReader("PostgreSQL " + database, decimal) {
    Connect(database);
    Begin(query);
  }

 private:
  void Connect(const std::string& database);
  void Begin(const std::string& query);
  void Fetch();
  std::vector<std::string> Names() override;
  bool Read() override;
  void Expect(const Answer& answer, ExecStatusType status, const std::string& where,
              const std::string& expected) const;

  Connection connection_;
  Answer records_;
  int next_ = 0;  ///< of records_
};

void PostgresReader::Connect(const std::string& database) {
  const BlockingCall call("asking", path());
  // The first may be keyword=value pairs, which the second does not leave to them.
  const std::array<const char*, 3> keywords{"dbname", "client_encoding", nullptr};
  const std::array<const char*, 3> values{database.c_str(), "UTF8", nullptr};
  connection_.reset(PQconnectdbParams(keywords.data(), values.data(), 1));
  auto* connection = connection_.get();
  if (PQstatus(connection) != CONNECTION_OK)
    ThrowDataError(path(), "", PQerrorMessage(connection), "a database that can be reached");
  const char* host = PQhost(connection);
  const char* address = PQhostaddr(connection);
  const bool encrypted = PQsslInUse(connection) != 0 || PQgssEncInUse(connection) != 0;
  if (!encrypted && !IsLocal(host == nullptr ? "" : host, address == nullptr ? "" : address))
    ThrowDataError(path(), "", "a connection over a network without encryption",
                   "sslmode=verify-full in the service file, or PGSSLMODE");
  PQsetNoticeReceiver(connection, Ignore, nullptr);
}

void PostgresReader::Expect(const Answer& answer, ExecStatusType status, const std::string& where,
                            const std::string& expected) const {
  if (PQresultStatus(answer.get()) == status) return;
  // The first line alone: what follows quotes the query.
  const char* message = PQresultErrorField(answer.get(), PG_DIAG_MESSAGE_PRIMARY);
  ThrowDataError(path(), where, message == nullptr ? PQerrorMessage(connection_.get()) : message, expected);
}

void PostgresReader::Begin(const std::string& query) {
  if (query.find('\0') != std::string::npos) ThrowDataError(path(), "query", "a byte 0", kOneQuery);
  const BlockingCall call("asking", path());
  Expect(Answer(PQexec(connection_.get(), kBegin)), PGRES_COMMAND_OK, "", "a transaction that only reads");
  // With parameters, of which there are none, the server takes one statement alone; and a cursor's is one that reads.
  const auto declare = "DECLARE trefoil NO SCROLL CURSOR FOR " + query;
  Expect(Answer(PQexecParams(connection_.get(), declare.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 0)),
         PGRES_COMMAND_OK, "query", kOneQuery);
  Fetch();
  if (PQnfields(records_.get()) == 0) ThrowDataError(path(), "query", "no columns", kOneQuery);
}

void PostgresReader::Fetch() {
  const BlockingCall call("asking", path());
  records_.reset(PQexec(connection_.get(), kFetch));
  next_ = 0;
  Expect(records_, PGRES_TUPLES_OK, "query", "records");
}

std::vector<std::string> PostgresReader::Names() {
  std::vector<std::string> names;
  for (int k = 0; k < PQnfields(records_.get()); ++k) names.emplace_back(PQfname(records_.get(), k));
  return names;
}

bool PostgresReader::Read() {
  if (next_ == PQntuples(records_.get())) Fetch();
  if (next_ == PQntuples(records_.get())) return false;
  for (std::size_t column = 0; column < columns(); ++column) {
    const int at = static_cast<int>(column);
    const auto type = PQftype(records_.get(), at);
    if (type == kBytea) RefuseBytes(column);
    if (PQgetisnull(records_.get(), next_, at) != 0) {
      SetNull(column);
      continue;
    }
    const auto length = static_cast<std::size_t>(PQgetlength(records_.get(), next_, at));
    std::string text(PQgetvalue(records_.get(), next_, at), length);
    if (std::find(kNumbers.begin(), kNumbers.end(), type) != kNumbers.end()) {
      SetNumber(column, std::move(text));
    } else {
      SetText(column, std::move(text));
    }
  }
  ++next_;
  return true;
}

}  // namespace

bool HasPostgres() { return true; }

std::unique_ptr<QueryReader> OpenPostgres(const std::string& database, const std::string& query,
                                          char decimal) {
  if (MayHoldPassword(database))
    throw ConfigError(
        "PostgreSQL: found what may be a password, expected none: libpq takes it from PGPASSFILE");
  return std::make_unique<PostgresReader>(database, query, decimal);
}

}  // namespace trefoil::data
