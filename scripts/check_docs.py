#!/usr/bin/env python3
"""Checks the documents: width, links, and the files and sections that documents and sources name.

Usage: scripts/check_docs.py [PROJECT]. Prints one line per finding; exit code 0 if there is none, 1 otherwise.
- No line of a document is wider than 120 columns, but for those that a script makes (between its markers).
- A link leads to a file that is there, and to a heading of it; so does `FILE.md, "Heading"`, in comments of sources, too.
- A file of the project that stands in backticks is there. The changelog, which tells of what was, may name others.
- Of `NAME` (`FILE`) in a document, the file has the name.
- docs/README.md, the index, has every document but decisions.
- The table of docs/explanation/architecture.md names every folder of the program that has sources.
- CITATION.cff has the version of CMakeLists.txt, which has it for all else.
"""

import pathlib
import re
import sys

WIDTH = 120
SOURCES = {".cpp", ".h", ".inc", ".py", ".sh", ".cmake", ".txt", ".toml", ".yaml", ".yml", ""}
NOT_OURS = re.compile(r"\.git|build.*|runs|corpus|__pycache__")
ARCHITECTURE = "docs/explanation/architecture.md"
# Folders of the project in which a document may name files that only a reader has.
READERS_OWN = ("data/",)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
SECTION = re.compile(r'(?:\]\(|\b)([\w./-]+\.md)\)?\s*(?:,|\()\s*((?:"[^"]+"(?:, | and )?)+)')
IN_BACKTICKS = re.compile(r"`([A-Za-z.][\w.-]*/[\w./*{},-]*)`")
DEFINED = re.compile(r"`(\w+)`\s+\(`([\w/.-]+\.(?:h|cpp|py))`")
IN_SOURCE = re.compile(r"(?<![\w/.{}$-])([a-z]\w*/[\w/-]+\.(?:h|cpp|inc|py|sh|md))\b")


def files(project):
    """(path, text) of every document and source."""
    pending = [project]
    while pending:
        for path in sorted(pending.pop().iterdir()):
            if NOT_OURS.fullmatch(path.name) or path.is_symlink():
                continue
            if path.is_dir():
                pending.append(path)
            elif path.suffix == ".md" or path.suffix in SOURCES:
                try:
                    yield path, path.read_text()
                except UnicodeDecodeError:
                    pass


def plain(heading):
    return re.sub(r"\s+", " ", heading.replace("`", "")).strip().rstrip(".:")


def headings(path, text):
    """Headings, and the words in bold that begin a paragraph or an item."""
    found = re.findall(r"^#+ +(.*)$", text, re.MULTILINE)
    found += re.findall(r"^(?:[-*] |\d+\. )?(?:\*\*|\*)([^*]+)\*", text, re.MULTILINE)
    return {plain(re.sub(r" \(.*\)$", "", one)).lower() for one in found} | {plain(one).lower() for one in found}


def slugs(text):
    """As GitHub makes them of headings."""
    return {re.sub(r"[^\w\- ]", "", one.lower()).strip().replace(" ", "-") for one in re.findall(r"^#+ +(.*)$", text, re.MULTILINE)}


def check_width(text):
    made = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("<!-- made by"):
            made = line.rstrip().endswith("begin -->")
        elif len(line) > WIDTH and not made:
            yield number, f"found {len(line)} columns, expected at most {WIDTH}"


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def check_links(project, path, text):
    for match in LINK.finditer(text):
        target, _, anchor = match[1].partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        file = (path.parent / target).resolve() if target else path
        if not file.exists():
            yield line_of(text, match.start()), f"found a link to {target}, which is not there"
        elif anchor and anchor not in slugs(file.read_text()):
            yield line_of(text, match.start()), f"found a link to {match[1]}, which has no such heading"


def check_sections(project, path, text):
    """FILE.md, "Heading": in a document beside it, in a source from the project's top."""
    document = path.suffix == ".md"
    joined = text if document else re.sub(r"(?m)\n[ \t]*(///?|#)[ \t]*", lambda found: "\n" + " " * (len(found[0]) - 1), text)
    for match in SECTION.finditer(joined):
        file = ((path.parent if document else project) / match[1]).resolve()
        if not document and not match[1].startswith("docs/"):
            continue
        if not file.is_file():
            yield line_of(joined, match.start()), f"found {match[1]}, which is not there"
            continue
        there = headings(file, file.read_text())
        for title in re.findall(r'"([^"]+)"', match[2]):
            if plain(title).lower() not in there:
                yield line_of(joined, match.start()), f'found {match[1]}, "{plain(title)}", which is no heading there'


def is_there(project, name):
    if name.endswith((".h", ".cpp", ".py", ".sh", ".md")) or not name.startswith(READERS_OWN):
        pattern = re.sub(r"[A-Z]{2,}(?=[_./]|$)|\{[^}]*\}", "*", name.rstrip("/.")) if "README" not in name else name
        return any(True for _ in project.glob(pattern)) or any(True for _ in project.glob(pattern + ".*"))
    return True


def check_named(project, text, pattern):
    """Files of the project's folders; what stands in a web address is another's."""
    ours = {path.name for path in project.iterdir() if path.is_dir() and not NOT_OURS.fullmatch(path.name)}
    for match in pattern.finditer(text):
        address = "://" in text[text.rfind("\n", 0, match.start()) + 1:match.start()]
        if match[1].split("/")[0] in ours and not address and not is_there(project, match[1]):
            yield line_of(text, match.start()), f"found {match[1]}, which is not there"


def check_defined(project, text):
    for match in DEFINED.finditer(text):
        file = project / match[2]
        if file.is_file() and not re.search(rf"\b{match[1]}\b", file.read_text()):
            yield line_of(text, match.start()), f"found {match[1]} in {match[2]}, which does not have it"


def check_index(project, path):
    index = project / "docs" / "README.md"
    kind = path.relative_to(project).parts
    if len(kind) == 3 and kind[0] == "docs" and kind[1] != "adr" and f"({kind[1]}/{kind[2]})" not in index.read_text():
        yield 1, "found no line of it in docs/README.md"


def check_folders(project):
    """Of jobs/ a folder with a job.cpp is jobs/TYPE/."""
    table = re.findall(r"^\| (`.*?) \|", (project / ARCHITECTURE).read_text(), re.MULTILINE)
    named = set(re.findall(r"`([\w/]+)/`", "\n".join(table)))
    there = {path.parent.relative_to(project) for path, _ in files(project) if path.suffix in {".h", ".cpp"}}
    for folder in sorted(there):
        folder = "jobs/TYPE" if re.fullmatch(r"jobs/\w+", folder.as_posix()) and (project / folder / "job.cpp").exists() else folder.as_posix()
        if folder not in named and folder.split("/")[0] not in ("examples", "scripts", "tests"):
            yield f"{ARCHITECTURE}: found no line of {folder}/ in the table of folders"


def check_version(project):
    versions = [re.search(pattern, (project / name).read_text(), re.MULTILINE)
                for name, pattern in (("CITATION.cff", r"^version: ([\d.]+)"), ("CMakeLists.txt", r"^project\(\w+ VERSION ([\d.]+)"))]
    found, expected = (version[1] if version else "none" for version in versions)
    if found != expected or found == "none":
        yield f"CITATION.cff: found version {found}, expected {expected} as in CMakeLists.txt"


def findings(project, path, text):
    if path.is_relative_to(project / "tests" / "scripts"):  # which make files of their own
        return
    if path.suffix == ".md":
        yield from check_width(text)
        yield from check_defined(project, text)
        yield from check_links(project, path, text)
        yield from check_index(project, path)
    if path.name != "CHANGELOG.md":
        yield from check_named(project, text, IN_BACKTICKS if path.suffix == ".md" else IN_SOURCE)
    yield from check_sections(project, path, text)


def main():
    project = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1]).resolve()
    found = [f"{path.relative_to(project)}:{number}: {what}"
             for path, text in files(project) for number, what in sorted(set(findings(project, path, text)))]
    found += [*check_folders(project), *check_version(project)]
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
