"""What one core of this machine does at most at this minute, by kernels_benchmark.

Usage: peaks.py KERNELS_BENCHMARK: prints how many times longer limits in seconds are at this minute, by the best of three peaks.
"""
import json
import subprocess
import sys

RATES = {"MultiplierPeak": "items_per_second", "SeedHashing": "items_per_second", "MemoryCopy/1000000": "bytes_per_second"}

# MultiplierPeak of the machine that limits in seconds are for, an EPYC with AVX-512 (docs/reference/performance.md).
NOMINAL = 16.6


def peaks(kernels):
    """Of one core, by name: multiply-adds in registers, AES blocks, bytes of memory copied; in 10^9 a second."""
    names = "|".join(f"{name}$" for name in RATES)
    output = subprocess.run([kernels, f"--benchmark_filter={names}", "--benchmark_format=json"], check=True,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return {run["name"]: run[RATES[run["name"]]] / 1e9 for run in json.loads(output)["benchmarks"]}


def slowness(turns):
    """How many times longer limits in seconds are here: below 1 where this machine is faster than that one. `turns`: what peaks()
    has found some times; the best counts, since other work only lowers it."""
    return NOMINAL / max(found["MultiplierPeak"] for found in turns)


def in_words(found):
    return ", ".join(f"{name} {rate:.2f}" for name, rate in found.items()) + " (10^9 a second, one core)"


if __name__ == "__main__":
    print(f"{slowness([peaks(sys.argv[1]) for _ in range(3)]):.2f}")
