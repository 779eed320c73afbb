"""Command line, init, trust and account: exit codes, one-line errors, files and texts."""

import csv
import json
import os
import re
import stat
import subprocess
import unittest

from trefoil_program import BINARY, PATIENCE, TINY_JOB, ProgramTest

FINGERPRINT = re.compile(r"fingerprint ((?:[0-9A-F]{2}:){31}[0-9A-F]{2})")
HOSTS = "a.example.org,b.example.org,c.example.org"


class CommandLine(ProgramTest):
    def test_usage_errors_are_one_line_and_code_2(self):
        for arguments, text in [
            ((), "no command given"),
            (("chek",), "unknown command chek; did you mean check?"),
            (("init",), "init: "),
            (("init", "--party", "3", "--hosts", HOSTS, "--out", "x"), "--party"),
            (("run", "--config"), "run: "),
            (("account", "--steps", "many"), "--steps"),
            (("local", "--job", "x.toml", "--nonsense"), "--nonsense"),
            (("local", "--job", "none.toml"), "none.toml: No such file or directory"),
            (("--nonsense",), "unknown option --nonsense"),
            (("--versoin", "run"), "unknown option --versoin; did you mean --version?"),
            (("check", "--confg=x"), "check: unknown option --confg; did you mean --config?"),
            (("check", "--config", "x", "y"), "check: The following argument was not expected: y"),
            (("ledger",), "ledger: no command given, expected init, enter, declare, show, verify"),
            (("ledger", "shwo"), "ledger: unknown command shwo; did you mean show?"),
            (("ledger", "verify", "--contans", "0"), "ledger: verify: unknown option --contans; did you mean --contains?"),
            (("check", "--config", "x", "--wait", "5"), '--wait: found "5", expected a time'),
        ]:
            with self.subTest(arguments=arguments):
                self.fail_with(2, text, *arguments)

    def test_help_and_version_succeed(self):
        self.assertIn("init", self.succeed("--help"))
        self.assertIn("--hosts", self.succeed("init", "--help"))
        self.assertRegex(self.succeed("--version"), r"^trefoil \d+\.\d+\.\d+\n$")

    @unittest.skipUnless(os.path.exists("/dev/full"), "needs /dev/full")
    def test_output_that_is_lost_is_no_success(self):
        job = self.write("x.toml", TINY_JOB)
        for arguments in (("--help",), ("--version",), ("plan", "--help"), ("plan", "--job", job), ("plan", "--job", job, "--json"),
                          ("ledger", "--help")):
            with self.subTest(arguments=arguments), open("/dev/full", "w") as full:
                process = subprocess.run([BINARY, *map(str, arguments)], cwd=self.folder, stdout=full, stderr=subprocess.PIPE, text=True,
                                         timeout=60)
                self.assertEqual(process.returncode, 1)
                self.assert_one_error_line(process.stderr, "standard output: cannot be written")

    def test_a_run_goes_on_when_its_reader_has_gone(self):
        job = self.write("x.toml", TINY_JOB)
        reader, writer = os.pipe()
        os.close(reader)
        with open(writer, "w") as gone:
            process = subprocess.run([BINARY, "local", "--job", job, "--out", "out"], cwd=self.folder, stdout=gone,
                                     stderr=subprocess.PIPE, text=True, timeout=PATIENCE)
        self.assertEqual((process.returncode, process.stderr), (0, ""))
        self.assertTrue((self.folder / "out/model.npz").exists())

    def test_job_is_checked_before_data_is_looked_for(self):
        job = self.write("x.toml", TINY_JOB.replace('"digits"', '"nowhere"'))
        self.fail_with(2, "--set privacy.sigma=-1: privacy.sigma: found -1, expected a number above 0",
                       "local", "--job", job, "--set", "privacy.sigma=-1")
        self.fail_with(4, 'data "nowhere": not found in', "local", "--job", job, "--out", "out")


class Init(ProgramTest):
    def test_makes_a_party_folder(self):
        output = self.succeed("init", "--party", "1", "--hosts", HOSTS, "--out", "p")
        self.assertRegex(output, FINGERPRINT)
        self.assertEqual(stat.S_IMODE((self.folder / "p/party.key").stat().st_mode), 0o600)
        text = (self.folder / "p/party.toml").read_text()
        self.assertIn('listen = "0.0.0.0:7700"', text)
        self.assertIn('advertise = "b.example.org:7700"', text)
        self.assertIn('address = "c.example.org:7700"', text)

    def test_overwrites_nothing(self):
        self.succeed("init", "--party", "1", "--hosts", HOSTS, "--out", "p")
        key = (self.folder / "p/party.key").read_bytes()
        self.fail_with(2, "exists already", "init", "--party", "1", "--hosts", HOSTS, "--out", "p")
        (self.folder / "p/party.toml").unlink()
        self.fail_with(2, "party.key: exists already", "init", "--party", "1", "--hosts", HOSTS, "--out", "p")
        self.assertEqual((self.folder / "p/party.key").read_bytes(), key)

    def test_all_makes_three_that_know_each_other(self):
        self.succeed("init", "--all", "--hosts", "localhost,localhost,localhost", "--base-port", "9000", "--out", "d")
        for i in range(3):
            text = (self.folder / f"d/party-{i}/party.toml").read_text()
            self.assertIn(f'listen = "127.0.0.1:{9000 + i}"', text)
            for j in {0, 1, 2} - {i}:
                peer = (self.folder / f"d/party-{i}/peers/party-{j}.crt").read_text()
                self.assertEqual(peer, (self.folder / f"d/party-{j}/party.crt").read_text())

    def test_wants_three_hosts_and_one_of_party_and_all(self):
        self.fail_with(2, 'found "a,b", expected three', "init", "--all", "--hosts", "a,b", "--out", "d")
        self.fail_with(2, '--hosts: found "a:7700", expected a host name or address without a port, which --base-port says',
                       "init", "--party", "0", "--hosts", "a:7700,b,c", "--out", "d")
        self.fail_with(2, "found neither of --party and --all", "init", "--hosts", HOSTS, "--out", "d")


class Trust(ProgramTest):
    def setUp(self):
        super().setUp()
        self.fingerprints = []
        for i in range(3):
            output = self.succeed("init", "--party", str(i), "--hosts", HOSTS, "--out", f"p{i}")
            self.fingerprints.append(FINGERPRINT.search(output).group(1))

    def test_stores_the_certificate_and_shows_its_fingerprint(self):
        output = self.succeed("trust", "--config", "p0/party.toml", "--peer", "2", "p2/party.crt")
        self.assertIn(self.fingerprints[2], output)
        stored = (self.folder / "p0/peers/party-2.crt").read_text()
        self.assertEqual(stored, (self.folder / "p2/party.crt").read_text())

    def test_refuses_what_is_not_that_peers_certificate(self):
        self.succeed("trust", "--config", "p0/party.toml", "--peer", "1", "p1/party.crt")
        for peer, file, text in [
            (0, "p1/party.crt", "expected another party"),
            (2, "p0/party.crt", "own certificate"),
            (2, "p1/party.crt", "found party 1's certificate"),
            (2, "p2/party.key", "found a private key"),
            (2, "p2/party.toml", "p2/party.toml: "),
            (2, "none.crt", "none.crt: "),
        ]:
            with self.subTest(peer=peer, file=file):
                self.fail_with(2, text, "trust", "--config", "p0/party.toml", "--peer", str(peer), file)
        self.assertFalse((self.folder / "p0/peers/party-2.crt").exists())

    def test_says_what_it_replaces(self):
        self.succeed("trust", "--config", "p0/party.toml", "--peer", "1", "p1/party.crt")
        self.succeed("init", "--party", "1", "--hosts", HOSTS, "--out", "new")
        output = self.succeed("trust", "--config", "p0/party.toml", "--peer", "1", "new/party.crt")
        self.assertIn(f"in place of {self.fingerprints[1]}", output)


class Plan(ProgramTest):
    def setUp(self):
        super().setUp()
        self.job = self.write("x.toml", TINY_JOB)

    def test_json_has_both_epsilons_costs_and_the_statement(self):
        plan = json.loads(self.succeed("plan", "--job", self.job, "--json"))
        self.assertEqual(list(plan), ["job", "job_hash", "epsilon_outsider", "epsilon_insider", "epsilon_error",
                                      "delta", "accountant", "rows", "statement", "steps", "sigma", "sensitivity",
                                      "sampling_rate", "row_fraction_bits", "row_bits", "run_costs", "step_costs",
                                      "memory_bytes", "advice"])
        self.assertEqual((plan["job"], plan["steps"], plan["sigma"], plan["sampling_rate"]), ("tiny", 6, 2.0, 0.1))
        self.assertLess(plan["epsilon_outsider"], plan["epsilon_insider"])
        numbers = {entry["key"]: entry.get("number") for entry in plan["statement"]}
        self.assertEqual(numbers["epsilon_insider"], plan["epsilon_insider"])
        self.assertEqual(numbers["epsilon_outsider"], plan["epsilon_outsider"])
        rounds = {cost["form"]: cost["rounds"] for cost in plan["step_costs"]}
        self.assertLess(rounds["latency"], rounds["bulk"])

    def test_costs_bound_what_the_busiest_party_sends(self):
        # Owners of unlike capacities send unlike amounts.
        settings = [word for setting in ("data.rows=[300, 30, 30]", "training.comparison=bulk", "training.expected_batch=9")
                    for word in ("--set", setting)]
        plan = json.loads(self.succeed("plan", "--job", self.job, "--json", *settings))
        cost, = plan["step_costs"]
        self.succeed("local", "--job", self.job, "--out", "out", *settings)
        self.assertEqual(self.summary("out")["row_bits"], plan["row_bits"])
        self.assertLess(plan["row_bits"], 64)
        # A step is planned as the first one is, in which party 2 deals; every third one is like it. In any of three, one deals.
        largest, least = [], []
        for party in range(3):
            with open(self.folder / f"out/party-{party}/out/progress.csv") as file:
                sent = [int(row["bytes_sent"]) for row in csv.DictReader(file)]
            steps = [after - before for before, after in zip(sent, sent[1:])]
            largest.append(max(steps))
            least.append(min(steps))
        # Who sends most online and who sends most offline need not be the same party.
        self.assertLessEqual(max(largest[2], *least), cost["bytes_sent"] + cost["bytes_offline"])
        self.assertGreater(largest[2], max(cost["bytes_sent"], cost["bytes_offline"]))

    def test_costs_of_parties_of_many_machines_are_of_the_first_one(self):
        one, four = (json.loads(self.succeed("plan", "--job", self.job, "--json", "--ranks", ranks, "--rtt-ms", "1", "--mbit", "100"))
                     for ranks in ("1", "4"))
        self.assertNotIn("ranks", one)
        self.assertEqual(four["ranks"], 4)
        self.assertEqual(four["statement"], one["statement"])
        self.assertLess(four["step_costs"][0]["bytes_offline"], one["step_costs"][0]["bytes_offline"] / 3)
        self.assertIn("Each party has 4 machines", self.succeed("plan", "--job", self.job, "--ranks", "4"))
        self.fail_with(2, 'privacy.sampling: found "public"', "plan", "--job", self.job, "--ranks", "4", "--set",
                       "privacy.sampling=public")

    def test_warns_of_what_epsilon_does_not_cover(self):
        self.assertNotIn("warning", {e["key"] for e in json.loads(self.succeed("plan", "--job", self.job, "--json"))["statement"]})
        job = self.write("e.toml", TINY_JOB + "[evaluation]\nholder = 1\nrows = 50\nto = [0]\n")
        warnings = [e["sentence"] for e in json.loads(self.succeed("plan", "--job", job, "--json"))["statement"] if e["key"] == "warning"]
        self.assertEqual(len(warnings), 1)
        self.assertIn("party 1's test records", warnings[0])

    def test_text_says_it_in_words(self):
        text = self.succeed("plan", "--job", self.job)
        for words in ["Plan of job tiny: 6 steps, sigma 2; nothing was run.", "Epsilon, insider", "Unit of privacy",
                      "A step, latency form: 10 rounds"]:
            self.assertIn(words, text)

    def test_takes_the_jobs_accountant(self):
        epsilons = {}
        for accountant in ["rdp", "pld", "pea"]:
            plan = json.loads(self.succeed("plan", "--job", self.job, "--json", "--set", f"privacy.accountant={accountant}",
                                           "--set", "privacy.sigma=3.0"))
            self.assertEqual(plan["accountant"], accountant)
            epsilons[accountant] = plan["epsilon_insider"]
            self.assertEqual(plan["epsilon_error"] > 0, accountant == "pld")
            self.assertIn(accountant + ": ", [e["sentence"] for e in plan["statement"] if e["key"] == "accountant"][0])
        self.assertLess(epsilons["pld"], epsilons["rdp"])
        self.assertLess(epsilons["rdp"], epsilons["pea"])
        for accountant in ["rdp", "pld", "pea"]:
            plan = json.loads(self.succeed("plan", "--job", self.write("e.toml", TINY_JOB.replace("sigma = 2.0", "epsilon = 2.0")),
                                           "--json", "--set", f"privacy.accountant={accountant}"))
            self.assertLessEqual(plan["epsilon_insider"], 2.0)
            self.assertGreater(plan["epsilon_insider"], 1.99)
        self.fail_with(2, "proves nothing", "plan", "--job", self.job, "--set", "privacy.accountant=pea",
                       "--set", "privacy.sigma=0.5")

    def test_set_changes_the_job_and_is_checked(self):
        plan = json.loads(self.succeed("plan", "--job", self.job, "--json", "--set", "privacy.sigma=3.0",
                                       "--set", "training.comparison=bulk"))
        self.assertEqual(plan["sigma"], 3.0)
        self.assertEqual([cost["form"] for cost in plan["step_costs"]], ["bulk"])
        self.fail_with(2, "privacy.sigma: found -1", "plan", "--job", self.job, "--set", "privacy.sigma=-1")
        self.fail_with(2, "none.toml: No such file or directory", "plan", "--job", "none.toml")


class Account(ProgramTest):
    PLAN = ("--sampling-rate", "0.01", "--steps", "1000", "--delta", "1e-5")

    def test_json_has_the_keys_and_reference_values(self):
        output = json.loads(self.succeed("account", *self.PLAN, "--noise-multiplier", "1.0",
                                         "--rdp-orders", "1.5,2.50,16", "--json"))
        self.assertEqual(list(output),
                         ["epsilon", "delta", "noise_multiplier", "accountant", "order", "rdp_per_step", "statement"])
        self.assertEqual(set(output["rdp_per_step"]), {"1.5", "2.50", "16"})
        # By quadrature with 40 digits, outside of this project.
        for order, value in [("1.5", 0.0001272537433274498), ("2.50", 0.0002175753322818805), ("16", 3.087850783696245)]:
            self.assertAlmostEqual(output["rdp_per_step"][order] / value, 1, delta=1e-8)

    def test_basic_conversion(self):
        plan = ("account", "--sampling-rate", "0.04", "--steps", "2250", "--delta", "1e-5", "--noise-multiplier", "1.5",
                "--rdp-conversion", "basic")
        output = json.loads(self.succeed(*plan, "--json"))
        # Another program's value (accounting.json, rdp_basic).
        self.assertAlmostEqual(output["epsilon"], 8.073848, delta=8e-6)
        self.assertEqual(output["conversion"], "basic")
        self.assertIn(f"rdp, order {output['order']:g}, basic conversion", self.succeed(*plan))
        self.fail_with(2, "--rdp-conversion: found with --accountant pld", *plan, "--accountant", "pld")

    def test_json_leaves_orders_out_where_none_were_asked_for(self):
        self.assertNotIn("rdp_per_step",
                         json.loads(self.succeed("account", *self.PLAN, "--noise-multiplier", "1", "--json")))

    def test_target_epsilon_is_met_closely(self):
        output = json.loads(self.succeed("account", *self.PLAN, "--target-epsilon", "2", "--json"))
        self.assertLessEqual(output["epsilon"], 2)
        self.assertGreater(output["epsilon"], 1.99)

    def test_closed_form(self):
        output = json.loads(self.succeed("account", "--steps", "100", "--delta", "1e-5", "--noise-multiplier", "40",
                                         "--accountant", "pea", "--json"))
        self.assertAlmostEqual(output["epsilon"], 2 * (100 * 11.512925464970229) ** 0.5 / 40, places=9)
        self.assertIsNone(output["order"])

    def test_loss_distributions(self):
        # A pessimistic discretisation of width 1e-4 by another program (accounting.json, pld).
        arguments = ("account", "--sampling-rate", "0.04", "--steps", "2250", "--delta", "1e-5", "--accountant", "pld")
        output = json.loads(self.succeed(*arguments, "--noise-multiplier", "1.5", "--json"))
        self.assertAlmostEqual(output["epsilon"] / 6.768787, 1, delta=1e-3)
        self.assertGreater(output["error"], 0)
        self.assertLess(output["error"], 0.01)
        self.assertIsNone(output["order"])
        self.assertIn("at most", self.succeed(*arguments, "--noise-multiplier", "1.5"))
        target = json.loads(self.succeed(*arguments, "--target-epsilon", "2", "--json"))
        self.assertLessEqual(target["epsilon"], 2)
        self.assertGreater(target["epsilon"], 1.99)

    def test_no_noise_is_no_guarantee(self):
        arguments = ("account", *self.PLAN, "--noise-multiplier", "0")
        self.assertIn("no guarantee", self.succeed(*arguments))
        self.assertIsNone(json.loads(self.succeed(*arguments, "--json"))["epsilon"])

    def test_errors(self):
        for arguments, text in [
            ((*self.PLAN,), "found neither of --noise-multiplier and --target-epsilon"),
            ((*self.PLAN, "--noise-multiplier", "1", "--target-epsilon", "1"), "found both"),
            ((*self.PLAN, "--noise-multiplier", "nan"), "nan"),
            ((*self.PLAN, "--noise-multiplier", "1", "--accountant", "pld", "--rdp-orders", "2"), "has no orders"),
            ((*self.PLAN, "--noise-multiplier", "1", "--accountant", "moments"), "--accountant"),
            ((*self.PLAN, "--noise-multiplier", "1", "--rdp-orders", "1.5,1"), 'found "1"'),
            (("--sampling-rate", "0.1", "--noise-multiplier", "1", "--steps", "5"), "missing --delta"),
            (("--sampling-rate", "0.1", "--noise-multiplier", "1", "--steps", "5", "--delta", "1"), "found 1"),
            (("--record", "none.json", "--delta", "1e-5"), "none.json"),
        ]:
            with self.subTest(arguments=arguments):
                self.fail_with(2, text, "account", *arguments)
        self.write("bad.json", "{")
        self.fail_with(4, "bad.json: not valid JSON", "account", "--record", "bad.json", "--delta", "1e-5")
        self.write("empty.json", "{}")
        self.fail_with(4, "empty.json: ", "account", "--record", "empty.json", "--delta", "1e-5")


if __name__ == "__main__":
    unittest.main()
