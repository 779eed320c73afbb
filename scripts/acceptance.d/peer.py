#!/usr/bin/env python3
"""Measures Trefoil and MP-SPDZ in turns on this machine, over TLS, beside the machine's own peaks.

Usage: peer.py TREFOIL KERNELS_BENCHMARK MP_SPDZ [--turns N] [--works A,B] [--json FILE] [--hosts A,B,C]
  MP_SPDZ   its folder, with replicated-ring-party.x and Player-Data made; peer.mpc is compiled there
  --turns   how often everything is measured (default 3); which of the two goes first alternates
  --works   some of compare, multiply, inverse_sqrt, product, step (default: all)
  --hosts   where a network simulator that runs has the namespaces p0, p1 and p2: both compute there (default: loopback)
Prints of each work the least of the turns' medians, both in milliseconds, and ours as a share of the peer's. A turn begins with
the peaks of one core: multiply-adds in registers, AES blocks, a copy of memory. MP-SPDZ computes as its compiler
chooses for this protocol, in a ring of 64 bits, with vectors as long as they come and its default truncation, whose
error is no wrap. Its step adds no noise; in `step_three` its sigmoid has three pieces. Ours adds noise, and has the
accurate sigmoid in both. A time is that of the slowest party.
Ours is the online median: what is dealt before it is not in it. Each program but the two steps says what one of its results
is and should be; a step's weights are not compared.
Exit code: 0; 1 if Trefoil is the slower in one of them, or MP-SPDZ fails or is wrong; 2 usage; else that of a bench that failed.
"""
import argparse
import json
import pathlib
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile

import peaks

REPETITIONS = 20
# What is measured: `trefoil bench`'s options, and the peer's programs.
WORKS = {
    "compare": (["--ops", "compare", "--sizes", "100000"], ["compare"]),
    "multiply": (["--ops", "multiply_truncate", "--sizes", "1000000"], ["multiply"]),
    "inverse_sqrt": (["--ops", "inverse_sqrt", "--sizes", "128"], ["inverse_sqrt"]),
    "product": (["--ops", "matmul", "--shape", "128x784x10"], ["product"]),
    "step": (["--ops", "dpsgd_step", "--shape", "128x784x10"], ["step", "step_three"]),
}


def within(hosts, party):
    """What puts a party's command where it is to run."""
    return ["ip", "netns", "exec", f"p{party}"] if hosts else []


def ours(trefoil, hosts, options):
    """The median of one run's repetitions, in milliseconds."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "bench.json"
        bench = [trefoil, "bench", "--threads", "1", "--reps", str(REPETITIONS), *options]
        commands = [[*bench, "--json", out]]
        if hosts:
            subprocess.run([trefoil, "init", "--all", "--hosts", hosts, "--out", folder], stdout=subprocess.DEVNULL, check=True)
            commands = [[*within(hosts, party), *bench, "--config", f"{folder}/party-{party}/party.toml",
                         *(["--json", out] if party == 0 else [])] for party in range(3)]
        processes = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for command in commands]
        if failed := max(process.wait() for process in processes):
            sys.exit(failed)
        return 1000 * json.loads(out.read_text())["results"][0]["seconds"]["median"]


def free_ports():
    """The first of three ports in a row that nobody listens at."""
    for first in range(21000, 60000, 10):
        try:
            for port in range(first, first + 3):
                with socket.socket() as listener:
                    listener.bind(("", port))
            return first
        except OSError:
            continue
    sys.exit("peer: found no three free ports")


def compiled(folder, program):
    """The name of the compiled program; compiles it where that has not been done."""
    name = f"peer-{program}-{REPETITIONS}"
    source = pathlib.Path(__file__).with_name("peer.mpc")
    there = folder / "Programs" / "Source" / "peer.mpc"
    is_compiled = (folder / "Programs" / "Schedules" / f"{name}.sch").is_file()
    if is_compiled and there.is_file() and there.read_text() == source.read_text():
        return name
    if not there.is_file() or there.read_text() != source.read_text():
        for stale in (folder / "Programs" / "Schedules").glob("peer-*.sch"):
            stale.unlink()
        shutil.copy(source, there)
    subprocess.run(["./compile.py", "-E", "ring", "-R", "64", "-b", "100000000", "peer", program, str(REPETITIONS)],
                   cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return name


def check(program, output):
    """Whether the program says of a result what it should be, and that it is that, to a hundredth; a step says nothing."""
    said = re.findall(r"found (\S+), expected (\S+)", output)
    if not said and not program.startswith("peer-step"):
        sys.exit(f"peer: {program} of MP-SPDZ did not say what it found")
    for found, expected in said:
        if abs(float(found) - float(expected)) > 0.01 * max(1, abs(float(expected))):
            sys.exit(f"peer: MP-SPDZ found {found}, expected {expected}")


def theirs(folder, hosts, program):
    """The median over the repetitions of the slowest party's time, in milliseconds."""
    port = free_ports()
    first = hosts.split(",")[0] if hosts else "localhost"
    parties = [
        subprocess.Popen([*within(hosts, party), "./replicated-ring-party.x", str(party), "-pn", str(port), "-h", first, program],
                         cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for party in range(3)
    ]
    outputs = [party.communicate()[0] for party in parties]
    if any(party.returncode != 0 for party in parties):
        sys.exit("peer: MP-SPDZ failed: " + " / ".join(output.strip()[-300:] for output in outputs))
    check(program, outputs[0])
    taken = [dict(re.findall(r"^Time(\d+) = (\S+) seconds", output, re.MULTILINE)) for output in outputs]
    return 1000 * statistics.median(
        max(float(times[str(k)]) for times in taken) for k in range(1, REPETITIONS + 1))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("trefoil", type=pathlib.Path)
    parser.add_argument("kernels", type=pathlib.Path)
    parser.add_argument("mp_spdz", type=pathlib.Path)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--works", default=",".join(WORKS))
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--hosts", default="")
    chosen = parser.parse_args()
    works = chosen.works.split(",")
    unknown = [work for work in works if work not in WORKS]
    if unknown or chosen.turns < 1:
        parser.error(f"--works: found {', '.join(unknown)}" if unknown else "--turns: expected at least 1")
    trefoil, kernels, folder = (path.resolve() for path in (chosen.trefoil, chosen.kernels, chosen.mp_spdz))
    if not (folder / "replicated-ring-party.x").is_file():
        sys.exit(f"peer: {folder}: found no replicated-ring-party.x, expected MP-SPDZ's folder after make")
    programs = {program: compiled(folder, program) for work in works for program in WORKS[work][1]}

    turns = []
    for turn in range(chosen.turns):
        turns.append({"peaks": peaks.peaks(kernels), "ours": {}, "theirs": {}})
        print(f"turn {turn + 1}: {peaks.in_words(turns[-1]['peaks'])}", flush=True)
        for work in works:
            options, names = WORKS[work]
            measurements = [lambda: turns[-1]["ours"].update({work: ours(trefoil, chosen.hosts, options)})] + [
                lambda name=name: turns[-1]["theirs"].update({name: theirs(folder, chosen.hosts, programs[name])}) for name in names
            ]
            for measure in measurements if turn % 2 == 0 else reversed(measurements):
                measure()

    slower = False
    print(f"{'work':<14} {'Trefoil ms':>11} {'MP-SPDZ ms':>11} {'share':>6}   the turns' medians")
    for work in works:
        for name in WORKS[work][1]:
            own = [turn["ours"][work] for turn in turns]
            peer = [turn["theirs"][name] for turn in turns]
            slower |= min(own) > min(peer)
            print(f"{name:<14} {min(own):>11.2f} {min(peer):>11.2f} {min(own) / min(peer):>6.2f}   "
                  + " ".join(f"{value:.2f}" for value in own) + " / " + " ".join(f"{value:.2f}" for value in peer))
    if chosen.json:
        chosen.json.write_text(json.dumps(turns, indent=1) + "\n")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
