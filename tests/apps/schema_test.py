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


class Schema(ProgramTest):
    def schema(self, job_type):
        return json.loads(self.succeed("schema", "job", job_type))

    def test_takes_the_projects_job_files_and_no_spoilt_ones(self):
        files = sorted(CONFIGS.glob("*.toml"))
        self.assertGreaterEqual(len(files), 14)
        for file in files:
            with self.subTest(file.name):
                job = tomllib.loads(file.read_text())
                schema = self.schema(job["type"])
                self.assertEqual(list(errors(job, schema)), [])
                spoilt = copy.deepcopy(job)
                spoilt["privacy"]["detla"] = spoilt["privacy"].pop("delta", 0)
                self.assertIn(".privacy.detla: unknown", list(errors(spoilt, schema)))
                spoilt = copy.deepcopy(job)
                del spoilt["version"]
                spoilt["data"] = 7
                self.assertEqual(set(errors(spoilt, schema)), {".version: missing", ".data: no object"})

    def test_every_key_has_a_sentence(self):
        for job_type in ("dpsgd", "predict", "histogram", "pate", "classifier-average", "ensemble-transfer"):
            with self.subTest(job_type):
                pending = [self.schema(job_type)]
                while pending:
                    for key, schema in pending.pop().get("properties", {}).items():
                        self.assertTrue(schema.get("description"), key)
                        pending += [schema, schema.get("items", {})]

    def test_says_which_types_there_are(self):
        self.fail_with(2, "did you mean dpsgd", "schema", "job", "dpsdg")


if __name__ == "__main__":
    unittest.main()
