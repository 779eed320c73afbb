"""What scripts/acceptance's measurements of speed are held against. Usage: speed_test.py"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "acceptance.d"
sys.path.insert(0, str(FOLDER))
import peaks
import speed_limits


def result(form, sent, rounds=10, milliseconds=1.0, op="dpsgd_step"):
    figures = {"rounds": rounds, "bytes_sent": [sent, sent - 1, sent], "bytes_offline": [0, 0, 0]}
    seconds = {"seconds": {"median": milliseconds / 1000}, "seconds_sustained": milliseconds / 1000}
    return {"op": op, "form": form, "n": 1280, "declared": figures, **figures, **seconds}


class Limits(unittest.TestCase):
    # What parties send at most, by form: trefoil bench.
    SENT = {"dpsgd_step": {"latency": 154_492, "bulk": 170_572}, "compare": {"latency": 1_600_000, "bulk": 1_883_460},
            "multiply_truncate": {"bulk": 16_000_000}}

    def is_within(self, work, *results, slowness=1.0):
        return speed_limits.line_of(work, "loopback", results, None, slowness)[1]

    def test_take_a_twentieth_more_bytes_than_are_sent_and_no_tenth(self):
        for work in speed_limits.WORKS:
            for form, sent in self.SENT.get(work.op, {}).items():
                with self.subTest(work.op, form=form):
                    found = result(form, sent)
                    self.assertTrue(self.is_within(work, found))
                    self.assertFalse(self.is_within(work, found, result(form, sent * 11 // 10)))

    def test_are_longer_where_the_multiplier_does_less_and_shorter_where_it_does_more(self):
        step = speed_limits.WORKS[0]
        for peak, limit in ((16.6, 3.5), (8.3, 7.0), (33.2, 1.75)):
            with self.subTest(peak):
                slowness = peaks.slowness([{"MultiplierPeak": peak / 2}, {"MultiplierPeak": peak}])
                for milliseconds, right in ((0.99 * limit, True), (1.01 * limit, False)):
                    found = result("latency", 154_492, milliseconds=milliseconds)
                    self.assertEqual(self.is_within(step, found, slowness=slowness), right)

    def test_refuse_a_form_that_takes_a_third_longer_in_a_row(self):
        def choice(chosen, latency, bulk):
            results = [result(form, 1) for form in chosen]
            times = {"latency": [result("latency", 1, milliseconds=latency)], "bulk": [result("bulk", 1, milliseconds=bulk)]}
            for of_form in times.values():
                of_form[0]["seconds"]["median"] = 1  # by which nothing is chosen
            return speed_limits.choice_of(results, times)[1]

        self.assertTrue(choice(["latency", "latency"], latency=3, bulk=4))
        self.assertTrue(choice(["bulk", "latency"], latency=3.9, bulk=4))
        self.assertFalse(choice(["latency", "bulk"], latency=3, bulk=4))


class RanksOfRuns(unittest.TestCase):
    def test_are_read_as_rank_training_leaves_them(self):
        with tempfile.TemporaryDirectory() as folder:
            for ranks, seconds in ((1, 8.0), (2, 5.0)):
                run = pathlib.Path(folder) / f"ranks-{ranks}"
                for party in range(3):
                    out = run / f"party-{party}" / "out"
                    out.mkdir(parents=True)
                    (out / "summary.json").write_text(json.dumps(
                        {"results": {"dpsgd": {"steps": 10}}, "cost": {"seconds": seconds, "bytes_sent": 1000}}))
                    lines = [f"rank {rank}: 500 bytes sent, {6 / ranks + rank + party} s of processor time, 0.1 s waited"
                             for rank in range(ranks)] if ranks > 1 else [f"debug {6 + party} s of processor time"]
                    (out / "party.log").write_text("\n".join(lines))
                (run / "done").touch()
            done = subprocess.run([sys.executable, "-B", FOLDER.parent / "project_ranks", "--measured", folder], capture_output=True,
                                  text=True, check=True)
        # A step's milliseconds; of the middle party rank 0's, the busiest other's and an R-th of one rank's.
        self.assertEqual(done.stdout.splitlines()[1:], ["1,800.00,700.00,700.00,700.00", "2,500.00,400.00,500.00,350.00"])


class CheckBench(unittest.TestCase):
    # Rounds and bytes of what has a budget.
    FOUND = {("dpsgd_step", "latency"): (10, 154_492), ("dpsgd_step_squared", "latency"): (13, 196_396),
             ("clip_factor", "latency"): (2, 384), ("sigmoid", "latency"): (3, 555), ("compare", "latency"): (2, 592),
             ("compare", "bulk"): (7, 993), ("inverse_sqrt", "latency"): (8, 2664), ("inverse_sqrt", "bulk"): (21, 22828)}

    def check(self, found):
        """Code and output for a bench that found these."""
        with tempfile.TemporaryDirectory() as folder:
            table = pathlib.Path(folder) / "protocol_table"
            table.write_text("#!/bin/sh\necho " + " ".join({op for op, _ in found}) + "\n")
            table.chmod(0o755)
            bench = pathlib.Path(folder) / "bench.json"
            results = [result(form, sent, rounds, op=op) for (op, form), (rounds, sent) in found.items()]
            bench.write_text(json.dumps({"results": results}))
            done = subprocess.run([sys.executable, "-B", FOLDER / "check_bench.py", table, bench], capture_output=True, text=True,
                                  check=False)
            return done.returncode, done.stdout

    def test_takes_what_is_sent(self):
        self.assertEqual(self.check(self.FOUND)[0], 0)

    def test_refuses_one_more_round_of_a_step_or_a_tenth_more_bytes(self):
        for op in ("dpsgd_step", "dpsgd_step_squared"):
            rounds, sent = self.FOUND[op, "latency"]
            for more in ((rounds + 1, sent), (rounds, sent * 11 // 10)):
                with self.subTest(op, more=more):
                    code, output = self.check(self.FOUND | {(op, "latency"): more})
                    self.assertEqual(code, 1)
                    self.assertIn(f"{op} (latency, n = 1280): {more[0]} rounds", output)


if __name__ == "__main__":
    unittest.main()
