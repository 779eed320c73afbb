"""What scripts/check_layers.py finds of types of jobs above jobs/. Usage: check_layers_test.py"""
import importlib.util
import pathlib
import tempfile
import unittest

PROJECT = pathlib.Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("check_layers", PROJECT / "scripts" / "check_layers.py")
check_layers = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_layers)
TYPES = check_layers.types_of_jobs(PROJECT)


def found_in(text):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "some.cpp"
        path.write_text(text)
        return list(check_layers.check_types(pathlib.Path(folder), path, TYPES))


class CheckLayers(unittest.TestCase):
    def test_knows_every_type(self):
        folders, names = TYPES
        self.assertLessEqual({"dpsgd", "predict", "pate", "histogram", "average", "transfer"}, folders)
        self.assertEqual(len(folders), len(names), TYPES)

    def test_finds_whatever_names_a_type_or_asks_for_one(self):
        folders, names = TYPES
        texts = [f'#include "jobs/{folder}/settings.h"' for folder in folders] + [f'x = "{name}";' for name in names]
        texts += ["jobs::DpsgdSettings job;", "auto job = jobs::ReadHistogramSettings(root);", "if (job.type() == kind) {}",
                  "if (summary.type != other) {}", "switch (job->type()) {"]
        for text in texts:
            self.assertEqual(len(found_in("int x;\n" + text)), 1, text)

    def test_leaves_the_rest_alone(self):
        for text in ('#include "jobs/evaluation/classify.h"', 'program.add_subcommand(\n      "predict", "What ...");', "// a dpsgd job",
                     "jobs::PredictionsCsv(schema, classes);", 'json["type"] = job.type();'):
            self.assertEqual(found_in(text), [], text)


if __name__ == "__main__":
    unittest.main()
