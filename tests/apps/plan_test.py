"""trefoil plan predicts what a run is then measured to cost."""

import json
import unittest
from pathlib import Path

from evaluate_test import JOB as TABLE
from trefoil_program import ProgramTest, TINY_JOB

CONFIGS = Path(__file__).resolve().parents[2] / "configs"

PARTIES = (0, 1, 2)

# Enough steps that what comes before the first one, which is in both figures, does not hide them.
JOB = TINY_JOB.replace("steps = 6", "steps = 40")

INITIALISATION = ["initialisation.method=averaging", "initialisation.steps=3", "initialisation.expected_batch=30",
                  "initialisation.learning_rate=2.0", "initialisation.sigma=5.0"]


class Plan(ProgramTest):
    def setUp(self):
        super().setUp()
        self.job = self.write("job.toml", JOB)

    def planned(self, *arguments):
        return json.loads(self.succeed("plan", "--job", self.job, "--json", *arguments))

    def expect_as_planned(self, name, *assignments):
        """Rounds and bytes of each party within a tenth of the plan's."""
        options = [argument for assignment in assignments for argument in ("--set", assignment)]
        runs = self.planned(*options)["run_costs"]
        self.assertEqual(len(runs), 1)
        self.succeed("local", "--job", self.job, *options, "--out", name)
        for party in PARTIES:
            summary = self.summary(f"{name}/party-{party}/out")
            for found, expected in ((runs[0]["rounds"], summary["rounds"]), (runs[0]["bytes_sent"][party], summary["bytes_sent"])):
                self.assertGreater(found, 0.9 * expected, f"{name}, party {party}")
                self.assertLess(found, 1.1 * expected, f"{name}, party {party}")

    def test_rounds_and_bytes_of_both_forms(self):
        for form in ("bulk", "latency"):
            self.expect_as_planned(form, f"training.comparison={form}")

    def test_rounds_and_bytes_of_other_jobs(self):
        bulk = "training.comparison=bulk"
        self.expect_as_planned("softmax", bulk, "model.loss=softmax", "training.logit_bound=8.0")
        self.expect_as_planned("network", bulk, "model.hidden=[8]")
        self.assertLess(self.summary("network/party-0/out")["row_bits"], 64)
        self.expect_as_planned("public", bulk, "privacy.sampling=public", "model.class_weights=balanced")
        self.expect_as_planned("inline", bulk, "training.steps_ahead=0")

    def test_every_byte_of_rows_that_are_shared_once(self):
        for sampling, batch in (("public", 90), ("full", 900)):
            options = [f"privacy.sampling={sampling}", f"training.expected_batch={batch}", "training.comparison=bulk", "training.steps=4"]
            options = [word for option in options for word in ("--set", option)]
            plan = self.planned(*options)
            self.succeed("local", "--job", self.job, *options, "--out", sampling)
            for party, sent in enumerate(plan["run_costs"][0]["bytes_sent"]):
                summary = self.summary(f"{sampling}/party-{party}/out")
                self.assertEqual(summary["bytes_sent"], sent, sampling)
                self.assertEqual(summary["row_bits"], plan["row_bits"])
                self.assertLess(plan["row_bits"], 64)

    def test_every_byte_where_what_comes_before_the_steps_leaves_them_their_noise(self):
        for before in ([], ["model.class_weights=balanced", "model.class_counts_sigma=20.0"]):
            assignments = ["privacy.sampling=full", "training.expected_batch=900", "training.comparison=bulk", "training.steps=4",
                           *(before or INITIALISATION)]
            options = [word for assignment in assignments for word in ("--set", assignment)]
            name = "balanced" if before else "averaged"
            self.job = self.write(f"{name}.toml", JOB.replace("sigma = 2.0", "epsilon = 20.0"))
            plan = self.planned(*options)
            self.assertLess(plan["row_bits"], 64, name)
            self.succeed("local", "--job", self.job, *options, "--out", name)
            for party, sent in enumerate(plan["run_costs"][0]["bytes_sent"]):
                summary = self.summary(f"{name}/party-{party}/out")
                self.assertEqual((summary["row_bits"], summary["sigma"]), (plan["row_bits"], plan["sigma"]), name)
                self.assertEqual(summary["bytes_sent"], sent, name)

    def test_memory_of_rows_that_are_shared_once(self):
        full = self.planned("--set", "privacy.sampling=full", "--set", "training.expected_batch=900")
        public = self.planned("--set", "privacy.sampling=public", "--set", "training.expected_batch=30")
        packed, others = 785 * full["row_bits"] // 8, 8 * 11  # bytes of a row
        # Of 300 rows each: features as they are read; own rows' two components and one of others'; labels and norms in two
        # components; weights and velocities; the program itself.
        held = 25e6 + 300 * (4 * 784 + 4 * packed + 3 * 2 * others) + 2 * 8 * 2 * 7850
        # Of a full batch's 9,000 logits a cosine and a sine of 31 terms, in half words: as the next step's are dealt the
        # values, the half that is drawn and the message, and this step's half; and twelve words each.
        self.assertEqual(full["memory_bytes"], held + 9000 * (4 * 2 * 31 * 4 + 12 * 8))
        inline = self.planned("--set", "privacy.sampling=full", "--set", "training.expected_batch=900", "--set", "training.steps_ahead=0")
        self.assertEqual(inline["memory_bytes"], held + 9000 * (3 * 2 * 31 * 4 + 12 * 8))
        self.assertEqual(public["row_bits"], full["row_bits"])
        # A step of some 30 rows takes less than what the rows are shared by: the own message, and another as it is taken apart.
        self.assertEqual(public["memory_bytes"], held + 300 * 2 * (packed + others))

    def test_what_holds_for_somebody_with_several_rows(self):
        job = Path(__file__).resolve().parents[2] / "configs/mnist.toml"
        plan = json.loads(self.succeed("plan", "--job", job, "--json"))
        rows = {row["k"]: row for row in plan["rows"]}
        self.assertEqual(sorted(rows), [1, 2, 5, 10])
        self.assertEqual({row["delta"] for row in plan["rows"]}, {1e-5})
        self.assertEqual(rows[1]["epsilon_outsider"], plan["epsilon_outsider"])
        self.assertEqual(rows[1]["epsilon_insider"], plan["epsilon_insider"])
        # An independent computation's (the audit's): far above 5 and 10 times 3.
        for k, outsider, insider in ((5, 18.65, 27.2), (10, 47.6, 70.9)):
            self.assertAlmostEqual(rows[k]["epsilon_outsider"], outsider, delta=0.1)
            self.assertAlmostEqual(rows[k]["epsilon_insider"], insider, delta=0.1)
        text = self.succeed("plan", "--job", job)
        self.assertIn("Somebody with k rows", text)
        self.assertNotIn("about k times", text)

    def test_time_depends_on_the_link(self):
        self.assertEqual({run["seconds"] for run in self.planned()["run_costs"]}, {None})
        self.assertEqual(sorted(run["form"] for run in self.planned()["run_costs"]), ["bulk", "latency"])
        near = self.planned("--rtt-ms", 0.2, "--mbit", 10000)["run_costs"]
        far = self.planned("--rtt-ms", 40, "--mbit", 100)["run_costs"]
        self.assertEqual((len(near), len(far)), (1, 1))
        self.assertEqual(far[0]["form"], "latency")  # fewer rounds
        # 40 steps of at least ten rounds of 20 ms each, one way.
        self.assertGreater(far[0]["seconds"], 40 * 10 * 0.02)
        self.assertLess(near[0]["seconds"], far[0]["seconds"] / 5)
        self.assertGreater(self.planned()["memory_bytes"], 300 * 784 * 4)
        text = self.succeed("plan", "--job", self.job, "--rtt-ms", 40, "--mbit", 100)
        self.assertRegex(text, r"The run, latency form: \d+ rounds; the parties send .* MB and .* MB; about \d+ s on this link\n"
                               r"A number of a row has .*\nA party needs about .* MB of memory\n")
        fast = self.planned("--rtt-ms", 40, "--mbit", 100, "--speed", 4)["run_costs"]
        self.assertLess(fast[0]["seconds"], far[0]["seconds"])
        self.assertEqual(dict(fast[0], seconds=0), dict(far[0], seconds=0))
        self.fail_with(2, "--speed: found without --rtt-ms and --mbit", "plan", "--job", self.job, "--speed", 2)
        self.fail_with(2, "--mbit: found without --rtt-ms", "plan", "--job", self.job, "--mbit", 100)
        self.fail_with(2, "--rtt-ms", "plan", "--job", self.job, "--mbit", 100, "--rtt-ms", -1)


class Advice(ProgramTest):
    """What a job's own numbers say against it."""

    NUMBERS = "".join(f'[[data.column]]\nname = "x{k}"\n' for k in range(6)) + '[[data.column]]\nname = "c"\nkind = "category"\nvalues = ["u", "v"]\n'

    def setUp(self):
        super().setUp()
        self.job = self.write("job.toml", TABLE.replace('[[data.column]]\nname = "a"\n[[data.column]]\nname = "b"\n', self.NUMBERS))

    def advice(self, *settings):
        plan = ("plan", "--job", self.job, *(word for setting in settings for word in ("--set", setting)))
        lines = json.loads(self.succeed(*plan, "--json"))["advice"]
        text = self.succeed(*plan)
        self.assertEqual(text.count("\nNote: "), len(lines))
        for line in lines:
            self.assertIn(f"\nNote: {line}\n", text)
        return lines

    def test_has_nothing_to_say_of_a_good_job(self):
        self.assertEqual(self.advice("features.row_norm=2.0"), [])
        self.assertEqual(self.advice("features.row_norm=2.0", "privacy.sigma=25.0"), [])

    def test_finds_what_is_wrong(self):
        cases = {
            "privacy.delta=0.002": "privacy.delta, 0.002, is not below one over the 600 rows",
            "privacy.sampling=public": "an insider, one of the three parties, has epsilon",
            "features.row_norm=1.1": "features.row_norm, 1.1, is below 1.7, about what rows of these columns come to",
            "privacy.sigma=30.0": "the noise in a record's logit comes to 0.04",  # of eight features
        }
        for setting, text in cases.items():
            (line,) = self.advice(*([] if "row_norm" in setting else ["features.row_norm=2.0"]), setting)
            self.assertTrue(line.startswith(text), line)

    def test_looks_at_the_delta_of_every_type_that_declares_rows(self):
        large = ("--set", "privacy.delta=0.01")
        for name in ("adult-histogram", "adult-statistics"):
            found = json.loads(self.succeed("plan", "--job", CONFIGS / f"{name}.toml", *large, "--json"))["advice"]
            self.assertTrue(any(line.startswith("privacy.delta, 0.01, is not below one over the 32561 rows") for line in found), found)

    def test_looks_at_the_noise_of_a_tunings_trials(self):
        def noise(epsilon):
            found = self.succeed("plan", "--job", CONFIGS / "tune.toml", "--set", f"privacy.epsilon={epsilon}", "--json")
            return [line for line in json.loads(found)["advice"] if line.startswith("the noise in a record's logit")]

        self.assertEqual((len(noise(4.0)), len(noise(0.02))), (0, 1))

    def test_is_in_the_log_of_a_run(self):
        arrays = self.write("arrays.toml", TINY_JOB.replace("steps = 6", "steps = 1"))
        said = self.succeed("local", "--job", arrays, "--set", "privacy.delta=0.01", "--out", "out")
        log = (self.folder / "out/party-1/out/party.log").read_text()
        for text in (said, log):
            self.assertIn("note: privacy.delta, 0.01, is not below one over the", text)

    def test_row_norm_by_rule_is_the_number_that_is_advised(self):
        def job_hash(job, *norm):
            return json.loads(self.succeed("plan", "--job", job, "--json", *(("--set", f"features.row_norm={norm[0]}") if norm else ())))["job_hash"]

        self.assertEqual(job_hash(self.job, "auto"), job_hash(self.job, "1.7"))  # the root of 6/3 + 1
        self.assertEqual(job_hash(self.job), job_hash(self.job, "auto"))
        self.assertNotEqual(job_hash(self.job, "auto"), job_hash(self.job, "1.6"))
        arrays = self.write("arrays.toml", TINY_JOB)
        self.assertEqual(job_hash(arrays), job_hash(arrays, "1.0"))
        self.fail_with(2, '"auto" is of the columns of data.format "csv"', "plan", "--job", arrays, "--set", "features.row_norm=auto")


if __name__ == "__main__":
    unittest.main()
