"""Tables from PostgreSQL. Needs a program with libpq and a server to start (scripts/setup --postgres); else it is skipped."""

import contextlib
import csv
import glob
import os
import pathlib
import pwd
import re
import resource
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import tomllib
import unittest

from evaluate_test import JOB
from trefoil_program import BINARY, PATIENCE, ProgramTest, free_base_port, prepared

PASSWORD = "hunter2-is-no-password"
SKIPPED = 77


def server_programs():
    """The folder of the newest server that is installed, or nothing."""
    found = [path for path in glob.glob("/usr/lib/postgresql/*/bin") if os.path.exists(path + "/initdb")]
    return max(found, key=lambda path: float(path.split("/")[-2]), default=None)


def has_libpq():
    """Whether the program was built with it."""
    return "libpq." in subprocess.run(["ldd", BINARY], capture_output=True, text=True).stdout


class Server:
    """A server of its own, in a folder that goes with it. It will not run as root, so that postgres does then."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="trefoil-pg-"))
        self.bin = server_programs()
        self.port = free_base_port()
        self.user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        if self.user:
            os.chown(self.folder, pwd.getpwnam("postgres").pw_uid, -1)
            os.chmod(self.folder, 0o755)
        (self.folder / "word").write_text(PASSWORD)
        data = self.folder / "data"
        self.do("initdb", "-D", data, "--no-sync", "-U", "owner", "--auth-local=trust", "--auth-host=scram-sha-256",
                f"--pwfile={self.folder}/word")
        options = f"-k {self.folder} -p {self.port} -c listen_addresses=* -c fsync=off"
        self.do("pg_ctl", "-D", data, "-w", "-l", self.folder / "log", "-o", options, "start")

    def do(self, program, *arguments):
        subprocess.run([*self.user, f"{self.bin}/{program}", *map(str, arguments)], cwd="/", check=True, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def sql(self, text):
        return subprocess.run(["psql", "-h", self.folder, "-p", str(self.port), "-U", "owner", "-v", "ON_ERROR_STOP=1", "-At", "-d",
                               "postgres", "-c", text], check=True, capture_output=True, text=True).stdout.strip()

    def stop(self):
        self.do("pg_ctl", "-D", self.folder / "data", "-m", "immediate", "stop")
        shutil.rmtree(self.folder)


def hang(listener, answer=b""):
    """Takes every connection as a server does, and no query; to each it says the same, or nothing."""
    def take(connection):
        with connection, contextlib.suppress(ConnectionError):
            if connection.recv(1024):
                connection.sendall(b"R" + struct.pack(">ii", 8, 0) + b"Z" + struct.pack(">i", 5) + b"I")
                while connection.recv(1024):  # until the other side has had enough
                    connection.sendall(answer)

    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=take, args=(connection,), daemon=True).start()


class Postgres(ProgramTest):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.addClassCleanup(cls.server.stop)

    def setUp(self):
        super().setUp()
        self.job = self.write("job.toml", JOB)
        rows = [f"{k % 7 / 10},{k % 5 / 10},{'ill' if k % 3 else 'well'}\n" for k in range(90)]
        (self.folder / "data").mkdir()
        for name, part in (("train", rows[:60]), ("test", rows[60:])):
            self.write(f"data/{name}.csv", "a,b,state\n" + "".join(part))
        host = f"host=127.0.0.1\nport={self.server.port}\nuser=owner\ndbname=postgres\n"
        self.service = self.write("service.conf", f"[clinic]\n{host}")
        self.passes = self.write("pass", f"*:*:*:*:{PASSWORD}\n")
        self.passes.chmod(0o600)
        self.environment = {"PGSERVICEFILE": str(self.service), "PGPASSFILE": str(self.passes)}

    def store(self, source):
        """The rows of a CSV file in the database, and the query that gives them."""
        with open(source) as file:
            rows = list(csv.reader(file))[1:]
        values = ", ".join(f"({k}, {a}, {b}, '{state}')" for k, (a, b, state) in enumerate(rows))
        self.server.sql("DROP TABLE IF EXISTS visits; CREATE TABLE visits (id int, a real, b numeric, state text); "
                        f"INSERT INTO visits VALUES {values}")
        return "SELECT state, b, a FROM visits ORDER BY id"

    def prepare(self):
        self.succeed("local", "--job", self.job, "--data", "data", "--out", "d", *prepared())
        party = self.folder / "d/party-0"
        self.text = re.sub(r"(?m)^\[data\]\n(?:\w.*\n)*", "", (party / "party.toml").read_text())
        return party

    def name(self, party, query, database="service=clinic"):
        query = query.replace('"', '\\"')
        (party / "party.toml").write_text(f'{self.text}\n[data]\npostgres = "{database}"\nquery = "{query}"\n'
                                          '[ledger]\nfile = "ledger.jsonl"\nepsilon_cap = 100.0\ndelta = 1e-5\n')

    def check(self, party):
        result = self.run_program("check", "--config", party / "party.toml", "--job", self.job, "--wait", "50ms",
                                  environment=self.environment)
        self.assertNotIn(PASSWORD, result.stdout + result.stderr)
        return result.stdout

    def test_a_query_gives_a_table_to_a_run_and_to_a_prediction(self):
        party = self.prepare()
        self.name(party, self.store(party / "data/train.csv"))
        parties = [self.start_program("run", "--config", f"d/party-{i}/party.toml", "--job", self.job, "--out", f"r{i}",
                                      environment=self.environment) for i in range(3)]
        told = [process.communicate(timeout=PATIENCE) for process in parties]
        self.assertEqual([process.returncode for process in parties], [0, 0, 0], told)
        files = [path.read_bytes() for i in range(3) for path in (self.folder / f"r{i}").rglob("*") if path.is_file()]
        for text in [str(told).encode(), (party / "ledger.jsonl").read_bytes(), *files]:
            for secret in (b"visits", b"clinic", PASSWORD.encode()):
                self.assertNotIn(secret, text)
        # The ledger knows what the query gives.
        self.assertRegex(self.check(party), r"(?m)^pass  ledger: ")
        self.server.sql("UPDATE visits SET a = 0.25 WHERE id = 3")
        self.assertRegex(self.check(party), r"(?m)^fail  ledger: ")

        test = self.folder / "data/test.csv"
        query = self.store(test)
        for command in ("evaluate", "predict"):
            self.assertEqual(self.succeed(command, "--model", "r0/model.npz", "--data", "postgres:service=clinic", "--query", query,
                                          environment=self.environment),
                             self.succeed(command, "--model", "r0/model.npz", "--data", test))

    def test_a_query_drafts_a_job_as_its_rows_in_a_file_do(self):
        rows = self.folder / "data/train.csv"
        query = self.store(rows).replace("state, b, a", "a, b, state")
        drafted = [self.folder / name for name in ("of_query.toml", "of_file.toml")]
        told = self.succeed("init-job", "postgres:service=clinic", "--query", query, "--out", drafted[0], "--yes",
                            environment=self.environment)
        self.succeed("init-job", rows, "--out", drafted[1], "--yes")
        of_query, of_file = (tomllib.loads(path.read_text()) for path in drafted)
        for job in (of_query, of_file):
            self.assertEqual(job.pop("name"), job["data"].pop("name"))
        self.assertEqual(of_query, of_file)
        for text in (told, *(path.read_text() for path in self.folder.glob("of_query*"))):
            for secret in ("visits", PASSWORD):
                self.assertNotIn(secret, text)

    def test_reads_and_does_nothing_else(self):
        party = self.prepare()
        query = self.store(party / "data/train.csv")
        self.server.sql("CREATE OR REPLACE FUNCTION note() RETURNS int LANGUAGE sql AS 'INSERT INTO visits VALUES (99) RETURNING 1'; "
                        "CREATE SEQUENCE IF NOT EXISTS counter")
        for attempt, cause in (("DELETE FROM visits", "query: found syntax error"),
                               (query + "; DELETE FROM visits", "query: found cannot insert multiple commands"),
                               ("WITH gone AS (DELETE FROM visits RETURNING *) SELECT * FROM gone", "data-modifying statements in WITH"),
                               ("SELECT note()", "read-only transaction"),
                               ("SELECT nextval('counter')", "read-only transaction"),
                               ("SELECT set_config('transaction_read_only', 'off', true), note()", "must be set before any query"),
                               ("SELECT * FROM visits FOR UPDATE", "read-only transaction"),
                               ("SELECT * INTO copy FROM visits", "SELECT ... INTO is not allowed"),
                               ("COMMIT", "query: found syntax error"),
                               ("SELECT no FROM visits", "query: found column"),
                               ("SELECT", "query: found no columns"),
                               ("SELECT a, b, state::bytea AS state FROM visits", "found a blob"),
                               ("SELECT a, 1 / (id - 5) AS b, state FROM visits", "query: found an error of SQLSTATE 22012")):
            with self.subTest(attempt=attempt):
                self.name(party, attempt)
                failed = [line for line in self.check(party).splitlines() if line.startswith("fail  data: ")]
                self.assertEqual(len(failed), 1)
                self.assertIn("PostgreSQL service=clinic: ", failed[0])
                self.assertIn(cause, failed[0])
        self.assertEqual(self.server.sql("SELECT count(*), min(nextval('counter')) FROM visits WHERE id < 99"), "20|1")
        self.name(party, query + "; -- as ever")
        self.assertRegex(self.check(party), r"(?m)^pass  data: 20 rows")

    def test_takes_credentials_from_files_alone(self):
        party = self.prepare()
        query = self.store(party / "data/train.csv")
        for database in (f"service=clinic password={PASSWORD}", f"postgresql://owner:{PASSWORD}@127.0.0.1/postgres"):
            self.name(party, query, database)
            result = self.run_program("check", "--config", party / "party.toml", "--job", self.job, "--wait", "50ms")
            self.assertNotIn(PASSWORD, result.stdout + result.stderr)
            self.assertIn("data.postgres: found what may be a password", result.stdout + result.stderr)
        self.name(party, query)
        self.passes.write_text("*:*:*:*:another\n")
        self.assertIn("password authentication failed", self.check(party))
        self.passes.write_text(f"*:*:*:*:{PASSWORD}\n")
        (party / "party.toml").write_text(self.text + f'\n[data]\npostgres = "service=clinic"\n')
        self.assertIn("missing data.query", self.check(party))
        (party / "party.toml").write_text(self.text + f'\n[data]\npostgres = "service=clinic"\nsqlite = "a.db"\nquery = "SELECT 1"\n')
        self.assertIn("data.postgres is given too, expected only one of them", self.check(party))

    def test_does_not_wait_for_ever(self):
        party = self.prepare()
        self.store(party / "data/train.csv")
        # Where nobody sets a limit, the server has one.
        limited = "SELECT CASE current_setting('statement_timeout') WHEN '{}' THEN state END AS state, b, a FROM visits ORDER BY id"
        self.name(party, limited.format("10min"))
        self.assertRegex(self.check(party), r"(?m)^pass  data: 20 rows")
        self.environment["PGOPTIONS"] = "-c statement_timeout=300"
        self.name(party, limited.format("300ms"))
        self.assertRegex(self.check(party), r"(?m)^pass  data: 20 rows")
        self.name(party, "SELECT pg_sleep(20), state, b, a FROM visits")
        self.assertIn("found that the server cancelled it", self.check(party))

    def test_holds_one_record_at_a_time(self):
        party = self.prepare()
        self.name(party, "SELECT repeat('x', 4000000) AS a, b, state FROM visits, generate_series(1, 100)")
        self.assertRegex(self.check(party), r"(?m)^fail  data: ")
        most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss  # in KiB
        self.assertLess(most, 2 << 20, "a thousand records are 4 GB")

    def test_knows_a_server_that_takes_a_query_and_does_not_answer(self):
        party = self.prepare()
        with socket.create_server(("127.0.0.1", 0)) as listener:
            threading.Thread(target=hang, args=(listener,), daemon=True).start()
            database = f"host=127.0.0.1 port={listener.getsockname()[1]} dbname=a user=b sslmode=disable gssencmode=disable"
            self.name(party, "SELECT 1", f"{database} tcp_user_timeout=300")
            self.assertIn("found no answer within 0.3 s, expected one in the time of statement_timeout", self.check(party))

    def test_knows_a_server_that_answers_by_a_copy(self):
        party = self.prepare()
        for kind in (b"G", b"H", b"W"):  # in, out, both
            with self.subTest(kind=kind), socket.create_server(("127.0.0.1", 0)) as listener:
                copy = kind + struct.pack(">ibhh", 9, 0, 1, 0)  # of one column, as text
                threading.Thread(target=hang, args=(listener, copy), daemon=True).start()
                self.name(party, "SELECT 1",
                          f"host=127.0.0.1 port={listener.getsockname()[1]} dbname=a user=b sslmode=disable gssencmode=disable")
                self.assertIn("found a server that answers by a COPY, expected one that gives records", self.check(party))

    def test_refuses_a_network_without_a_known_server(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.connect(("192.0.2.1", 9))  # sends nothing
                address = probe.getsockname()[0]
            except OSError:
                self.skipTest("this machine has no network")
        with open(self.server.folder / "data/pg_hba.conf", "a") as file:
            file.write(f"host all all {address}/32 scram-sha-256\n")
        self.server.sql("SELECT pg_reload_conf()")
        self.service.write_text(self.service.read_text().replace("127.0.0.1", address))
        party = self.prepare()
        query = self.store(party / "data/train.csv")
        self.name(party, query)
        self.assertIn("found a host of a network with sslmode=prefer, expected sslmode=verify-full", self.check(party))


if __name__ == "__main__":
    for missing, why in ((server_programs() is None, "no PostgreSQL server is installed"),
                         (not has_libpq(), "the program was built without libpq")):
        if missing:
            print(f"skipped: {why}: scripts/setup --postgres")
            sys.exit(SKIPPED)
    unittest.main()
