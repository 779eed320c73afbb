"""Predictions by parties of two machines each, which mpirun starts. Skipped (code 77) without MPI."""

import csv
import gzip
import json
import random
import re
import struct

from average_test import JOB as AVERAGE_JOB
from kept_models import PREDICT_JOB
from parties_of_ranks import PARTIES, RANKS, PartiesOfRanks, main
from trefoil_program import TINY_JOB, free_base_port

CLIENT = 1
ROWS = 120  # of the client's file, fewer than the job declares: ranks have 65 and 55 of them
DECLARED = 130


class RankPredict(PartiesOfRanks):
    def keep_model(self, job, *options):
        """Trained by one machine a party, and released to nobody."""
        self.write("training.toml", job)
        self.succeed("local", "--job", "training.toml", "--out", "kept", "--set", "release.to=[]", *options)
        run = json.loads((self.folder / "kept/record.json").read_text())["run_id"]
        self.write("job.toml", PREDICT_JOB.format(run=run, client=CLIENT, rows=DECLARED, scores="true"))

    def read(self, path):
        """Labels, and the scores of all rows."""
        with open(self.folder / path) as file:
            lines = list(csv.reader(file))[1:]
        self.assertEqual([int(line[0]) for line in lines], list(range(1, ROWS + 1)))
        return [line[1] for line in lines], [[float(score) for score in line[2:]] for line in lines]

    def check(self, rows, within=0):
        """The ranks of the client say what one machine does, scores `within` that, and all ranks of all parties take part."""
        prediction = ("local", "--job", "job.toml", "--model", "kept", "--data", rows, "--out")
        self.succeed(*prediction, "one")
        self.succeed(*prediction, "d", "--prepare", "--ranks", RANKS, "--base-port", free_base_port(3 * RANKS))
        codes, outputs = self.finish([self.start_party(party) for party in PARTIES])
        self.assertEqual(codes, [0, 0, 0], outputs)
        labels, scores = self.read(f"one/party-{CLIENT}/out/predictions.csv")
        self.assertGreater(len(set(labels)), 1)
        found_labels, found_scores = self.read(f"r{CLIENT}/predictions.csv")
        for label, found, one, two in zip(labels, found_labels, scores, found_scores, strict=True):
            for a, b in zip(one, two, strict=True):
                self.assertAlmostEqual(a, b, delta=within)
            if not within or sorted(one)[-1] - sorted(one)[-2] > 2 * within:
                self.assertEqual(found, label)
        for party in PARTIES:
            self.assertEqual((self.folder / f"r{party}/predictions.csv").exists(), party == CLIENT)
            summary = self.summary(f"r{party}")
            self.assertEqual(summary["ranks"], RANKS)
            self.assertEqual(summary["epsilon_insider"], self.summary("one")["epsilon_insider"])
            log = (self.folder / f"r{party}/party.log").read_text()
            sent = [int(count) for count in re.findall(r"rank \d: (\d+) bytes sent", log)]
            self.assertEqual((len(sent), sum(sent)), (RANKS, summary["bytes_sent"]))

    def keep_digits(self, *options):
        """A training's model; returns the file with the client's rows."""
        self.keep_model(TINY_JOB, *options)
        with gzip.open(self.folder / "kept/test/t10k-images-idx3-ubyte.gz") as file:
            images = file.read(16 + ROWS * 784)
        rows = self.folder / "rows-idx3-ubyte"
        rows.write_bytes(images[:4] + struct.pack(">I", ROWS) + images[8:])
        return rows

    def test_by_a_training(self):
        self.check(self.keep_digits())

    def test_by_a_network(self):
        """Which rounds by masks between its layers: in four runs scores of up to 7 moved by 3e-5 at most."""
        self.check(self.keep_digits("--set", "model.hidden=[5]"), within=1e-3)

    def test_by_an_average(self):
        """A model of another type than a training's, which ranks above 0 are told."""
        source = random.Random(3)
        rows = [(source.uniform(-0.6, 0.6), source.uniform(-0.6, 0.6)) for _ in range(ROWS)]
        text = "a,b,c\n" + "".join(f"{a:.3f},{b:.3f},{'yes' if a + 0.3 * b > 0.1 else 'no'}\n" for a, b in rows)
        (self.folder / "points").mkdir()
        self.write("points/train.csv", text)
        self.keep_model(AVERAGE_JOB, "--data", "points", "--set", "local.owner_rows=[30, 40, 50]")
        self.check(self.write("rows.csv", text))


if __name__ == "__main__":
    main()
