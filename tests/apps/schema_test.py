#!/usr/bin/env python3
"""`trefoil schema`: what it prints of each type takes the project's own job files, and refuses what the reader refuses."""

import copy
import json
import pathlib
import re
import tomllib
import unittest

from trefoil_program import ProgramTest

CONFIGS = pathlib.Path(__file__).resolve().parents[2] / "configs"
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float)}


def errors(value, schema, at=""):
    """What a JSON Schema has against a value, as far as the program's schemas use the language."""
    if "oneOf" in schema:
        wrong = [list(errors(value, one, at)) for one in schema["oneOf"]]
        if wrong.count([]) != 1:
            yield f"{at}: {value!r} is {wrong.count([])} of {len(wrong)} alternatives"
    if "const" in schema and value != schema["const"]:
        yield f"{at}: {value!r} is not {schema['const']!r}"
    kind = schema.get("type")
    if kind and (not isinstance(value, TYPES[kind]) or kind != "boolean" and isinstance(value, bool)):
        yield f"{at}: no {kind}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{at}: {value!r} is none of {schema['enum']}"
    for bound, broken in (("minimum", lambda v, b: v < b), ("maximum", lambda v, b: v > b),
                          ("exclusiveMinimum", lambda v, b: v <= b), ("exclusiveMaximum", lambda v, b: v >= b)):
        if bound in schema and broken(value, schema[bound]):
            yield f"{at}: {value} is beyond {bound} {schema[bound]}"
    if isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        yield f"{at}: {value!r} does not match {schema['pattern']}"
    if isinstance(value, dict):
        known = schema.get("properties", {})
        yield from (f"{at}.{key}: missing" for key in schema.get("required", []) if key not in value)
        for key, inner in value.items():
            if key in known:
                yield from errors(inner, known[key], f"{at}.{key}")
            elif schema.get("additionalProperties") is False:
                yield f"{at}.{key}: unknown"
    if isinstance(value, list):
        for index, inner in enumerate(value):
            yield from errors(inner, schema.get("items", {}), f"{at}[{index}]")
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            yield f"{at}: {len(value)} elements"
        if schema.get("uniqueItems") and len({json.dumps(inner) for inner in value}) != len(value):
            yield f"{at}: one element twice"
        if "contains" in schema and all(list(errors(inner, schema["contains"])) for inner in value):
            yield f"{at}: no element as it contains"


# Every table of the party file that `init` leaves out; a file must not have both forms of [data].
OTHER_TABLES = """
[evaluation]
x = "x"
y = "y"
[ledger]
file = "l"
epsilon_cap = 2
delta = 1e-5
[log]
level = "debug"
[metrics]
listen = "127.0.0.1:9100"
[owners]
rows = [3, 4]
[pate]
queries = "q.npy"
[predict]
share = "model.share"
"""


# A line of one of the project's job files, or its beginning, and what stands in its place.
RIGHT = (
    ("pate.toml", "[pate]", "[data]\n[pate]"),
    ("pate.toml", "[pate]", '[data]\nname = "votes"\n[pate]'),
    ("imdb.toml", "classes = 2", "classes = 2\nfeatures = 0"),
    ("imdb.toml", 'split = "even"', "split = [0.2, 0.3, 0.5]"),
    ("imdb.toml", "steps = 100", 'steps = "auto"'),
)
WRONG = (
    ("pate.toml", 'name = "pate"', ""),
    ("pate.toml", "version = 1", "version = 2"),
    ("pate.toml", "teachers = [84, 83, 83]", "teachers = [0, 0, 0]"),
    ("pate.toml", "teachers = [84, 83, 83]", "teachers = [84, 83]"),
    ("pate.toml", "[pate]", '[data]\nname = "a/b"\n[pate]'),
    ("adult-average.toml", "count = [2, 2, 1]", "count = [0, 0, 0]"),
    ("ensemble-transfer.toml", "owners = [34, 33, 33]", "owners = [0, 0, 0]"),
    ("adult-histogram.toml", "confidence = 0.95", "confidence = 0.9990001"),
    ("imdb.toml", "to = [0, 1, 2]", "to = [1, 1]"),
    ("imdb.toml", "steps = 100", 'steps = "many"'),
    ("imdb.toml", 'type = "dpsgd"\nname = "imdb"', 'type = "dpsgd"\nname = "a/b"'),
    ("imdb.toml", 'split = "even"', "split = [0.2, 0.8]"),
    ("imdb.toml", "[training]", "[model]\nthreshold = 1e-7\n[training]"),
)
WRONG_LINES = (
    ('file = "l"', 'file = ""'),
    ('listen = "127.0.0.1:9100"', 'listen = "127.0.0.1"'),
    ('listen = "127.0.0.1:9100"', 'listen = "127.0.0.1:0"'),
    ('level = "debug"', 'level = "loud"'),
    ('start = "120s"', 'start = "soon"'),
    ("[metrics]", '[owner_ledgers]\nfolder = "f"\nepsilon_cap = 1\ndelta = 1e-5\nmode = "closed"\n[metrics]'),
)


class Schema(ProgramTest):
    def schema(self, *what):
        return json.loads(self.succeed("schema", *what))

    def edited(self, text, line, other):
        """The text in a file and as a table, with another line."""
        self.assertEqual(text.count("\n" + line), 1, line)
        text = text.replace("\n" + line, "\n" + other)
        return self.write("edited.toml", text), tomllib.loads(text)

    def test_takes_the_job_files_that_the_reader_takes(self):
        for name, line, other in RIGHT:
            with self.subTest(name, line=other):
                file, job = self.edited((CONFIGS / name).read_text(), line, other)
                self.succeed("plan", "--job", file)
                self.assertEqual(list(errors(job, self.schema("job", job["type"]))), [])

    def test_refuses_job_files_that_the_reader_refuses(self):
        for name, line, other in WRONG:
            with self.subTest(name, line=other):
                file, job = self.edited((CONFIGS / name).read_text(), line, other)
                self.fail_with(2, "expected", "plan", "--job", file)
                self.assertNotEqual(list(errors(job, self.schema("job", job["type"]))), [])

    def test_takes_the_projects_job_files_and_no_spoilt_ones(self):
        files = sorted(CONFIGS.glob("*.toml"))
        self.assertGreaterEqual(len(files), 14)
        for file in files:
            with self.subTest(file.name):
                job = tomllib.loads(file.read_text())
                schema = self.schema("job", job["type"])
                self.assertEqual(list(errors(job, schema)), [])
                spoilt = copy.deepcopy(job)
                spoilt["privacy"]["detla"] = spoilt["privacy"].pop("delta", 0)
                self.assertIn(".privacy.detla: unknown", list(errors(spoilt, schema)))
                spoilt = copy.deepcopy(job)
                del spoilt["version"]
                spoilt["data"] = 7
                self.assertEqual(set(errors(spoilt, schema)), {".version: missing", ".data: no object"})

    def test_takes_party_files_and_no_spoilt_ones(self):
        self.succeed("init", "--all", "--hosts", "a,b,c", "--out", "d")
        path = self.folder / "d/party-0/party.toml"
        path.write_text(path.read_text() + OTHER_TABLES)
        self.succeed("trust", "--config", path, "--peer", "1", self.folder / "d/party-1/party.crt")  # which reads it
        party = tomllib.loads(path.read_text())
        schema = self.schema("party")
        self.assertEqual(list(errors(party, schema)), [])
        for line, other in WRONG_LINES:
            with self.subTest(line=other):
                file, spoilt = self.edited(path.read_text(), line, other)
                self.fail_with(2, "expected", "trust", "--config", file, "--peer", "1", self.folder / "d/party-1/party.crt")
                self.assertNotEqual(list(errors(spoilt, schema)), [])
        party["pate"]["querys"] = party["pate"].pop("queries")
        del party["tls"]
        self.assertEqual(set(errors(party, schema)), {".pate.querys: unknown", ".tls: missing"})

    def test_every_key_has_a_sentence(self):
        for what in [("party",), ("study",), *(("job", job_type) for job_type in self.succeed("schema", "job").split())]:
            with self.subTest(what):
                pending = [self.schema(*what)]
                while pending:
                    for key, schema in pending.pop().get("properties", {}).items():
                        self.assertTrue(schema.get("description"), key)
                        pending += [schema, schema.get("items", {})]

    def test_says_which_types_there_are(self):
        self.fail_with(2, "did you mean dpsgd", "schema", "job", "dpsdg")


if __name__ == "__main__":
    unittest.main()
