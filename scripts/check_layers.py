#!/usr/bin/env python3
"""Checks the layers (docs/adr/0001-layers-and-one-ring.md): what a folder includes, what its library links, where sockets and threads are, and
that what is above jobs/ knows no type of job (docs/adr/0022-jobs-runtime-apps.md). A folder with sources that is not on
its lists is a violation, too.

Usage: scripts/check_layers.py [PROJECT]. Prints one line per violation; exit code 0 if there is none, 1 otherwise.
"""

import ast
import pathlib
import re
import sys

# What a folder may include and link besides itself.
MAY_USE = {
    "api": {"runtime", "jobs", "ml", "dp", "protocols", "mpc", "net", "base"},  # what stands behind include/
    "apps": {"runtime", "deposit", "bench", "jobs", "ml", "data", "dp", "protocols", "mpc", "net", "base"},
    "runtime": {"jobs", "ml", "data", "dp", "protocols", "mpc", "net", "base"},
    "deposit": {"jobs", "ml", "data", "protocols", "mpc", "net", "base"},
    "jobs": {"ml", "data", "dp", "protocols", "mpc", "net", "base"},
    "bench": {"ml", "dp", "protocols", "mpc", "net", "base"},  # dp: its microbenchmarks time the noise sampler too
    "ml": {"dp", "protocols", "mpc", "base"},
    "protocols": {"mpc", "base"},
    "mpc": {"net", "base"},
    "net": {"base"},
    "dp": {"base"},
    "data": {"base"},
    "base": set(),
    "include": set(),  # the public headers: everybody may include what is declared there
    "python": set(),  # the Python module, made of the public headers alone
}

# Folders whose sources are no part of the program, and those that are not the project's own.
APART = {"examples", "scripts", "tests"}
NOT_OURS = re.compile(r"\..*|build.*|runs")
# What has headers that clang-tidy reports on: all but the Python module, which the preset dev does not build.
TIDIED = {*MAY_USE, "tests"} - {"python"}

# A header of the system or of a library, and the files that may include it.
CONFINED = [
    (r"boost/asio.*", r"net/link/asio\.h", "net/link/asio.h is the one way to Asio"),
    (r"boost/beast.*", r"net/http/(http_endpoint|https_server|https_client)\.cpp", "HTTP is spoken in net/http/"),
    (r"sys/socket\.h|netinet/.*|arpa/inet\.h|netdb\.h", r"net/.*", "sockets belong in net/"),
    (r"openssl/.*", r"net/.*|mpc/(prss|dcf/seed_hash)\.cpp|base/secrets/(sha256|random)\.cpp",
     "OpenSSL belongs in net/ (TLS), mpc/ (AES) and base/secrets/ (SHA-256, ChaCha20)"),
    (r"CLI/.*", r"apps/.*", "the command line belongs in apps/"),
    (r"toml\+\+/.*", r"jobs/config/toml/tomlplusplus\.h", "jobs/config/toml/tomlplusplus.h is the one way to toml++"),
    (r"opencv2/.*", r"data/features/onnx_features\.cpp", "OpenCV is used in data/features/onnx_features.cpp"),
    (r"png\.h|turbojpeg\.h", r"data/formats/image_decoder_png_jpeg\.cpp",
     "PNG and JPEG are decoded in data/formats/image_decoder_png_jpeg.cpp"),
    (r"fftw3\.h", r"base/fft\.cpp", "FFTW is used in base/fft.cpp"),
    (r"sqlite3\.h", r"data/tables/sqlite_reader\.cpp|deposit/store/database\.cpp",
     "databases are read in data/tables/sqlite_reader.cpp; deposit/store/database.cpp has a party's own"),
    (r"libpq-fe\.h", r"data/tables/postgres_reader\.cpp", "PostgreSQL is read in data/tables/postgres_reader.cpp"),
    (r"mpi\.h", r"runtime/ranks/mpi_channel\.h", "MPI is called in runtime/ranks/mpi_*.cpp"),
    (r"zip\.h", r"data/formats/numpy/npz\.cpp", "zip archives are read and written in data/formats/numpy/npz.cpp"),
]

# A use in the text, and the files that may have it.
CONFINED_USES = [
    (r"\bstd::(thread|async)\b(?!::hardware_concurrency)",
     r"net/.*|base/(threads/.*|error_report\.cpp)", "threads belong in net/ and in base/threads/"),
    (r"\bstd::jthread\b", r"(net|base/threads)/.*|mpc/dealing/preprocessing\.h|runtime/(observe/run_watch\.h|ranks/mpi_group\.cpp)",
     "a thread that ends with its owner belongs in net/, base/threads/, mpc/preprocessing, runtime/observe/run_watch, runtime/ranks"),
    (r"\b(fork|vfork|execv\w*|posix_spawn\w*|waitpid)\s*\(", r"apps/local/child_process\.(cpp|h)",
     "processes are started in apps/local/child_process"),
    (r"(?<![.>\w])(exit|_exit|_Exit|quick_exit|abort)\s*\(", r"apps/(main|local/child_process)\.cpp|runtime/(stop_signals|ranks/mpi_group)\.cpp",
     "only main(), signals and a rank that MPI does not let go on end the program"),
    (r"\bassert\s*\(", r"(?!)", "Require() checks, in every build"),
    (r"\b(std::random_device|std::mt19937\w*|s?rand)\b\s*[({]", r"(?!)", "randomness comes from base/secrets/random.h"),
]

ABOVE_JOBS = ("apps", "runtime", "deposit", "api", "python")
# Files above jobs/ with a type that they may name: estimators make jobs of the first one; a trainer's errors name keys of
# the second one's table.
NAMED_ABOVE_JOBS = {("python/trefoil/sklearn.py", "dpsgd"), ("python/trefoil/torch.py", "sum")}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def sources(folder):
    return sorted(path for path in folder.rglob("*") if path.suffix in {".h", ".cpp", ".inc"})


def code_of(line):
    """The line without string literals and line comment."""
    return re.sub(r"//.*", "", re.sub(r'"(\\.|[^"\\])*"', '""', line))


def check_public_include(project, name, place, kind, header):
    """A public header is installed without the sources: it needs the standard library, its neighbours, and Eigen where shares are."""
    if kind == "<":
        eigen = header == "Eigen/Core" and re.fullmatch(r"include/trefoil/(share|protocols)\.h", name)
        if not eigen and not re.fullmatch(r"[a-z_]+", header):
            yield f"{place}: found <{header}>, expected a header of the standard library (or Eigen, in share.h and protocols.h)"
    elif not header.startswith("trefoil/") or not (project / "include" / header).is_file():
        yield f"{place}: found \"{header}\", expected another public header, as in trefoil/error.h"


def check_include(project, layer, name, place, kind, header):
    if layer == "include":
        yield from check_public_include(project, name, place, kind, header)
        return
    if kind == "<":
        for pattern, allowed, why in CONFINED:
            if re.fullmatch(pattern, header) and not re.fullmatch(allowed, name):
                yield f"{place}: found <{header}>; {why}"
        return
    if header.startswith("trefoil/"):
        header = f"include/{header}"
    folder = header.split("/")[0]
    if "/" not in header or not (project / header).is_file():
        yield f"{place}: found \"{header}\", expected a file named from the project's top"
    elif folder not in {layer, "include", *MAY_USE[layer]}:
        yield f"{place}: found {folder}/, expected one of: {', '.join([layer, *sorted(MAY_USE[layer])])}"


def check_file(project, layer, path):
    name = path.relative_to(project).as_posix()
    for number, line in enumerate(path.read_text().splitlines(), 1):
        place = f"{name}:{number}"
        include = INCLUDE.match(line)
        if include:
            yield from check_include(project, layer, name, place, *include.groups())
            continue
        for pattern, allowed, why in CONFINED_USES:
            use = re.search(pattern, code_of(line))
            if use and not re.fullmatch(allowed, name):
                yield f"{place}: found {use.group(0).strip()}; {why}"


def types_of_jobs(project):
    """The folders of types under jobs/, which have a job.cpp, and the types' names in job files."""
    jobs = list((project / "jobs").glob("*/job.cpp"))
    names = {name for job in jobs for name in re.findall(r'^const JobType k\w+\{(?:\.name = )?"([^"]+)"', job.read_text(), re.MULTILINE)}
    return {job.parent.name for job in jobs}, names


def without_comments(text):
    """What looks like a comment within a literal stays."""
    return re.sub(r'(R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\])\')|//.*', lambda found: found[1] or "", text)


def names_in(text, names):
    """Those that a literal's text is or has as a part between quotes, dots or slashes, as "/results/NAME/steps"."""
    return re.findall(rf'(?:^|(?<=[./"]))(?:{"|".join(map(re.escape, sorted(names)))})(?=$|[./"])', text)


def uses_of_types(folders):
    """What is of a type of job, or asks for one, in C++, and why it may not be above jobs/."""
    classes = "|".join(re.escape(folder.title().replace("_", "")) for folder in sorted(folders))
    a_type = r"\b(job_)?type_?\b(\(\))?"
    yield rf'#\s*include\s*[<"](\.\./)*jobs/({"|".join(sorted(folders))})/', "only jobs/ includes the folder of a type"
    yield rf"\bjobs::(Read|Make)?({classes})([A-Z]\w*)|\bk({classes})Type\b|(?<!::)\b(Read)?({classes})Settings\b", \
        "only jobs/ uses what belongs to a type"
    yield rf"{a_type}\)*\s*[!=]=|[!=]=\s*[\w.:>(-]*{a_type}|strcmp\([^;]*{a_type}|{a_type}\)*\.(compare|starts_with)\(" \
        rf"|switch\s*\(.*{a_type}\)", "ask the job (jobs/job.h), not for its type"


def check_types(project, path, types):
    name = path.relative_to(project).as_posix()
    folders, names = types
    text = without_comments(path.read_text())
    text = re.sub(r'add_subcommand\(\s*"predict"', "", text)  # a command, which has the name of a type
    for literal in re.finditer(r'R"\((.*?)\)"|"((?:\\.|[^"\\\n])*)"', re.sub("(?m)^ *#.*", "", text), re.DOTALL):
        for use in names_in((literal[1] or literal[2] or "").replace('\\"', '"'), names):
            if (name, use) not in NAMED_ABOVE_JOBS:
                yield f"{name}: found {literal[0]}; only jobs/ has the name of a type"
    for pattern, why in uses_of_types(folders):
        for use in re.finditer(pattern, text):
            yield f"{name}: found {use.group(0)}; {why}"


def is_a_type(node):
    """Whether an expression of Python is a job's type: `job.type`, `keys["type"]`, but not `tensor.device.type`."""
    if isinstance(node, ast.Attribute):
        return node.attr == "type" and getattr(node.value, "attr", "") != "device"
    return isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value == "type"


def check_types_in_python(project, path, types):
    name = path.relative_to(project).as_posix()
    tree = ast.parse(path.read_text())
    documents = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        found = []
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documents:
            found = names_in(node.value, types[1])
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "Job":
            found = names_in(node.attr.replace("_", "-"), types[1])
        elif isinstance(node, ast.Compare) and any(map(is_a_type, [node.left, *node.comparators])) or \
                isinstance(node, ast.Match) and is_a_type(node.subject):
            yield f"{name}:{node.lineno}: found a question for a job's type; ask the job (trefoil._core.Job)"
        for use in found:
            if (name, use) not in NAMED_ABOVE_JOBS:
                yield f"{name}:{node.lineno}: found {use}; only jobs/ has the name of a type"


def check_links(project, layer):
    """The link direction in CMake is the include direction."""
    path = project / layer / "CMakeLists.txt"
    for number, line in enumerate(path.read_text().splitlines(), 1):
        for folder in re.findall(r"\btrefoil(?:::|_)(\w+)", line.split("#")[0]):
            if folder in MAY_USE and folder != layer and folder not in MAY_USE[layer]:
                yield f"{path.relative_to(project)}:{number}: links {folder}, which {layer} may not use"


def check_folders(project):
    """A folder that no list names would be looked at by nobody."""
    for folder in sorted(path for path in project.iterdir() if path.is_dir() and not NOT_OURS.fullmatch(path.name)):
        if folder.name not in {*MAY_USE, *APART} and (sources(folder) or next(folder.rglob("*.py"), None)):
            yield f"{folder.name}/: found sources, expected them in a folder that scripts/check_layers.py names (MAY_USE, APART)"
    tidied = re.search(r"^HeaderFilterRegex: '/\((.*?)\)/", (project / ".clang-tidy").read_text(), re.MULTILINE)
    for name in sorted(TIDIED ^ set(tidied[1].split("|") if tidied else ())):
        yield f".clang-tidy: HeaderFilterRegex: {'missing' if name in TIDIED else 'found'} {name}, expected {', '.join(sorted(TIDIED))}"


def findings(project):
    found = list(check_folders(project))
    types = types_of_jobs(project)
    if not all(types):
        found.append("jobs/: found no type of job")
    for layer in MAY_USE:
        files = sources(project / layer)
        if not files and layer != "bench":
            found.append(f"{layer}/: found no source file")
        for path in files:
            found.extend(check_file(project, layer, path))
            if layer in ABOVE_JOBS:
                found.extend(check_types(project, path, types))
        for path in sorted((project / layer).rglob("*.py")):
            if layer in ABOVE_JOBS:
                found.extend(check_types_in_python(project, path, types))
        if layer != "include":
            found.extend(check_links(project, layer))
    return found


def main():
    found = findings(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1]).resolve())
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
