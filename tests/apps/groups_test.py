"""Groups of rows as the unit of privacy, in whole runs."""

import json
import random
import re
import unittest

from trefoil_program import ProgramTest

JOB = """
version = 1
type = "dpsgd"
name = "visits"
[data]
name = "visits"
format = "csv"
rows = [400, 400, 400]
classes = 2
label = { column = "good", values = ["no", "yes"] }
[[data.column]]
name = "patient"
kind = "key"
[[data.column]]
name = "a"
[[data.column]]
name = "b"
[training]
steps = 20
expected_batch = 120
max_batch_per_owner = 200
learning_rate = 8.0
[privacy]
sigma = 1.0
delta = 1e-5
clip = 0.5
unit = "group"
group_column = "patient"
max_group_rows = 3
[local]
split = [0.33, 0.33, 0.33]
"""


class Groups(ProgramTest):
    def setUp(self):
        super().setUp()
        self.job = self.write("job.toml", JOB)
        (self.folder / "data").mkdir()
        self.coins = random.Random(1)

    def row(self, patient):
        a, b = self.coins.uniform(-1, 1), self.coins.uniform(-1, 1)
        return f"{patient},{a:.6f},{b:.6f},{'yes' if a > b else 'no'}"

    def write_data(self, rows):
        for name, some in (("train", rows), ("test", rows[:50])):
            (self.folder / f"data/{name}.csv").write_text("\n".join(["patient,a,b,good", *some]) + "\n")

    def local(self, *arguments):
        return ("local", "--job", self.job, "--data", "data", "--out", "out", *arguments)

    def test_trains_and_charges_whole_groups(self):
        self.write_data([self.row(f"p{k // 3}") for k in range(1200)])
        self.succeed(*self.local())
        summary = self.summary("out")
        event = json.loads((self.folder / "out/record.json").read_text())["events"][0]
        self.assertEqual(event["max_group_rows"], 3)
        self.assert_promises("out", "group", "added", "with the same key, of which a file has at most 3.", warnings=1)
        self.assertEqual(event["sensitivity"], summary["sensitivity"])
        self.assertIn("all rows of one owner with the same key", summary["warnings"][0])
        self.assertGreater(summary["accuracy"], 0.6)
        accounted = json.loads(self.succeed("account", "--record", "out/record.json", "--delta", "1e-5", "--json"))
        self.assertEqual(accounted["epsilon_insider"], summary["epsilon_insider"])
        job = (self.folder / "job.toml").read_text()
        alone = re.sub(r'unit = "group".*?max_group_rows = 3\n', "", job, flags=re.S).replace('kind = "key"', 'kind = "ignore"')
        self.succeed("local", "--job", self.write("alone.toml", alone), "--data", "data", "--out", "alone")
        of_record = self.summary("alone")
        self.assertAlmostEqual(summary["sensitivity"], 3 * of_record["sensitivity"], places=12)
        self.assertEqual(of_record["warnings"], [])
        # The same noise relative to the unit; but whole groups fill a batch more easily, which costs delta.
        self.assertGreaterEqual(summary["epsilon_insider"], of_record["epsilon_insider"])
        self.assertLess(summary["epsilon_insider"], 1.1 * of_record["epsilon_insider"])
        self.assertIn("accuracy", self.succeed("evaluate", "--model", "out/model.npz", "--data", "data"))

    def test_a_ledger_says_where_jobs_are_for_different_units(self):
        self.write_data([self.row(f"p{k // 3}") for k in range(1200)])
        ledger = ("--ledger", "ledgers", "--epsilon-cap", "90")
        self.succeed(*self.local(*ledger))
        show = ("ledger", "show", "ledgers/party-0.jsonl")
        self.assertNotIn("units or neighbours of the jobs differ", self.succeed(*show))
        alone = re.sub(r'unit = "group".*?max_group_rows = 3\n', "", JOB, flags=re.S).replace('kind = "key"', 'kind = "ignore"')
        self.succeed("local", "--job", self.write("alone.toml", alone), "--data", "data", "--out", "alone", *ledger)
        self.assertIn("units or neighbours of the jobs differ", self.succeed(*show))
        self.assertEqual([job["unit"] for job in json.loads(self.succeed(*show, "--json"))["jobs"]], ["group", "record"])

    def test_refuses_a_group_that_is_too_large(self):
        rows = [self.row(f"p{k // 3}") for k in range(1200)]
        rows[5] = self.row("p0")  # its fourth row
        self.write_data(rows)
        result = self.run_program(*self.local())
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assert_one_error_line(result.stderr, "record 6: found row 4 of one group, expected at most 3 (privacy.max_group_rows)")
        self.assertNotIn("p0", result.stderr.replace("party-0", ""))

    def test_says_how_many_records_repeat_to_their_owner_only(self):
        rows = [self.row(f"p{k // 3}") for k in range(1200)]
        rows[1] = rows[0]
        rows[2] = rows[0]
        self.write_data(rows)
        output = self.succeed(*self.local())
        self.assertNotIn("repeat", output)
        parties = [self.folder / f"out/party-{party}" for party in (0, 1, 2)]
        self.assertIn("2 of this party's 396 records repeat an earlier one", (parties[0] / "out/owner_warnings.txt").read_text())
        self.assertIn("repeat an earlier one", (parties[0] / "console.log").read_text())
        for party in parties:
            self.assertNotIn("repeat", (party / "out/party.log").read_text())
        for party in parties[1:]:
            self.assertNotIn("repeat", (party / "console.log").read_text())


if __name__ == "__main__":
    unittest.main()
