#!/usr/bin/env python3
"""Runs a command and prints what it and its descendants took: the kernel's seconds, and all.

Usage: processor_time.py COMMAND ARGUMENT ...     The command's own output goes to standard error. Its exit code.
"""

import resource
import subprocess
import sys

status = subprocess.run(sys.argv[1:], stdout=sys.stderr, check=False).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"{used.ru_stime:.2f} {used.ru_stime + used.ru_utime:.2f}")
sys.exit(status)
