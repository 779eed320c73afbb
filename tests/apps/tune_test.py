"""A tuning whose number of trials nobody learns, as three processes."""

import json
import random
import unittest

from trefoil_program import PATIENCE, ProgramTest, prepared

JOB = """
version = 1
type = "tune"
name = "tuned"
[data]
name = "points"
format = "csv"
rows = [60, 60, 60]
classes = 2
column = [{ name = "a" }, { name = "b" }]
label = { column = "c", values = ["no", "yes"] }
[training]
steps = 4
expected_batch = 90
max_batch_per_owner = 60
learning_rate = 4.0
[privacy]
sigma = 2.0
delta = 1e-5
clip = 0.5
[evaluation]
holder = 1
rows = 60
sigma = 4.0
[tune]
learning_rate = [0.001, 4.0]
clip = [0.5, 1.0]
competing = 2.0
"""


def points(rows):
    source = random.Random(rows)
    pairs = [(source.uniform(-0.6, 0.6), source.uniform(-0.6, 0.6)) for _ in range(rows)]
    return "a,b,c\n" + "".join(f"{a:.3f},{b:.3f},{'yes' if a > b else 'no'}\n" for a, b in pairs)


class Tuning(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("job.toml", JOB)
        (self.folder / "data").mkdir()
        self.write("data/train.csv", points(180))
        self.write("data/test.csv", points(60))

    def local(self, *more, out="run"):
        return self.succeed("local", "--job", "job.toml", "--data", "data", "--out", out, *more)

    def plan(self, *settings):
        arguments = [part for setting in settings for part in ("--set", setting)]
        return json.loads(self.succeed("plan", "--job", "job.toml", "--json", *arguments))

    def test_releases_one_model_and_nothing_else(self):
        self.local()
        record = json.loads((self.folder / "run/record.json").read_text())
        event, = record["events"]
        self.assertEqual(event["kind"], "tuning")
        self.assertEqual(len(event["weights"]), 4)
        self.assertEqual(sum(event["weights"]), 2 ** 40)
        self.assertAlmostEqual(sum(k * weight for k, weight in enumerate(event["weights"], 1)) / 2 ** 40, 2, delta=1e-6)
        # Learning rates do not change what is charged, clips do.
        self.assertEqual([(alike["count"], [one["kind"] for one in alike["events"]]) for alike in event["trials"]],
                         [(2, ["dpsgd_steps", "noisy_evaluation"])] * 2)
        self.assertEqual([alike["events"][0]["clip"] for alike in event["trials"]], [0.5, 1.0])
        summary = self.summary()
        self.assertEqual((summary["trials"], summary["steps"], summary["test_records"]), (4, 16, 60))
        self.assertGreater(summary["test_epsilon_insider"], summary["test_epsilon_outsider"])
        model = (self.folder / "run/model.npz").read_bytes()
        for party in range(3):
            out = self.folder / f"run/party-{party}/out"
            self.assertEqual((out / "model.npz").read_bytes(), model)
            lines = [json.loads(line) for line in (out / "audit.jsonl").read_text().splitlines()]
            self.assertEqual([line["what"] for line in lines if line["kind"] == "release"], ["model.npz"])
            # The same public things for every secret choice: progress of all trials, whichever compete.
            self.assertEqual(len((out / "progress.csv").read_text().splitlines()), 1 + 16)
        self.succeed("evaluate", "--model", "run/model.npz", "--data", "data/test.csv", "--json")

    def test_says_what_training_and_test_records_are_charged(self):
        self.local()
        text = self.succeed("account", "--record", "run/record.json", "--delta", "1e-5")
        told = json.loads(self.succeed("account", "--record", "run/record.json", "--delta", "1e-5", "--json"))
        plan = self.plan()
        for key in ("epsilon_outsider", "epsilon_insider"):
            self.assertEqual(told[key], plan[key])
            self.assertEqual(told["test_" + key], self.summary()["test_" + key])
            self.assertEqual(told["test_" + key], plan["test_" + key])
        self.assertIn("Trials of a tuning", text)
        self.assertIn("Epsilon, test records", text)
        self.assertIn("trials", self.succeed("plan", "--job", "job.toml"))
        self.succeed("report", "run")

    def test_costs_more_than_one_training_and_at_most_all(self):
        one, some, every = (self.plan(f"tune.competing={competing}")["epsilon_insider"] for competing in (1.0, 2.0, 4.0))
        self.assertLess(one, some)
        self.assertLess(some, every)
        training = JOB[:JOB.index("[evaluation]")].replace('"tune"', '"dpsgd"').replace("steps = 4", "steps = 16")
        self.write("all.toml", training)
        all_steps = json.loads(self.succeed("plan", "--job", "all.toml", "--json"))["epsilon_insider"]
        self.assertAlmostEqual(every, all_steps, delta=0.01 * all_steps)

    def test_finds_noise_for_the_whole_tuning(self):
        self.write("job.toml", JOB.replace("sigma = 2.0", "epsilon = 3.0"))
        plan = self.plan()
        self.assertLessEqual(plan["epsilon_insider"], 3)
        self.assertGreater(plan["epsilon_insider"], 2.98)
        self.assertLess(plan["epsilon_outsider"], plan["epsilon_insider"])
        # One trial's four steps would let batches be cut at 48.
        self.fail_with(2, "training.max_batch_per_owner: found 48, expected at least 49 for party 0", "plan", "--job", "job.toml", "--set",
                       "training.max_batch_per_owner=48")

    def test_takes_the_best_where_all_compete(self):
        little_noise = ("--set", "privacy.sigma=0.05", "--set", "evaluation.sigma=0.05", "--set", "tune.competing=4.0")
        self.local(*little_noise)
        self.assertGreater(self.summary()["accuracy"], 0.8)  # 0.9 in most runs, of sixty records

    def test_ledgers_take_it(self):
        cap = ("--ledger", "ledger", "--epsilon-cap", "5")
        self.local(*cap, out="one")
        shown = json.loads(self.succeed("ledger", "show", "ledger/party-0.jsonl", "--json"))
        self.assertGreater(shown["epsilon_insider"], self.summary("one")["epsilon_insider"])
        self.fail_with(5, "expected at most the cap 5", "local", "--job", "job.toml", "--data", "data", "--out", "two", *cap)
        self.assertFalse((self.folder / "two/model.npz").exists())

    def test_ledgers_of_test_records_take_it(self):
        self.local(*prepared(), out="d")
        path = self.folder / "d/party-1/party.toml"
        path.write_text(path.read_text() + '\n[evaluation_ledger]\nfile = "tests.jsonl"\nepsilon_cap = 9\ndelta = 1e-5\n'
                        'population = "tests"\n')
        processes = [self.start_program("run", "--config", f"d/party-{i}/party.toml", "--job", "job.toml", "--out", f"out-{i}")
                     for i in range(3)]
        for process in processes:
            said = process.communicate(timeout=PATIENCE)[1]
            self.assertEqual(process.returncode, 0, said)
        shown = json.loads(self.succeed("ledger", "show", "d/party-1/tests.jsonl", "--json"))
        self.assertGreater(shown["epsilon_insider"], 0.3)
        self.assertLess(shown["epsilon_insider"], 9)

    def test_refuses_what_is_wrong_in_one_line(self):
        for text, *settings in (
            ("tune.repeats: found 1 trials in all", "tune.learning_rate=[]", "tune.clip=[]", "tune.competing=1.0"),
            ("tune.repeats: found 68 trials in all", "tune.repeats=17"),
            ("tune.competing: found 5", "tune.competing=5.0"),
            ("tune.competing: found 0.5", "tune.competing=0.5"),
            ("tune.learning_rate: found", "tune.learning_rate=[0.0, 1.0]"),
            ("evaluation.sigma: found 0", "evaluation.sigma=0.0"),
            ("privacy.accountant: found", "privacy.accountant=pld"),
            ("privacy.sampling: found", "privacy.sampling=public"),
            ("privacy.sampling: found", "privacy.sampling=full", "training.expected_batch=auto"),
            ("privacy.unit: found", "privacy.unit=group", "privacy.max_group_rows=2", "privacy.group_column=a"),
            ('features.standardise: only type "dpsgd" has it', "features.standardise=private"),
            ("missing data.capacity", "data.source=store"),
            ("training.checkpoint_every: found 2", "training.checkpoint_every=2"),
            ("model.class_weights: found", "model.class_weights=balanced"),
            ("release.to: found", "release.to=[]"),
            ("unknown key evaluation.to", "evaluation.to=[0]"),
            ("unknown key initialisation", "initialisation.method=averaging"),
        ):
            arguments = [part for setting in settings for part in ("--set", setting)]
            with self.subTest(text):
                self.fail_with(2, text, "plan", "--job", "job.toml", *arguments)
        self.write("job.toml", JOB.replace("[evaluation]\nholder = 1\nrows = 60\nsigma = 4.0\n", ""))
        self.fail_with(2, "missing evaluation.holder", "plan", "--job", "job.toml")

    def test_check_names_a_bad_file(self):
        self.local(*prepared(), out="d")
        check = ("check", "--config", "d/party-1/party.toml", "--job", "job.toml", "--wait", "50ms")
        self.assertNotRegex(self.run_program(*check).stdout, r"(?m)^fail  (?!party )")
        for file, content, text in (
            ("data/train.csv", "a,b,c\n0.1,0.2,perhaps\n", r'fail  data: \S*train.csv: row 2, .*: found "perhaps", expected '),
            ("test/test.csv", points(59), r"fail  test data: \S*test.csv: found 59 records, expected the 60 of evaluation.rows"),
        ):
            path = self.folder / "d/party-1" / file
            whole = path.read_text()
            path.write_text(content)
            self.assertRegex(self.run_program(*check).stdout, "(?m)^" + text)
            path.write_text(whole)

    def test_a_lost_peer_ends_all_and_leaves_no_model(self):
        self.write("job.toml", JOB.replace("steps = 4", "steps = 2000"))
        self.local(*prepared(), out="d")
        codes, outputs = self.lose_a_party(2, "job.toml", 5)
        self.assertEqual(codes[:2], [3, 3], outputs)
        for party in (0, 1):
            self.assert_one_error_line(outputs[party][1], "party 2")
            self.assertFalse((self.folder / f"r{party}/model.npz").exists())

    def test_refuses_other_numbers_of_test_records(self):
        self.fail_with(4, "expected the 59 of evaluation.rows", "local", "--job", "job.toml", "--data", "data", "--out", "run",
                       "--set", "evaluation.rows=59")


if __name__ == "__main__":
    unittest.main()
