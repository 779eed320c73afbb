#!/usr/bin/env python3
"""Checks that the bugs of scripts/acceptance.d/planted can still be planted: each patch applies to the sources, to ml/ alone.

Usage: check_planted.py. Needs git. Exit code: 0 all apply; 1 some do not, one line each.
"""

import pathlib
import re
import subprocess
import sys

PROJECT = pathlib.Path(__file__).resolve().parents[2]


def main():
    patches = sorted((PROJECT / "scripts/acceptance.d/planted").glob("*.patch"))
    failed = not patches
    for patch in patches:
        result = subprocess.run(["git", "apply", "--check", patch], cwd=PROJECT, capture_output=True, text=True, check=False)
        files = re.findall(r"^\+\+\+ b/(\S+)", patch.read_text(), flags=re.M)
        if result.returncode != 0 or not all(name.startswith("ml/") for name in files):
            print(f"{patch.name}: {result.stderr.strip() or 'changes files outside of ml/'}; make it anew")
            failed = True
    print(f"check_planted: {len(patches)} patches, {'some do not apply' if failed else 'all apply'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
