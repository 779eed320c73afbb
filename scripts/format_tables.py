"""Keeps the keys of job files and of the party file in docs/reference/formats.md, and those of a study in
docs/reference/deposits.md, as the program declares them (`trefoil schema`).

Usage: scripts/format_tables.py PROGRAM [--check]
  PROGRAM   the built trefoil
  --check   change nothing; fail if the document holds something else, or lacks a type of job
"""
import json
import pathlib
import re
import subprocess
import sys
import textwrap

TOP = pathlib.Path(__file__).resolve().parent.parent
DOCUMENT = TOP / "docs/reference/formats.md"
DOCUMENTS = (DOCUMENT, TOP / "docs/reference/deposits.md")
BLOCK = re.compile(r"(<!-- made by scripts/format_tables.py of ([\w-]+): begin -->\n\n).*?(\n<!-- .*?: end -->\n)", re.DOTALL)
PAGES = {path.name: path for path in TOP.glob("docs/**/*.md")}
OF_STORE = ' Only with data.source "store".'
SPACE = "\0"  # where a line must not be broken


def number(value) -> str:
    mantissa, exponent = f"{abs(value):.0e}".split("e")
    sign = "−" if value < 0 else ""
    if mantissa == "1" and abs(int(exponent)) >= 4 and float(f"1e{exponent}") == abs(value):
        return f"{sign}10^{exponent.lstrip('+0').replace('-0', '−').replace('-', '−')}"
    return f"{sign}{abs(value):g}" if isinstance(value, float) else f"{sign}{abs(value)}"


def shown(value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return number(value)
    return f"`{value}`" if isinstance(value, str) else f"`{json.dumps(value)}`"


def type_of(schema: dict) -> str:
    if "oneOf" in schema:
        return " or ".join(type_of(one) for one in schema["oneOf"])
    if "const" in schema:
        return "integer"
    if isinstance(schema["type"], list):
        return " or ".join(type_of({**schema, "type": one}) for one in schema["type"])
    if schema["type"] == "array":
        count = schema.get("maxItems") if schema.get("maxItems") == schema.get("minItems") else None
        return (f"{count} " if count else "") + type_of(schema["items"]) + "s"
    if schema["type"] == "object":
        return "table of strings"
    return schema.get("x-type", schema["type"])


def range_of(schema: dict) -> str:
    if "const" in schema:
        return shown(schema["const"])
    if "enum" in schema:
        values = [shown(value) for value in schema["enum"]]
        return "" if all(value in schema.get("description", "") for value in values) else ", ".join(values)
    if schema.get("type") == "array":
        parts = [range_of(schema["items"]), "different" if schema.get("uniqueItems") else "",
                 "at least one" if schema.get("minItems") == 1 else ""]
        return ", ".join(part for part in parts if part)
    if "minimum" in schema and schema["minimum"] == schema.get("maximum"):
        return number(schema["minimum"])
    if "minimum" in schema and "maximum" in schema:
        return f"{number(schema['minimum'])} … {number(schema['maximum'])}"
    words = {"exclusiveMinimum": "above", "minimum": "at least", "exclusiveMaximum": "below", "maximum": "at most"}
    return ", ".join(f"{word} {number(schema[bound])}" for bound, word in words.items() if bound in schema)


def glued(text: str) -> str:
    """The text with links to the pages that it names, and without blanks at which a line must not be broken."""
    def link(match):
        return f"[{match[1]}](" + ("" if (page := PAGES[match[1]]).parent == DOCUMENT.parent else f"../{page.parent.name}/") + f"{match[1]})"

    text = re.sub(r"`([\w.-]+\.md)`", lambda match: link(match) if match[1] in PAGES else match[0], text)
    text = re.sub(r"`[^`]*`", lambda match: match[0].replace(" ", SPACE), text)
    return re.sub(r" ([+−…]) ", rf"{SPACE}\1{SPACE}", text)


def wrapped(text: str, indent: str = "") -> str:
    lines = textwrap.wrap(glued(text), 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines).replace(SPACE, " ") + "\n"


def key_line(key: str, schema: dict, required: bool) -> str:
    about = [type_of(schema)]
    if required or schema.get("x-required"):
        about.append("required")
    elif "x-default" in schema:
        about.append(f"default {schema['x-default']}")
    elif "default" in schema:
        about.append(f"default {shown(schema['default'])}")
    meaning = ". ".join(part for part in (range_of(schema), schema.get("description", "")) if part)
    return wrapped(f"- `{key}` ({', '.join(about)}): {meaning}", "  ")


def of_any_source(schema: dict) -> dict:
    return {**schema, "description": schema.get("description", "").replace(OF_STORE, "")}


def lines_of(schema: dict, name: str, known: dict, of_store: bool = False) -> str:
    """The keys of an object, then its tables. What is as in a known schema is not said again: a key or table of the document,
    and what only deposits have, as the tables `of_store`."""
    same, keys, tables = {}, "", ""
    for key, inner in schema["properties"].items():
        path = f"{name}.{key}" if name else key
        table = inner.get("items", inner) if inner.get("type") == "array" else inner
        is_table = "properties" in table
        header = f"[[{path}]]" if table is not inner else f"[{path}]"
        only = OF_STORE in inner.get("description", "")
        origin, other = known.get(path, ("", {}))
        if (not name or only or of_store) and of_any_source(other) == of_any_source(inner) and (only or other == inner):
            same.setdefault((origin, only), []).append(f"`{header if is_table else key}`")
        elif is_table:
            tables += "\n" + wrapped(f"**{header}** {inner.get('description', '')}".strip()) + "\n" + lines_of(table, path, known, only)
        else:
            keys += key_line(key, inner, key in schema.get("required", []))
    for (origin, only), those in same.items():
        keys = wrapped(f"- {', '.join(those)}: as of type `{origin}`" + (";" + OF_STORE[:-1].lower() if only else ""), "  ") + keys
    return keys + tables


def take_known(table: dict, *origins: tuple[str, str, dict]) -> str:
    """Takes out of an object the keys that tables of jobs have alike (type, table, its schema), and says so."""
    text = ""
    for name, header, other in origins:
        same = [key for key in table["properties"] if table["properties"][key] == other["properties"].get(key)]
        for key in same:
            del table["properties"][key]
        text += wrapped("- " + ", ".join(f"`{key}`" for key in same) + f": as in `{header}` of a job of type `{name}` (`formats.md`)", "  ")
    return text


def study_lines(study: dict, jobs: dict) -> str:
    """The keys of a study, without those of its tables that are a job's."""
    tables, of_training, of_statistics = study["properties"], jobs["dpsgd"]["properties"], jobs["statistics"]["properties"]
    alike = {"columns": take_known(tables["columns"], ("dpsgd", "[data]", of_training["data"])),
             "statistics": take_known(tables["statistics"], ("statistics", "[data]", of_statistics["data"]),
                                      ("statistics", "[statistics]", of_statistics["statistics"]))}
    if all(tables["features"][key] == of_training["features"][key] for key in ("properties", "required") if key in of_training["features"]):
        tables["features"] = {"properties": {}, "description": "As of a job of type `dpsgd`, beside `[columns]`."}
    lines = lines_of(study, "", {})
    for key, about in alike.items():
        lines = re.sub(rf"(?m)(^\*\*\[{key}\]\*\*[^\n]*\n(?:[^\n]+\n)*\n)", lambda match: match[1] + about, lines)
    return re.sub(r"\n{3,}", "\n\n", lines).lstrip("\n")


def main() -> int:
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2

    def ask(*what):
        return subprocess.run([sys.argv[1], "schema", *what], check=True, capture_output=True, text=True).stdout

    schemas = {name: json.loads(ask("job", name)) for name in ask("job").split()}
    blocks, known = {}, {}
    for name, schema in schemas.items():
        blocks[name] = lines_of(schema, "", known).lstrip("\n")
        for key, inner in schema["properties"].items():
            known.setdefault(key, (name, inner))
            for part, within in inner.get("properties", {}).items():
                known.setdefault(f"{key}.{part}", (name, within))
    blocks["party"] = lines_of(json.loads(ask("party")), "", {}).lstrip("\n")
    blocks["study"] = study_lines(json.loads(ask("study")), schemas)

    texts = {page: page.read_text() for page in DOCUMENTS}
    there = {match[2] for text in texts.values() for match in BLOCK.finditer(text)}
    found = [f"docs/reference has no block of {name}" for name in blocks.keys() - there]
    for page, text in texts.items():
        made = BLOCK.sub(lambda match: match[1] + blocks[match[2]] + match[3], text)
        if "--check" not in sys.argv:
            page.write_text(made)
        elif made != text:
            found.append(f"docs/reference/{page.name} is stale; run scripts/format_tables.py build/bin/trefoil")
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
