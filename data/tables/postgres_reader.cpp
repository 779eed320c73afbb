#include "data/tables/postgres_reader.h"

#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/threads/blocking_call.h"
#include "data/formats/file.h"

namespace trefoil::data {
namespace {

constexpr const char* kOneQuery = "one SELECT, which only reads";
constexpr std::string_view kCancelled = "57014";
constexpr int kRecordsOfAFetch = 1000;
constexpr const char* kFetch = "FETCH FORWARD 1000 FROM trefoil";
// What the server writes is to depend on nobody's settings.
constexpr const char* kBegin =
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL datestyle = 'ISO, YMD'; "
    "SET LOCAL intervalstyle = 'iso_8601'; SET LOCAL timezone = 'UTC'; SET LOCAL extra_float_digits = 1; "
    "SET LOCAL client_min_messages = 'error'";
// A query has an end, which PGOPTIONS, a service file or the user's role may set. Milliseconds.
constexpr const char* kLimit =
    "SELECT CASE setting WHEN '0' THEN '600000' ELSE setting END, pg_catalog.set_config(name, "
    "CASE setting WHEN '0' THEN '600000' ELSE setting END, true) "
    "FROM pg_catalog.pg_settings WHERE name = 'statement_timeout'";
// What libpq takes where nobody says otherwise: seconds, and milliseconds.
constexpr const char* kConnectTimeout = "30";
constexpr const char* kSilence = "60000";

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
using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

/// Notices of the server may quote data.
void Ignore(void* /*context*/, const PGresult* /*notice*/) {}

/// Of one host, or of several with commas between them.
bool IsLocal(const std::string& hosts) {
  for (std::size_t begin = 0; begin <= hosts.size();) {
    const auto end = std::min(hosts.find(',', begin), hosts.size());
    const auto host = std::string_view(hosts).substr(begin, end - begin);
    const bool local = host.empty() || host.starts_with('/') || host.starts_with('@') ||
                       host == "localhost" || host.starts_with("127.") || host == "::1";
    if (!local) return false;
    begin = end + 1;
  }
  return true;
}

/// What libpq makes of its parameters, files and environment, before anything is sent to the server.
std::string OptionOf(PGconn* connection, std::string_view keyword) {
  const std::unique_ptr<PQconninfoOption, void (*)(PQconninfoOption*)> options(PQconninfo(connection),
                                                                               PQconninfoFree);
  for (const auto* option = options.get(); option != nullptr && option->keyword != nullptr; ++option)
    if (keyword == option->keyword && option->val != nullptr) return option->val;
  return "";
}

std::string OptionOr(PGconn* connection, std::string_view keyword, const char* otherwise) {
  auto option = OptionOf(connection, keyword);
  return option.empty() || option == "0" ? otherwise : option;
}

/// What a number above 0 says; else a minute.
Milliseconds ParseMilliseconds(std::string_view text) {
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return Milliseconds(read.ec == std::errc() && number > 0 ? number : 60'000);
}

/// Messages of these classes of errors (not supported, transaction, syntax) speak of the query; others may
/// quote cells.
bool MayBeQuoted(std::string_view state) {
  return state.starts_with("0A") || state.starts_with("25") || state.starts_with("42");
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
  void Limit();
  void Fetch();
  void Take();
  [[nodiscard]] Answer NextAnswer();
  [[nodiscard]] Answer Ask(const char* command) { return Wait(PQsendQuery(connection_.get(), command)); }
  [[nodiscard]] Answer Wait(int sent);
  void AwaitInput(Clock::time_point end);
  std::vector<std::string> Names() override;
  bool Read() override;
  void Expect(const Answer& answer, ExecStatusType status, const std::string& where,
              const std::string& expected) const;

  Connection connection_;
  Milliseconds limit_{0};  ///< for one answer
  Answer record_;          ///< one record, or none behind a fetch's last one
  bool fresh_ = false;     ///< whether Read() has yet to give it
  int fetched_ = 0;        ///< records of this fetch so far
};

void PostgresReader::Connect(const std::string& database) {
  const BlockingCall call("asking", path());
  // The first may be keyword=value pairs, which the second does not leave to them.
  const std::array<const char*, 3> keywords{"dbname", "client_encoding", nullptr};
  const std::array<const char*, 3> values{database.c_str(), "UTF8", nullptr};
  const Connection begun(PQconnectStartParams(keywords.data(), values.data(), 1));
  const auto mode = OptionOf(begun.get(), "sslmode");
  const bool local = IsLocal(OptionOf(begun.get(), "host")) && IsLocal(OptionOf(begun.get(), "hostaddr"));
  // A password must not reach who only says that it is the server, nor the records anybody between.
  if (!local && mode != "verify-full" && mode != "verify-ca")
    ThrowDataError(path(), "", "a host of a network with sslmode=" + mode,
                   "sslmode=verify-full in the service file, or PGSSLMODE");
  const auto connect = OptionOr(begun.get(), "connect_timeout", kConnectTimeout);
  const auto silence = OptionOr(begun.get(), "tcp_user_timeout", kSilence);
  limit_ = ParseMilliseconds(silence);
  const std::array<const char*, 5> all_keywords{"dbname", "client_encoding", "connect_timeout",
                                                "tcp_user_timeout", nullptr};
  const std::array<const char*, 5> all_values{database.c_str(), "UTF8", connect.c_str(), silence.c_str(),
                                              nullptr};
  connection_.reset(PQconnectdbParams(all_keywords.data(), all_values.data(), 1));
  auto* connection = connection_.get();
  if (PQstatus(connection) != CONNECTION_OK)
    ThrowDataError(path(), "", PQerrorMessage(connection), "a database that can be reached");
  PQsetNoticeReceiver(connection, Ignore, nullptr);
}

void PostgresReader::Expect(const Answer& answer, ExecStatusType status, const std::string& where,
                            const std::string& expected) const {
  if (PQresultStatus(answer.get()) == status) return;
  const char* state = PQresultErrorField(answer.get(), PG_DIAG_SQLSTATE);
  if (state == nullptr) ThrowDataError(path(), where, PQerrorMessage(connection_.get()), expected);
  // The first line alone: what follows quotes the query.
  const char* message = PQresultErrorField(answer.get(), PG_DIAG_MESSAGE_PRIMARY);
  const bool quoted = message != nullptr && MayBeQuoted(state);
  if (state == kCancelled)
    ThrowDataError(path(), where, "that the server cancelled it, as it does after statement_timeout",
                   "a query that takes less time, or a longer one in PGOPTIONS or the service file");
  ThrowDataError(path(), where, quoted ? std::string(message) : "an error of SQLSTATE " + std::string(state),
                 expected);
}

/// A server that hangs may still acknowledge what it is sent: who asks it looks at the clock, too.
void PostgresReader::AwaitInput(Clock::time_point end) {
  const auto left = std::chrono::duration_cast<Milliseconds>(end - Clock::now());
  if (left.count() <= 0)
    ThrowDataError(path(), "",
                   "no answer within " + NumberText(static_cast<double>(limit_.count()) / 1000) + " s",
                   "one in the time of statement_timeout and tcp_user_timeout (PGOPTIONS, the service file)");
  pollfd socket{.fd = PQsocket(connection_.get()), .events = POLLIN, .revents = 0};
  constexpr Milliseconds kTurn{60'000};
  const int ready = poll(&socket, 1, static_cast<int>(std::min(left, kTurn).count()));
  if (ready < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), "poll");
  if (ready > 0 && PQconsumeInput(connection_.get()) == 0)
    ThrowDataError(path(), "", PQerrorMessage(connection_.get()), "an answer");
}

/// Whether the server wants bytes of a COPY, or to bring some: libpq would then give the same result for
/// ever.
bool IsCopy(const Answer& answer) {
  const auto status = PQresultStatus(answer.get());
  return status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH;
}

/// The next result of what was sent; empty behind the last one.
Answer PostgresReader::NextAnswer() {
  const auto end = Clock::now() + limit_;
  while (PQisBusy(connection_.get()) != 0) AwaitInput(end);
  Answer next(PQgetResult(connection_.get()));
  if (next && IsCopy(next))
    ThrowDataError(path(), "", "a server that answers by a COPY", "one that gives records");
  return next;
}

/// The last result of what was sent, as PQexec gives it.
Answer PostgresReader::Wait(int sent) {
  Answer last;
  while (sent == 1) {
    auto next = NextAnswer();
    if (!next) break;
    last = std::move(next);
  }
  return last;
}

/// How long the server may take for a statement, and so who asks it for an answer.
void PostgresReader::Limit() {
  const auto answer = Ask(kLimit);
  Expect(answer, PGRES_TUPLES_OK, "", "a limit to the time of a query");
  if (PQntuples(answer.get()) == 1) limit_ += ParseMilliseconds(PQgetvalue(answer.get(), 0, 0));
}

void PostgresReader::Begin(const std::string& query) {
  if (query.find('\0') != std::string::npos) ThrowDataError(path(), "query", "a byte 0", kOneQuery);
  const BlockingCall call("asking", path());
  Expect(Ask(kBegin), PGRES_COMMAND_OK, "", "a transaction that only reads");
  Limit();
  // With parameters, of which there are none, the server takes one statement alone; and a cursor's is one
  // that reads.
  const auto declare = "DECLARE trefoil NO SCROLL CURSOR FOR " + query;
  const int sent =
      PQsendQueryParams(connection_.get(), declare.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 0);
  Expect(Wait(sent), PGRES_COMMAND_OK, "query", kOneQuery);
  Fetch();
  if (PQnfields(record_.get()) == 0) ThrowDataError(path(), "query", "no columns", kOneQuery);
}

/// Asks for more records, which come one by one: a thousand large ones would not fit in memory.
void PostgresReader::Fetch() {
  const BlockingCall call("asking", path());
  fetched_ = 0;
  if (PQsendQuery(connection_.get(), kFetch) == 1) (void)PQsetSingleRowMode(connection_.get());
  Take();
}

/// The next record of the fetch.
void PostgresReader::Take() {
  const BlockingCall call("asking", path());
  record_ = NextAnswer();
  fresh_ = true;
  if (PQresultStatus(record_.get()) == PGRES_SINGLE_TUPLE) {
    ++fetched_;
    return;
  }
  Expect(record_, PGRES_TUPLES_OK, "query", "records");
  if (const auto rest = NextAnswer()) Expect(rest, PGRES_TUPLES_OK, "query", "no more than records");
}

std::vector<std::string> PostgresReader::Names() {
  std::vector<std::string> names;
  for (int k = 0; k < PQnfields(record_.get()); ++k) names.emplace_back(PQfname(record_.get(), k));
  return names;
}

bool PostgresReader::Read() {
  if (!fresh_) Take();
  if (PQntuples(record_.get()) == 0 && fetched_ >= kRecordsOfAFetch) Fetch();
  fresh_ = false;
  if (PQntuples(record_.get()) == 0) return false;
  for (std::size_t column = 0; column < columns(); ++column) {
    const int at = static_cast<int>(column);
    const auto type = PQftype(record_.get(), at);
    if (type == kBytea) RefuseBytes(column);
    if (PQgetisnull(record_.get(), 0, at) != 0) {
      SetNull(column);
      continue;
    }
    const auto length = static_cast<std::size_t>(PQgetlength(record_.get(), 0, at));
    std::string text(PQgetvalue(record_.get(), 0, at), length);
    if (std::find(kNumbers.begin(), kNumbers.end(), type) != kNumbers.end()) {
      SetNumber(column, std::move(text));
    } else {
      SetText(column, std::move(text));
    }
  }
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
