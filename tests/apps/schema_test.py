#!/usr/bin/env python3
"""`trefoil schema`: what it prints of each type takes the project's own job files, and refuses what the reader refuses."""

import copy
import json
import pathlib
import tomllib
import unittest

from trefoil_program import ProgramTest

CONFIGS = pathlib.Path(__file__).resolve().parents[2] / "configs"
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float)}


def errors(value, schema, at=""):
    """What a JSON Schema has against a value, as far as the program's schemas use the language."""
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
    if isinstance(value, dict):
        known = schema.get("properties", {})
        yield from (f"{at}.{key}: missing" for key in schema.get("required", []) if key not in value)
        for key, inner in value.items():
            if key in known:
                yield from errors(inner, known[key], f"{at}.{key}")
            elif schema.get("additionalProperties") is False:
                yield f"{at}.{key}: unknown"
    if isinstance(value, list) and "items" in schema:
        for index, inner in enumerate(value):
            yield from errors(inner, schema["items"], f"{at}[{index}]")


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


class Schema(ProgramTest):
    def schema(self, *what):
        return json.loads(self.succeed("schema", *what))

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
        party["pate"]["querys"] = party["pate"].pop("queries")
        del party["tls"]
        self.assertEqual(set(errors(party, schema)), {".pate.querys: unknown", ".tls: missing"})

    def test_every_key_has_a_sentence(self):
        types = ("dpsgd", "predict", "histogram", "pate", "classifier-average", "ensemble-transfer")
        for what in [("party",), *(("job", job_type) for job_type in types)]:
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
