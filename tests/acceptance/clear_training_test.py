"""clear_training on generated digits: that its baselines train on what they say, and that the noise is there.

Accuracies vary from run to run by 0.01 to 0.05 (standard deviation, four runs of each); each bound is at least five standard
deviations from what was measured: a false alarm in a million runs, if accuracies are normal.
"""

import csv
import io
import unittest

from trefoil_program import PROJECT, ProgramTest

DEMO = PROJECT / "configs" / "demo.toml"
SHORT = ("--set", "training.steps=40", "--every", "20")
LOCAL = ("--as", "local", "--set", "initialisation.method=averaging", "--set", "initialisation.steps=40",
         "--set", "initialisation.expected_batch=400", "--set", "initialisation.learning_rate=8.0",
         "--set", "initialisation.epsilon=2.9")


class ClearTraining(ProgramTest):
    def table(self, *arguments):
        return list(csv.reader(io.StringIO(self.succeed("--job", DEMO, *arguments))))

    def accuracy(self, *arguments):
        return float(self.table(*SHORT, *arguments)[-1][1])

    def test_prints_the_accuracy_of_steps(self):
        table = self.table(*SHORT)
        self.assertEqual([line[0] for line in table], ["step", "0", "20", "40"])
        self.assertLess(float(table[1][1]), 0.2)
        self.assertGreater(float(table[-1][1]), 0.8)

    def test_adds_the_noise_of_its_epsilon(self):
        little = self.accuracy("--set", "privacy.epsilon=0.05")
        self.assertLess(little, self.accuracy() - 0.1)  # 0.53 and 0.85 were measured

    def test_one_party_alone_does_worse_at_a_small_epsilon(self):
        small = ("--set", "privacy.epsilon=0.1")
        alone = self.accuracy("--as", "single-party", *small)
        self.assertLess(alone, self.accuracy(*small) - 0.05)  # 0.39 and 0.72

    def test_federated_parties_noises_add_up(self):
        small = ("--set", "privacy.epsilon=0.1")
        federated = self.accuracy("--as", "federated", *small)
        self.assertLess(federated, self.accuracy(*small) - 0.05)
        self.assertGreater(federated, 0.2)

    def test_perturbed_records_teach_little(self):
        self.assertLess(self.accuracy("--as", "local-dp"), self.accuracy() - 0.2)  # 0.12 and 0.85

    def test_local_models_know_their_own_partys_digits_only(self):
        even = {name: float(accuracy) for name, accuracy in self.table(*LOCAL)[1:]}
        fraction = {name: float(accuracy) for name, accuracy in self.table(*LOCAL, "--set", "local.split=sorted")[1:]}
        self.assertEqual(list(even), ["0", "1", "2", "average"])
        for party in "012":
            self.assertGreater(even[party], 0.6)
            self.assertLess(fraction[party], 0.5)

    def test_repeats_a_training(self):
        table = self.table(*SHORT, "--runs", "2")
        self.assertEqual([line[0] for line in table], ["step", *2 * ["0", "20", "40"]])
        self.assertGreater(min(float(table[3][1]), float(table[6][1])), 0.8)

    def test_draws_first_models_and_perturbed_records_anew_in_each_run(self):
        table = self.table(*LOCAL, "--runs", "2")
        self.assertEqual([line[0] for line in table], ["party", *2 * ["0", "1", "2", "average"]])
        self.assertNotEqual(table[1:5], table[5:])
        for drawn in (LOCAL[2:], ("--random-weights", "0.2")):  # before any step
            table = self.table(*drawn, "--set", "training.steps=1", "--runs", "3")
            self.assertGreater(len({line[1] for line in table if line[0] == "0"}), 1)

    def test_trains_at_multiples_of_the_rate_and_the_clip(self):
        table = self.table(*SHORT, "--times-rate", "1e-6", "1", "--times-clip", "1", "500")
        self.assertEqual([line[0] for line in table], ["step", *4 * ["0", "20", "40"]])
        self.assertEqual(len({line[1] for line in table[1:4]}), 1)  # weights that stay on the lattice's zero
        self.assertGreater(float(table[9][1]), 0.8)
        self.assertLess(float(table[12][1]), 0.5)  # nothing is clipped, and 500 times the noise: 0.1 to 0.2

    def test_solves_least_squares_with_the_noise_of_their_epsilon(self):
        squares = ("--as", "least-squares", "--runs", "3", "--set")
        table = self.table(*squares, "privacy.epsilon=3")
        self.assertEqual([line[0] for line in table], ["run", "1", "2", "3"])
        little = self.table(*squares, "privacy.epsilon=0.05")
        self.assertLess(float(little[1][1]), float(table[1][1]) - 0.1)
        self.assertGreater(len({line[1] for line in little[1:]}), 1)

    def test_says_what_is_missing(self):
        self.fail_with(2, "initialisation.method: found \"none\"", "--job", DEMO, "--as", "local")

    def test_refuses_vertical_partitions(self):
        self.fail_with(2, "data.partition: found \"vertical\"", "--job", PROJECT / "configs" / "adult-vertical.toml")


if __name__ == "__main__":
    unittest.main()
