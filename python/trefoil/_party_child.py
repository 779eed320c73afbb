"""The process of Party.run: `trefoil run` as a program of its own, since a run locks its memory, keeps the signals and
may have to end its process. It loads the module and its errors alone, without NumPy and its threads."""

import ctypes
import importlib.util
import json
import os
import signal
import sys
from types import ModuleType

PR_SET_PDEATHSIG = 1


def _load(name: str, file: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def main() -> int:
    call = json.loads(sys.argv[1])
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until the peers are there; then the run notes it by itself
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != call.pop("parent"):
        return 1
    errors = _load("trefoil.errors", call.pop("errors"))
    core = _load("trefoil._core", call.pop("core"))
    try:
        code: int = core.run_party(**call)
        return code
    except Exception as error:
        print(f"trefoil: {error}", file=sys.stderr)
        return 2 if isinstance(error, errors.ConfigError) else 1


if __name__ == "__main__":
    sys.exit(main())
