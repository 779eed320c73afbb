"""trefoil account --votes: PATE's analysis of a vote file, against reference values and the formulas in plain Python."""

import fractions
import json
import math
import statistics
import struct
import unittest

from trefoil_program import PROJECT, ProgramTest

VECTORS = PROJECT / "tests/reference/vectors/pate.json"


def npy(rows, code="<i8", form="q"):
    """An NPY file of these rows."""
    header = f"{{'descr': '{code}', 'fortran_order': False, 'shape': ({len(rows)}, {len(rows[0])}), }}"
    header += " " * ((-len(header) - 11) % 64) + "\n"
    values = [value for row in rows for value in row]
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(
        f"<{len(values)}{form}", *values)


class AccountVotes(ProgramTest):
    def account(self, counts, *options):
        self.write("votes.csv", "".join(",".join(map(str, row)) + "\n" for row in counts))
        return json.loads(self.succeed("account", "--votes", "votes.csv", "--delta", "1e-5", "--json", *options))

    def test_matches_the_reference_vectors(self):
        vectors = json.loads(VECTORS.read_text())
        for one in vectors["gnmax"]:
            found = self.account([one["counts"]], "--mechanism", "gnmax", "--sigma", one["sigma"], "--rdp-orders",
                                 "2,4,8,16,32")
            self.assertAlmostEqual(found["log_q"]["most"], one["logq"], delta=1e-11 * abs(one["logq"]))
            for order, expected in zip(("2", "4", "8", "16", "32"), one["rdp"]):
                self.assertAlmostEqual(found["rdp"][order], expected, delta=1e-9 * expected)
        for one in vectors["lnmax"]:
            found = self.account([one["counts"]], "--mechanism", "lnmax", "--scale", one["lambda"], "--rdp-orders",
                                 ",".join(map(str, one["rdp_orders"])))
            self.assertAlmostEqual(found["log_q"]["least"], one["logq"], delta=1e-8)
            for order, expected in zip(one["rdp_orders"], one["rdp"]):
                self.assertAlmostEqual(found["rdp"][str(order)], expected, delta=5e-5 * expected)
        one = vectors["gnmax_data_independent"]
        for queries, expected in zip(one["queries"], one["epsilon"]):
            found = self.account([[5, 5]] * queries, "--mechanism", "gnmax", "--sigma", one["sigma"])
            self.assertAlmostEqual(found["data_independent"]["basic"]["epsilon"], expected, delta=1e-8)
            self.assertLess(found["data_independent"]["improved"]["epsilon"], expected)

    def test_a_threshold_charges_every_query_and_answers_by_their_probability(self):
        options = ("--mechanism", "confident-gnmax", "--sigma", "40", "--threshold", "200", "--threshold-sigma", "150",
                   "--rdp-orders", "8")
        counts = [[250, 0, 0], [90, 80, 80]]
        found = self.account(counts, *options)
        answered = [math.erfc((200 - row[0]) / (150 * math.sqrt(2))) / 2 for row in counts]
        self.assertAlmostEqual(found["expected_answers"], sum(answered), places=9)
        # The second query is not clear enough for anything but what holds whatever the votes are.
        answer = [8 / 40**2, 8 / 40**2]
        # The threshold's bit, and an answer as far as the tilted law of that bit says yes: more than it is expected to.
        tilted = [self.tilted(row[0], 200, 150, 8) for row in counts]
        self.assertGreater(tilted[1], answered[1])
        added = [math.log1p(p * math.expm1(7 * a)) / 7 for p, a in zip(tilted, answer)]
        self.assertLess(found["rdp"]["8"], sum(added) + 2 * 8 / (2 * 150**2) + 1e-12)
        self.assertGreater(found["rdp"]["8"], added[1] + 2 * 8 / (2 * 150**2) - 1e-12)  # the first one's winner is clear
        # Whatever they are: both answered.
        slope = 2 * (1 / 40**2 + 1 / (2 * 150**2))
        least = slope + 2 * math.sqrt(slope * math.log(1e5))  # at the best order of all; those of the papers are near it
        self.assertGreaterEqual(found["data_independent"]["basic"]["epsilon"], least)
        self.assertLess(found["data_independent"]["basic"]["epsilon"], least * 1.0001)

    def test_of_these_votes_bounds_one_direction_and_says_so(self):
        def law(counts, sigma, threshold, threshold_sigma):
            """Of no answer and of each of two classes, exactly."""
            above = math.erfc((threshold - max(counts)) / (threshold_sigma * math.sqrt(2))) / 2
            first = math.erfc((counts[1] - counts[0]) / (2 * sigma)) / 2
            return [1 - above, above * first, above * (1 - first)]

        def exact(p, q):
            """The least epsilon of p against q at delta 1e-5."""
            low, high = 0.0, 100.0
            while high - low > 1e-9:
                middle = (low + high) / 2
                delta = sum(max(0.0, a - math.exp(middle) * b) for a, b in zip(p, q))
                low, high = (middle, high) if delta > 1e-5 else (low, middle)
            return high

        for these, neighbour, noise in (([4, 0], [3, 1], (0.5, 49.249, 30)), ([4, 0], [3, 1], (0.5, 18.7, 10)),
                                        ([33, 17], [34, 16], (1, 37.694, 1))):
            options = ("--mechanism", "confident-gnmax", "--sigma", noise[0], "--threshold", noise[1],
                       "--threshold-sigma", noise[2])
            own, others = (self.account([votes], *options) for votes in (these, neighbour))
            p, q = law(these, *noise), law(neighbour, *noise)
            shown = own["data_dependent"]["improved"]["epsilon"]
            self.assertGreaterEqual(shown, exact(p, q))
            self.assertGreater(exact(q, p), shown)  # hence the warning
            self.assertGreaterEqual(others["data_dependent"]["improved"]["epsilon"], exact(q, p))
            self.assertIn("the neighbour's own holds", own["warning"])
            self.assertIn("continuous", own["noise"])

    @staticmethod
    def tilted(most, threshold, sigma, order):
        """The part of the tilted law of the bit that says yes, for the worst neighbour on either side."""
        def above(count, sign):
            return math.erfc(sign * (threshold - count) / (sigma * math.sqrt(2))) / 2
        parts = []
        for p, q in ((most, most - 1), (most + 1, most)):
            yes, no = (above(p, sign)**order * above(q, sign)**(1 - order) for sign in (1, -1))
            parts.append(yes / (yes + no))
        return max(parts)

    @staticmethod
    def exact_epsilon(votes, sigma, threshold, threshold_sigma, delta):
        """Of one query to two classes against its neighbour with a vote more for the first, by all outcomes, both ways."""
        def law(a, b):
            answered = math.erfc((threshold - max(a, b)) / (threshold_sigma * math.sqrt(2))) / 2
            first = math.erfc((b - a) / (2 * sigma)) / 2
            return answered * first, answered * (math.erfc((a - b) / (2 * sigma)) / 2), 1 - answered
        one, other = law(*votes), law(votes[0] + 1, votes[1] - 1)
        low, high = 0.0, 100.0
        for _ in range(100):
            middle = (low + high) / 2
            found = max(sum(max(0, p - math.exp(middle) * q) for p, q in zip(*pair)) for pair in ((one, other), (other, one)))
            low, high = (middle, high) if found > delta else (low, middle)
        return high

    def test_answers_that_are_rare_cost_what_they_tell(self):
        # An audit's cases, charged 2.03 and 0.548 by version 0.1, and two others.
        for votes, sigma, threshold, threshold_sigma, least in (
            ([50, 50], 0.3, 166.3, 50, 12.87), ([50, 50], 1, 166.3, 50, 1.79), ([30, 30], 0.25, 112, 30, 17.88),
            ([20, 20], 0.4, 100, 28, 7.68),
        ):
            exact = self.exact_epsilon(votes, sigma, threshold, threshold_sigma, 1e-5)
            self.assertGreater(exact, least)
            found = self.account([votes], "--mechanism", "confident-gnmax", "--sigma", sigma, "--threshold", threshold,
                                 "--threshold-sigma", threshold_sigma)
            for conversion in ("basic", "improved"):
                self.assertGreater(found["data_dependent"][conversion]["epsilon"], exact)
        # The epsilon that may be published: 5.1 to 5.8 for the first before. It is too small with probability 1e-5 a call.
        for votes, sigma, threshold, threshold_sigma, least in (([50, 50], 0.3, 2376, 1000, 12.92), ([30, 30], 0.35, 1200, 500, 9.82)):
            exact = self.exact_epsilon(votes, sigma, threshold, threshold_sigma, 2e-5)
            self.assertGreater(exact, least)
            for _ in range(3):
                found = self.account([votes], "--mechanism", "confident-gnmax", "--sigma", sigma, "--threshold", threshold,
                                     "--threshold-sigma", threshold_sigma, "--sanitise-order", 6, "--sanitise-noise", 2)
                self.assertGreater(found["sanitised"]["epsilon"], exact)
                self.assertEqual(found["sanitised"]["delta"], 2e-5)

    def test_whatever_the_votes_are_is_by_the_law_of_the_noise(self):
        lnmax = self.account([[5, 5]] * 1000, "--mechanism", "lnmax", "--scale", "20")["data_independent"]
        self.assertLess(lnmax["improved"]["epsilon"], 11.5)  # 19.05 as one release of 2 gamma a query
        self.assertGreater(lnmax["basic"]["epsilon"], 19)
        gnmax = self.account([[5, 5]] * 100, "--mechanism", "gnmax", "--sigma", "40")["data_independent"]["improved"]
        normal, mu, e = statistics.NormalDist().cdf, math.sqrt(100 * 2 / 40**2), gnmax["epsilon"]
        self.assertAlmostEqual(normal(mu / 2 - e / mu) - math.exp(e) * normal(-mu / 2 - e / mu), 1e-5, delta=1e-10)

    def test_a_pure_epsilon_is_rounded_up(self):
        for scale in (7, 23):
            one = self.account([[5, 5]], "--mechanism", "lnmax", "--scale", scale)["data_independent"]["basic"]
            self.assertGreaterEqual(fractions.Fraction(one["epsilon"]), fractions.Fraction(2, scale))
            self.assertAlmostEqual(one["epsilon"], 2 / scale, delta=1e-15)

    def test_clear_votes_cost_less_and_never_more_than_any(self):
        for mechanism in (("gnmax", "--sigma", "20"), ("lnmax", "--scale", "20")):
            clear = self.account([[240, 5, 5]] * 100, "--mechanism", *mechanism)
            unclear = self.account([[84, 83, 83]] * 100, "--mechanism", *mechanism)
            for conversion in ("basic", "improved"):
                least, most, other, whatever = (one[kind][conversion]["epsilon"] for one, kind in (
                    (clear, "data_dependent"), (clear, "data_independent"), (unclear, "data_dependent"),
                    (unclear, "data_independent")))
                self.assertLess(least, most / 2)
                self.assertAlmostEqual(most, whatever)
                self.assertLessEqual(other, whatever)
            self.assertIn("do not publish", clear["warning"])

    def test_a_sanitised_epsilon_is_of_noise_at_the_smooth_sensitivity_and_charges_itself(self):
        order = 12.0
        # The epsilon is never of more than 60 answers cost whatever the votes are.
        for mechanism, whatever in ((("gnmax", "--sigma", "40"), 60 * order / 40**2), (("lnmax", "--scale", "20"), 60 * order * 0.1**2 / 2)):
            with self.subTest(mechanism[0]):
                self.check_sanitised(mechanism, order, whatever)
        text = self.succeed("account", "--votes", "votes.csv", "--delta", "1e-5", "--mechanism", "confident-gnmax", "--sigma", "40",
                            "--threshold", "200", "--threshold-sigma", "150", "--sanitise-order", "12", "--sanitise-noise", "4")
        self.assertIn("sanitised", text)
        self.assertIn("at delta 2e-05: may be published, once", text)

    def check_sanitised(self, mechanism, order, whatever):
        beta, noise, failure, delta = 0.003, 4.0, 0.001, 1e-5
        counts = [[240 - 3 * k, 5 + 2 * k, 5 + k] for k in range(60)]
        deviations = statistics.NormalDist().inv_cdf(1 - failure)
        offset = deviations * noise / (1 - deviations * noise * math.expm1(beta))
        # 60 draws: a mean beyond 5.3 standard errors and a variance outside these bounds have probability below 1e-6 together.
        draws = []
        for _ in range(60):
            found = self.account(counts, "--mechanism", *mechanism, "--rdp-orders", order, "--sanitise-order", order,
                                 "--sanitise-beta", beta, "--sanitise-noise", noise, "--sanitise-failure", failure)
            one, smooth = found["sanitised"], found["data_dependent"]["smooth_sensitivity"]
            own = smooth * (1 + offset * math.expm1(beta))
            draws.append((one["rdp_bound"] - found["rdp"]["12.0"] - offset * smooth) / (noise * own))
            # What it costs to say so, and the conversion of Canonne, Kamath and Steinke.
            narrow = 1 - order + order * math.exp(-2 * beta)
            wide = 1 - order + order * math.exp(2 * beta)
            release = max(order / (2 * noise**2) * math.exp(-2 * beta) / narrow - (math.log(narrow) / 2 + order * beta) / (order - 1),
                          order / (2 * noise**2) + (order * beta - math.log(wide) / 2) / (order - 1))
            self.assertAlmostEqual(one["rdp_of_release"], release, delta=1e-12)
            epsilon = min(one["rdp_bound"], whatever) + release + math.log1p(-1 / order) - math.log(delta * order) / (order - 1)
            self.assertAlmostEqual(one["epsilon"], epsilon, delta=1e-12)
            self.assertEqual(one["delta"], delta + failure)
            self.assertEqual(one["rdp_bound"] * 2**20, round(one["rdp_bound"] * 2**20))  # no digit tells of the votes
        self.assertLess(abs(statistics.fmean(draws)), 5.3 / math.sqrt(60))
        self.assertTrue(0.25 < statistics.variance(draws) < 2.4)
        self.assertGreater(len(set(draws)), 50)

    def test_reads_npy_of_any_number_type_and_the_first_queries(self):
        counts = [[200, 30, 20], [130, 60, 60]]
        expected = self.account(counts, "--mechanism", "gnmax", "--sigma", "40")
        for code, form in (("<i8", "q"), ("<f4", "f"), ("<u2", "H")):
            (self.folder / "votes.npy").write_bytes(npy(counts, code, form))
            common = ("account", "--votes", "votes.npy", "--delta", "1e-5", "--json", "--mechanism", "gnmax", "--sigma", "40")
            self.assertEqual(json.loads(self.succeed(*common)), expected)
        first = json.loads(self.succeed(*common, "--queries", "1"))
        self.assertEqual(first["queries"], 1)
        self.assertEqual(first, self.account(counts[:1], "--mechanism", "gnmax", "--sigma", "40"))
        text = self.succeed("account", "--votes", "votes.npy", "--delta", "1e-5", "--mechanism", "gnmax", "--sigma", "40")
        self.assertIn("2 queries to 250 teachers", text)
        self.assertIn("epsilon, whatever the votes are", text)

    def test_refuses_what_is_wrong_in_one_line(self):
        self.write("votes.csv", "3,1\n2,2\n")
        common = ("account", "--votes", "votes.csv", "--delta", "1e-5")
        gnmax = (*common, "--mechanism", "gnmax", "--sigma", "4")
        for code, text, command in (
            (2, "missing --mechanism", common),
            (2, "missing --sigma", (*common, "--mechanism", "gnmax")),
            (2, "missing --scale", (*common, "--mechanism", "lnmax")),
            (2, "--sigma: found 4, expected none", (*common, "--mechanism", "lnmax", "--scale", "2", "--sigma", "4")),
            (2, "--scale: found 2, expected none", (*gnmax, "--scale", "2")),
            (2, "--threshold: found 2, expected none", (*gnmax, "--threshold", "2")),
            (2, "missing --threshold,", (*common, "--mechanism", "confident-gnmax", "--sigma", "4")),
            (2, "missing --threshold-sigma", (*common, "--mechanism", "confident-gnmax", "--sigma", "4", "--threshold", "2")),
            (2, "--sigma: found 0", (*common, "--mechanism", "gnmax", "--sigma", "0")),
            (2, "missing --delta", ("account", "--votes", "votes.csv", "--mechanism", "gnmax", "--sigma", "4")),
            (2, "expected at most the 2", (*gnmax, "--queries", "3")),
            (2, "--rdp-orders", (*gnmax, "--rdp-orders", "1")),
            (2, "options of a training", (*gnmax, "--steps", "3")),
            (2, "--mechanism", (*common, "--mechanism", "max")),
            (2, "missing --sanitise-noise", (*gnmax, "--sanitise-order", "8")),
            (2, "--sanitise-noise: found 4, expected --sanitise-order too", (*gnmax, "--sanitise-noise", "4")),
            (2, "--sanitise-order: found 1", (*gnmax, "--sanitise-order", "1", "--sanitise-noise", "4")),
            (2, "beta: found 0.5", (*gnmax, "--sanitise-order", "8", "--sanitise-noise", "4", "--sanitise-beta", "0.5")),
            (2, "failure: found 0.6", (*gnmax, "--sanitise-order", "8", "--sanitise-noise", "4", "--sanitise-failure", "0.6")),
            (2, "--votes", ("account", "--mechanism", "gnmax")),
            (4, "none.csv", ("account", "--votes", "none.csv", "--delta", "1e-5", "--mechanism", "gnmax", "--sigma", "4")),
        ):
            with self.subTest(text):
                self.fail_with(code, text, *command)
        for content, text in (
            ("3,1\n2,1\n", "query 2: found 3 votes, expected 4, as in the first query"),
            ("3,1\n2,1,1\n", "query 2: found 3 classes, expected 2"),
            ("3,x\n", "query 1, class 1: found \"x\", expected a whole number"),
            ("3,-1\n", "found \"-1\""),
            ("", "found no votes"),
        ):
            self.write("votes.csv", content)
            self.fail_with(4, text, *gnmax)
        (self.folder / "votes.npy").write_bytes(npy([[1.5, 2.0]], "<f8", "d"))
        self.fail_with(4, "query 1, class 0: found 1.5", "account", "--votes", "votes.npy", *gnmax[3:])


if __name__ == "__main__":
    unittest.main()
