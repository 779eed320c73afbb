"""Installs a build tree to a temporary folder, and there builds and runs the programs of examples/embed.

Usage: install_test.py BUILD [--hide-sources]
  BUILD           a build folder, all of it built
  --hide-sources  rename the source tree away meanwhile, so that nothing of it can be used. Only where nobody else uses it.
Exit code: 0 all held.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROJECT = pathlib.Path(__file__).resolve().parents[2]
HIDE = "--hide-sources" in sys.argv
BUILD = pathlib.Path(next((word for word in sys.argv[1:] if not word.startswith("-")), PROJECT / "build")).resolve()
MOST_HEADERS = 10


def run(*command, cwd=None, **environment):
    """What a command prints; AssertionError with all of it where it fails."""
    done = subprocess.run(command, cwd=cwd, env={**os.environ, **environment}, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.prefix = cls.folder / "installed"
        run("cmake", "--install", BUILD, "--prefix", cls.prefix)
        cls.libraries = next(cls.prefix.rglob("libtrefoil.a")).parent
        cls.examples = shutil.copytree(PROJECT / "examples/embed", cls.folder / "embed")
        if HIDE:
            away = PROJECT.with_name(PROJECT.name + ".away")
            PROJECT.rename(away)
            cls.addClassCleanup(away.rename, PROJECT)

    def expect_results(self, folder):
        self.assertRegex(run(folder / "own_protocol"), r"^party 1 wins and pays 1980\.25, in \d+ rounds\n$")
        accuracy, outsider, insider = map(float, re.match(
            r"accuracy ([\d.]+) %, epsilon ([\d.]+) outsider, ([\d.]+) insider, ", run(folder / "train")).groups())
        self.assertGreater(accuracy, 90)
        self.assertLess(outsider, insider)
        self.assertLessEqual(insider, 3)

    def test_find_package_gives_all_that_the_examples_need(self):
        build = self.folder / "cmake"
        run("cmake", "-S", self.examples, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}", "-DCMAKE_BUILD_TYPE=Release",
            "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
        for entry in json.loads((build / "compile_commands.json").read_text()):
            self.assertNotIn(str(PROJECT), entry["command"])
        run("cmake", "--build", build, "--parallel", "2")
        self.expect_results(build)

    def test_pkg_config_gives_the_same(self):
        build = self.folder / "pkg_config"
        build.mkdir()
        flags = run("pkg-config", "--cflags", "--libs", "trefoil", PKG_CONFIG_PATH=str(self.libraries / "pkgconfig")).split()
        for source in sorted(self.examples.glob("*.cpp")):
            run("c++", "-std=c++20", "-O2", source, "-o", build / source.stem, *flags)
        self.expect_results(build)

    def test_each_header_stands_alone(self):
        headers = sorted((self.prefix / "include").rglob("*.h"))
        self.assertLessEqual(len(headers), MOST_HEADERS)
        self.assertTrue(headers)
        for header in headers:
            source = self.folder / "one.cpp"
            source.write_text(f'#include "trefoil/{header.name}"\n')
            run("c++", "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wconversion", "-Werror",
                f"-I{self.prefix / 'include'}", "-isystem", "/usr/include/eigen3", source)

    def test_no_randomness_of_tests_is_in_what_is_built(self):
        """Copies that were inlined have no name: scripts/check_layers.py lets nothing of tests/ be included."""
        def names(file, pattern):
            return re.findall(pattern, run("nm", "--demangle", "--defined-only", file))
        built = [self.libraries / "libtrefoil.a", self.prefix / "bin/trefoil", *BUILD.glob("python/trefoil/_core*.so")]
        for file in built + [BUILD / f"lib/libtrefoil_{part}.a" for part in ("apps", "bench", "deposit")]:
            self.assertTrue(names(file, "trefoil::"), file)
            self.assertEqual(names(file, ".*Insecure.*"), [], file)
        self.assertTrue(names(BUILD / "bin/mpc_test", "Insecure"))

    def test_the_program_runs(self):
        self.assertRegex(run(self.prefix / "bin/trefoil", "--version"), r"^trefoil \d+\.\d+\.\d+\n$")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
