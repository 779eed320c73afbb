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


def found_in(text, name="some.cpp"):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / name
        path.write_text(text)
        check = check_layers.check_types_in_python if path.suffix == ".py" else check_layers.check_types
        return list(check(pathlib.Path(folder), path, TYPES))


class CheckLayers(unittest.TestCase):
    def test_knows_every_type(self):
        folders, names = TYPES
        self.assertLessEqual({"dpsgd", "predict", "pate", "histogram", "average", "transfer"}, folders)
        self.assertEqual(len(folders), len(names), TYPES)

    def test_finds_whatever_names_a_type_or_asks_for_one(self):
        folders, names = TYPES
        texts = [f'#include "jobs/{folder}/settings.h"' for folder in folders] + [f'x = "{name}";' for name in names]
        texts += ["jobs::DpsgdSettings job;", "auto job = jobs::ReadHistogramSettings(root);", "if (job.type() == kind) {}",
                  "if (summary.type != other) {}", "switch (job->type()) {", "HistogramSettings job;", "read(jobs::kDpsgdType);",
                  "x = kLeastSquaresType.name;", "#include <jobs/sum/job.h>", '#include "../jobs/sum/job.h"',
                  "if (std::strcmp(job.type(), kind) == 0) {}", "if (std::string(job.type()) == kind) {}", "if (kind == job.type()) {}",
                  "if (kind == summary.type) {}", "if (kind != std::string_view(job->type())) {}", "if (job_type == kind) {}",
                  "if (type_ == kind) {}", "if (std::string(job.type()).starts_with(kind)) {}", "if (type.compare(kind) == 0) {}",
                  '{R"(dpsgd)", 1}', 'x = "results.dpsgd";', 'x = "/results/dpsgd/steps";', r'x = "{\"type\":\"dpsgd\"}";',
                  'program.add_subcommand("dpsgd", "What ...");', 'x = "http://a"; y = "dpsgd";']
        for text in texts:
            self.assertEqual(len(found_in("int x;\n" + text)), 1, text)

    def test_leaves_the_rest_alone(self):
        for text in ('#include "jobs/evaluation/classify.h"', 'program.add_subcommand(\n      "predict", "What ...");', "// a dpsgd job",
                     "jobs::PredictionsCsv(schema, classes);", 'json["type"] = job.type();', '#include "ml/dpsgd/training.h"',
                     'x = "the sum of all";', "if (lock.l_type != F_UNLCK) {}", "x = '\"'; // \"dpsgd\""):
            self.assertEqual(found_in(text), [], text)

    def test_finds_types_in_python(self):
        for text in ('if job.type == kind: pass', 'if kind != job.type: pass', 'if job.type in kinds: pass', 'if keys["type"] == kind: pass',
                     'x = keys.get("histogram")', 'x = keys["least-squares"]', 'x = f"{kind}: results.dpsgd"', "x = Job.least_squares(name=1)",
                     "match job.type:\n  case _: pass"):
            self.assertEqual(len(found_in(text, "some.py")), 1, text)

    def test_leaves_the_rest_of_python_alone(self):
        for text in ('"""A job of type "dpsgd"."""', '# a job of type "dpsgd"', 'x = "a session makes noisy sums"', "x = tensor.device.type == 1",
                     'tree = {"type": job.type}', "x = Job.from_dict(keys)"):
            self.assertEqual(found_in(text, "some.py"), [], text)

    def findings(self, **files):
        """What is said of a project with every folder, one type of job, and these files."""
        all_files = {f"{layer}/CMakeLists.txt": "" for layer in check_layers.MAY_USE}
        all_files |= {"jobs/dpsgd/job.cpp": 'const JobType kDpsgdType{"dpsgd"', ".clang-tidy": (PROJECT / ".clang-tidy").read_text(), **files}
        with tempfile.TemporaryDirectory() as folder:
            for name, text in all_files.items():
                path = pathlib.Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            found = check_layers.findings(pathlib.Path(folder))
            return [line for line in found if not line.endswith("/: found no source file")]

    def test_looks_at_all_that_is_above_jobs(self):
        self.assertEqual(self.findings(), [])
        for name in ("python/core/zz.cpp", "python/trefoil/zz.py", "apps/zz.h", "runtime/zz/zz.cpp", "deposit/zz.cpp", "api/zz.cpp"):
            found = self.findings(**{name: 'x = "dpsgd"\n'})
            self.assertEqual(len(found), 1, found)
            self.assertRegex(found[0], f"^{name}:.*found .*dpsgd")

    def test_refuses_a_folder_that_it_does_not_know(self):
        for name in ("newlayer/zz.cpp", "newlayer/inner/zz.h", "newlayer/zz.py"):
            found = self.findings(**{name: ""})
            self.assertEqual([line.partition(",")[0] for line in found], ["newlayer/: found sources"])
        for name in ("newlayer/README.md", "build-x/zz.cpp", "runs/zz.cpp", ".cache/zz.cpp", "examples/zz.cpp", "scripts/zz.py"):
            self.assertEqual(self.findings(**{name: ""}), [], name)

    def test_compares_the_folders_that_clang_tidy_reports_on(self):
        text = (PROJECT / ".clang-tidy").read_text()
        for other, said in ((text.replace("|deposit|", "|"), "missing deposit"), (text.replace("|deposit|", "|deposit|old|"), "found old"),
                            ("", "missing api")):
            self.assertTrue(self.findings(**{".clang-tidy": other})[0].startswith(f".clang-tidy: HeaderFilterRegex: {said}, expected api"))

    def test_finds_no_test_in_the_program(self):
        self.assertRegex(self.findings(**{"tests/support/run_parties.h": "", "ml/zz.cpp": '#include "tests/support/run_parties.h"'})[0],
                         "^ml/zz.cpp:1: found tests/, expected one of")


if __name__ == "__main__":
    unittest.main()
