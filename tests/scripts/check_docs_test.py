"""What scripts/check_docs.py finds. Usage: check_docs_test.py"""
import importlib.util
import pathlib
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check_docs.py"
spec = importlib.util.spec_from_file_location("check_docs", SCRIPT)
check_docs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_docs)

OTHER = '# Other\n## A part (`x`)\n**Said in bold.** And so on.\n'


class CheckDocs(unittest.TestCase):
    def found(self, text, name="docs/one.md", **files):
        """What is said of a project of docs/one.md, docs/other.md and ml/step.h, without line numbers."""
        with tempfile.TemporaryDirectory() as folder:
            project = pathlib.Path(folder).resolve()
            for path, content in {"docs/other.md": OTHER, "ml/step.h": "void Step();\n", name: text, **files}.items():
                (project / path).parent.mkdir(parents=True, exist_ok=True)
                (project / path).write_text(content)
            return [what for path, text in check_docs.files(project) for _, what in check_docs.findings(project, path, text)]

    def test_measures_lines_but_those_that_a_script_makes(self):
        wide = "é" * 120
        self.assertEqual(self.found(wide), [])
        self.assertEqual(self.found(wide + "x"), ["found 121 columns, expected at most 120"])
        made = f"<!-- made by scripts/x.py: begin -->\n{wide}x\n<!-- made by scripts/x.py: end -->\n"
        self.assertEqual(self.found(made), [])
        self.assertEqual(len(self.found(made + wide + "x")), 1)

    def test_follows_links_to_files_and_headings(self):
        self.assertEqual(self.found("[a](other.md) [b](other.md#a-part-x) [c](https://example.org/none.md)"), [])
        self.assertEqual(self.found("[a](../other.md)"), ["found a link to ../other.md, which is not there"])
        self.assertEqual(self.found("[a](other.md#none)"), ["found a link to other.md#none, which has no such heading"])

    def test_finds_headings_that_a_document_or_a_comment_names(self):
        self.assertEqual(self.found('[other](other.md), "A part"; [other](other.md), "Said in bold"'), [])
        self.assertEqual(self.found('[other](other.md), "Another\npart"'), ['found other.md, "Another part", which is no heading there'])
        self.assertEqual(self.found('/// As docs/other.md, "A\n/// part", says.', "dp/a.h"), [])
        self.assertEqual(len(self.found('/// As docs/other.md, "No\n/// part", says.', "dp/a.h")), 1)

    def test_finds_files_that_are_not_there(self):
        for name in ("`ml/step.h`", "`ml/`", "`ml/st*.h`", "`ml/step`", "`ml/NAME.h`", "`data/of-a-reader.csv`", "`else/where.h`"):
            self.assertEqual(self.found(name), [], name)
        self.assertEqual(self.found("`ml/other.h`"), ["found ml/other.h, which is not there"])
        self.assertEqual(self.found("// as ml/other.h", "dp/a.h"), ["found ml/other.h, which is not there"])
        self.assertEqual(self.found("`ml/other.h`", "CHANGELOG.md"), [])

    def test_wants_every_document_in_the_index(self):
        self.assertEqual(self.found("", "docs/howto/one.md", **{"docs/README.md": "[one](howto/one.md)"}), [])
        self.assertEqual(self.found("", "docs/howto/one.md", **{"docs/README.md": ""}), ["found no line of it in docs/README.md"])
        self.assertEqual(self.found("", "docs/adr/0001-one.md", **{"docs/README.md": ""}), [])

    def test_wants_every_folder_in_the_table_of_folders(self):
        table = "| folder | |\n|---|---|\n| `ml/`, `ml/plan/` | `dp/` |\n| `jobs/TYPE/` | |\n\n`net/`\n"
        said = "docs/explanation/architecture.md: found no line of {}/ in the table of folders"
        for names, missing in ((["ml/a.h", "ml/plan/a.cpp", "jobs/sum/job.cpp", "jobs/sum/a.h", "tests/ml/a.cpp", "dp/README.md"], []),
                               (["dp/a.h"], ["dp"]), (["net/a.cpp", "ml/plan/x/a.h"], ["ml/plan/x", "net"]),
                               (["jobs/sum/job.cpp", "jobs/sum/x/a.h", "jobs/records/a.h"], ["jobs/records", "jobs/sum/x"])):
            with tempfile.TemporaryDirectory() as folder:
                for name, text in {"docs/explanation/architecture.md": table, **dict.fromkeys(names, "")}.items():
                    path = pathlib.Path(folder) / name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(text)
                self.assertEqual(list(check_docs.check_folders(pathlib.Path(folder))), [said.format(one) for one in missing])

    def test_compares_the_two_places_of_the_version(self):
        for citation, said in (("version: 1.2.0  # as", []), ("version: 1.2.1", ["CITATION.cff: found version 1.2.1, expected 1.2.0 as in CMakeLists.txt"]),
                               ("cff-version: 1.2.0", ["CITATION.cff: found version none, expected 1.2.0 as in CMakeLists.txt"])):
            with tempfile.TemporaryDirectory() as folder:
                project = pathlib.Path(folder)
                (project / "CITATION.cff").write_text(f"type: software\n{citation}\n")
                (project / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(trefoil VERSION 1.2.0 LANGUAGES CXX)\n")
                self.assertEqual(list(check_docs.check_version(project)), said)

    def test_finds_names_that_a_file_does_not_have(self):
        self.assertEqual(self.found("`Step` (`ml/step.h`)"), [])
        self.assertEqual(self.found("`Stop` (`ml/step.h`)"), ["found Stop in ml/step.h, which does not have it"])


if __name__ == "__main__":
    unittest.main()
