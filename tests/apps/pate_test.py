"""PATE as three party processes over TLS: winners against plain votes, and every documented outcome."""

import csv
import json
import math
import random
import statistics
import unittest

from trefoil_program import PATIENCE, ProgramTest, prepared
from account_votes_test import npy

JOB = """
version = 1
type = "pate"
name = "votes"
[pate]
teachers = [4, 0, 3]
queries = 40
classes = 3
[privacy]
delta = 1e-5
"""
LNMAX = ("--set", "pate.mechanism=lnmax", "--set", "pate.scale=0.01")
GNMAX = ("--set", "pate.mechanism=gnmax", "--set", "pate.sigma=0.05")


class Pate(ProgramTest):
    """Noise of a scale of 0.01 is zero but for some e^-100; normal noise of 0.05 votes turns half a vote with probability
    below 1e-15."""

    def setUp(self):
        super().setUp()
        self.write("job.toml", JOB)
        (self.folder / "votes").mkdir()
        self.random = random.Random(7)
        self.write_votes([[self.random.randrange(3) for _ in range(40)] for _ in range(7)])

    def write_votes(self, labels):
        self.labels = labels
        (self.folder / "votes/predictions.npy").write_bytes(npy(labels))
        self.write("votes/queries.csv", "".join(f"{k}\n" for k in range(len(labels[0]))))

    def local(self, *settings, out="run"):
        return self.succeed("local", "--job", "job.toml", "--data", "votes", "--out", out, *settings)

    def answers(self, out="run"):
        with open(self.folder / out / "answers.csv") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([int(row["query"]) for row in rows], list(range(1, len(self.labels[0]) + 1)))
        return [(int(row["label"]) if row["label"] else None, row["source"]) for row in rows]

    def counts(self, query):
        return [sum(teacher[query] == label for teacher in self.labels) for label in range(3)]

    def winner(self, query):
        counts = self.counts(query)
        return counts.index(max(counts))

    def test_lnmax_gives_the_plain_winners_the_first_of_ties(self):
        self.local(*LNMAX)
        queries = range(40)
        ties = [query for query in queries if sorted(self.counts(query))[-1] == sorted(self.counts(query))[-2]]
        self.assertGreater(len(ties), 3)
        self.assertEqual(self.answers(), [(self.winner(query), "teachers") for query in queries])
        summary = self.summary()
        self.assertEqual((summary["type"], summary["teachers"], summary["answered"]), ("pate", 7, 40))
        record = json.loads((self.folder / "run/record.json").read_text())
        self.assertEqual(record["events"], [{"kind": "laplace_counts", "count": 80, "rate": 100.0}])
        self.assert_promises("run", "teacher", "replaced", "of which one teacher's data, all of them, are others.")
        for party in range(3):
            out = self.folder / f"run/party-{party}/out"
            self.assertEqual((out / "answers.csv").read_text(), (self.folder / "run/answers.csv").read_text())
        self.assertFalse((self.folder / "run/party-1/data/predictions.npy").exists())
        self.succeed("report", "run/party-2/out")
        self.assertIn("<td>lnmax</td>", (self.folder / "run/party-2/out/report.html").read_text())
        self.succeed("local", "--job", "run/job.toml", "--data", "votes", "--out", "again")

    def test_its_title_says_no_more_noise_than_there_is(self):
        text = self.succeed("plan", "--job", "job.toml", "--set", "pate.mechanism=lnmax", "--set", "pate.scale=1.23456789")
        self.assertRegex(text, r"^Plan of job votes: 40 queries .* by lnmax, scale 1\.23456;")
        confident = ("mechanism=confident-gnmax", "sigma=2.0", "threshold=4.1234567", "threshold_sigma=1.99999999", "answers=5")
        text = self.succeed("plan", "--job", "job.toml", *(part for one in confident for part in ("--set", f"pate.{one}")))
        self.assertRegex(text, r"^Plan of job votes: .* above 4\.1234567 votes with sigma 1\.99999, at most 5 answers;")

    def plan(self, *settings):
        return json.loads(self.succeed("plan", "--job", "job.toml", "--json", *settings))

    def test_lnmax_costs_what_two_counts_of_independent_noise_do(self):
        # One release of pure 2 gamma a query gives 19.05 to all for the first.
        for queries, scale, outsider, insider in ((1000, 20, 7.03, 11.47), (200, 10, 6.14, 9.94), (40, 2, 16.61, 26.67)):
            plan = self.plan("--set", "pate.mechanism=lnmax", "--set", f"pate.scale={scale}.0", "--set", f"pate.queries={queries}")
            self.assertAlmostEqual(plan["epsilon_outsider"], outsider, delta=0.006)
            self.assertAlmostEqual(plan["epsilon_insider"], insider, delta=0.006)
            self.assertEqual([entry["number"] for entry in plan["statement"] if entry["key"] == "laplace_counts"], [2 * queries])
            self.assertNotIn("adds nothing", json.dumps(plan))

    def test_confident_gnmax_is_accounted_for_as_the_gaussian_that_it_is(self):
        settings = ("--set", "pate.mechanism=confident-gnmax", "--set", "pate.sigma=40", "--set", "pate.threshold=200", "--set",
                    "pate.threshold_sigma=150", "--set", "pate.queries=640", "--set", "pate.answers=286")
        plan = self.plan(*settings)
        self.assertEqual(plan["accountant"], "pld")
        normal = statistics.NormalDist().cdf
        for who, share in (("epsilon_insider", 1), ("epsilon_outsider", 1.5)):
            mu = math.sqrt((640 / 150**2 + 286 * 2 / 40**2) / share)
            delta = [normal(mu / 2 - e / mu) - math.exp(e) * normal(-mu / 2 - e / mu) for e in (plan[who], plan[who] - 1e-4)]
            self.assertLessEqual(delta[0], 1e-5)
            self.assertGreater(delta[1], 1e-5)
        rdp = self.plan(*settings, "--set", "privacy.accountant=rdp")
        self.assertGreater(rdp["epsilon_insider"], 1.08 * plan["epsilon_insider"])
        self.assertEqual(rdp["accountant"], "rdp")
        self.assertNotEqual(rdp["job_hash"], plan["job_hash"])
        self.fail_with(2, "privacy.accountant: found \"pea\"", "plan", "--job", "job.toml", *settings, "--set",
                       "privacy.accountant=pea")

    def test_gnmax_and_its_epsilon(self):
        self.local(*GNMAX)
        for query, (label, source) in enumerate(self.answers()):
            counts = self.counts(query)
            self.assertEqual((counts[label], source), (max(counts), "teachers"))
        summary = self.summary()
        # One teacher moves two counts by 1: RDP order / sigma^2 for an insider; two thirds of it for an outsider.
        plan = json.loads(self.succeed("plan", "--job", "job.toml", "--set", "pate.mechanism=gnmax", "--set",
                                       "pate.sigma=40", "--json"))
        votes = self.write("v.csv", "1,1\n" * 40)
        for who, sigma in (("epsilon_insider", 40), ("epsilon_outsider", 40 * math.sqrt(1.5))):
            account = json.loads(self.succeed("account", "--votes", votes, "--mechanism", "gnmax", "--sigma", sigma,
                                              "--delta", "1e-5", "--json"))
            found = account["data_independent"]["improved"]["epsilon"]  # at more orders than a job's
            self.assertGreaterEqual(plan[who], found - 1e-9)
            self.assertLess(plan[who], 1.001 * found)
        self.assertGreater(summary["epsilon_insider"], 1000)  # next to no noise

    def test_confident_gnmax_answers_clear_queries_only_and_no_more_than_declared(self):
        threshold = ("--set", "pate.mechanism=confident-gnmax", "--set", "pate.sigma=0.05", "--set", "pate.threshold=4.5",
                     "--set", "pate.threshold_sigma=0.05")
        self.write_votes([[0 if teacher < 2 + query % 6 else 1 + teacher % 2 for query in range(40)] for teacher in range(7)])
        clear = [query for query in range(40) if max(self.counts(query)) > 4.5]
        self.assertIn(len(clear), range(10, 35))
        self.local(*threshold)
        self.assertEqual(self.summary()["answered"], len(clear))
        self.assertEqual(self.answers(), [(self.winner(q), "teachers") if q in clear else (None, "") for q in range(40)])
        self.local(*threshold, "--set", "pate.answers=5", out="five")
        self.assertEqual(self.answers("five"),
                         [(self.winner(q), "teachers") if q in clear[:5] else (None, "") for q in range(40)])
        events = json.loads((self.folder / "five/record.json").read_text())["events"]
        self.assertEqual([(event["count"], event["coordinates"]) for event in events], [(40, 1), (5, 3)])
        self.local(*threshold, "--set", "pate.threshold=100", out="none")
        self.assertEqual(self.answers("none"), [(None, "")] * 40)

    def test_interactive_gnmax_asks_where_the_student_is_wrong(self):
        self.write_votes([[query % 3 for query in range(40)]] * 7)
        # The student is sure and right, sure and wrong, or in doubt.
        scores = []
        for query in range(40):
            right = query % 3
            wrong = (right + 1) % 3
            sure = [0.0] * 3
            sure[right if query % 4 < 2 else wrong] = 1.0
            scores.append([0.34, 0.33, 0.33] if query % 4 == 3 else sure)
        (self.folder / "votes/student.npy").write_bytes(npy(scores, "<f8", "d"))
        self.local("--set", "pate.mechanism=interactive-gnmax", "--set", "pate.sigma=0.05", "--set", "pate.threshold=3",
                   "--set", "pate.threshold_sigma=0.05", "--set", "pate.reinforce=0.9")
        expected = [(q % 3, "student" if q % 4 < 2 else "teachers") for q in range(40)]
        self.assertEqual(self.answers(), expected)

    def test_one_teacher_one_query_and_a_party_that_gets_nothing(self):
        self.write_votes([[2]])
        self.local(*LNMAX, "--set", "pate.teachers=[0, 1, 0]", "--set", "pate.queries=1", "--set", "release.to=[2]")
        self.assertEqual(self.answers(), [(2, "teachers")])
        self.assertEqual([(self.folder / f"run/party-{i}/out/answers.csv").exists() for i in range(3)],
                         [False, False, True])

    def run_parties(self, codes):
        processes = [self.start_program("run", "--config", f"run/party-{i}/party.toml", "--job", "run/job.toml", "--out",
                                        f"o{i}") for i in range(3)]
        outputs = [process.communicate(timeout=PATIENCE) for process in processes]
        self.assertEqual(tuple(process.returncode for process in processes), codes, outputs)
        for i in range(3):
            self.assertFalse((self.folder / f"o{i}/answers.csv").exists())
            self.assertFalse((self.folder / f"o{i}/record.json").exists())
        return outputs

    def test_a_party_with_other_queries_ends_all_three_before_anything_is_shared(self):
        self.local(*LNMAX, *prepared())
        self.write("run/party-2/data/queries.csv", "another\n")
        outputs = self.run_parties((2, 2, 2))
        for _, error in outputs:
            self.assert_one_error_line(error, "pate.queries")

    def test_files_that_do_not_fit_are_named(self):
        self.local(*LNMAX, *prepared())
        run = ("run", "--config", "run/party-0/party.toml", "--job", "run/job.toml", "--out", "x")
        party = self.folder / "run/party-0/party.toml"
        text = party.read_text()
        predictions = self.folder / "run/party-0/data/predictions.npy"
        predictions.write_bytes(npy([[0] * 40] * 3))
        self.fail_with(4, "found 3 teachers and 40 queries, expected 4 and 40", *run)
        predictions.write_bytes(npy([[0] * 39 + [3]] * 4))
        self.fail_with(4, "teacher 1, query 40: found 3, expected a class", *run)
        party.write_text(text.replace("predictions =", "#"))
        self.fail_with(2, "missing pate.predictions", *run)
        party.write_text(text.replace("queries =", "#"))
        self.fail_with(2, "missing pate.queries", *run)
        party.write_text(text + '[ledger]\nfile = "l.jsonl"\nepsilon_cap = 9.0\ndelta = 1e-5\n')
        self.fail_with(2, "missing [data], expected the teachers' training data", *run)
        (self.folder / "votes/queries.csv").unlink()
        self.fail_with(4, "found no public queries", "local", "--job", "job.toml", "--data", "votes", "--out", "y", *LNMAX)

    def test_refuses_what_is_wrong_in_one_line(self):
        for text, *settings in (
            ("pate.mechanism: found \"max\"", "--set", "pate.mechanism=max"),
            ("missing pate.sigma", "--set", "pate.mechanism=gnmax"),
            ("mechanism \"lnmax\" has no such key", *LNMAX, "--set", "pate.sigma=1"),
            ("mechanism \"lnmax\" has no such key", *LNMAX, "--set", "pate.threshold=1"),
            ("missing pate.threshold", "--set", "pate.mechanism=confident-gnmax", "--set", "pate.sigma=1"),
            ("not all 0", "--set", "pate.teachers=[0, 0, 0]"),
            ("pate.classes: found 1", "--set", "pate.classes=1"),
            ("pate.queries: found 0", "--set", "pate.queries=0"),
            ("privacy.delta: found 0", *LNMAX, "--set", "privacy.delta=0"),
            ("did you mean pate.scale", "--set", "pate.scal=1"),
        ):
            with self.subTest(text):
                self.fail_with(2, text, "local", "--job", "job.toml", "--data", "votes", "--out", "none", *settings)


if __name__ == "__main__":
    unittest.main()
