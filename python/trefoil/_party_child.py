"""The process of Party.run: `trefoil run` as a program of its own, since a run locks its memory, keeps the signals and
may have to end its process. It loads the module and its errors alone, without NumPy and its threads."""

import importlib.util
import json
import os
import signal
import sys
import threading
from types import ModuleType


def _load(name: str, file: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _end_with_caller() -> None:
    """Ends the run in order once the caller is gone, who holds the other end of standard input.

    Not by PR_SET_PDEATHSIG: that signal comes for each thread of the caller that ends, and a second one ends the run at
    once, without a word to its peers.
    """
    os.read(0, 1)
    os.kill(os.getpid(), signal.SIGTERM)


def _code_of(errors: ModuleType, error: Exception) -> int:
    """The exit code that the program has for an error."""
    codes = {"ConfigError": 2, "NetworkError": 3, "ProtocolError": 3, "DataError": 4, "BudgetError": 5}
    return next((code for name, code in codes.items() if isinstance(error, getattr(errors, name))), 1)


def main() -> int:
    call = json.loads(sys.argv[1])
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until the peers are there; then the run notes it by itself
    threading.Thread(target=_end_with_caller, daemon=True).start()
    errors = _load("trefoil.errors", call.pop("errors"))
    core = _load("trefoil._core", call.pop("core"))
    calls = call.pop("calls", None)
    try:
        if calls is not None:
            call["program"] = _load("trefoil._calls", calls.pop("file")).over_pipes(**calls)
        code: int = core.run_party(**call)
        return code
    except Exception as error:
        text = " ".join(str(error).splitlines()) or type(error).__name__  # one line is what the caller takes
        os.write(2, f"trefoil: {text}\n".encode("utf-8", "backslashreplace"))
        return _code_of(errors, error)


if __name__ == "__main__":
    sys.exit(main())
