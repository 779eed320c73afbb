"""How three parties must end when a fault strikes party 1: the table that fault_matrix.py checks and docs/howto/operations.md prints.

An outcome has the parties' exit codes (a tuple: any of them; or_goes_on: or 0 for all) and what each one's line on stderr says (a regular expression; None: nothing is asked of it). Code
None: nothing is asked of the party, which is not one of ours.
"""

PHASES = {
    "handshake": "as party 1 dials the first peer",
    "input": "as the records begin to be shared",
    "step": "in a step",
    "checkpoint": "as a checkpoint is being written",
    "release": "as the record is kept, before the model is opened",
}
LOST = r"(lost|before the start:) party 1\b"
FROM_1 = r"(lost|before the start:) party [02]\b"


def outcome(codes, *says, or_goes_on=False):
    return {"codes": codes, "says": says or (None, None, None), "or_goes_on": or_goes_on}


GOES_ON = outcome((0, 0, 0))
CUT = outcome((3, 3, 3), LOST, FROM_1, LOST)
# The link of parties 0 and 1 is the one that is ill: party 2 hears of it from the first that notices, and that one blames the other.
ONE_LINK = outcome((3, 3, 3), LOST, FROM_1, r"(lost|before the start:) party [01]\b")

OUT_OF_MEMORY = outcome((3, 1, 3), LOST, r"out of memory", LOST)
# Who comes when another has found it ends with 3: that one told it, or is gone.
OR_TOLD = r"|before the start: party \d: (aborted: configuration error|not )"
ANOTHER_JOB = outcome(((2, 3), 2, (2, 3)), *[r"training.learning_rate: " + OR_TOLD] * 3)
ANOTHER_VERSION = outcome(((2, 3), None, (2, 3)), *[r"party 1: speaks protocol version 99" + OR_TOLD] * 3)

# Faults that strike a run.
STRIKES = {
    "kill -9": {"all": outcome((3, -9, 3), LOST, None, LOST)},
    # Party 1 ends when it is let go on.
    "SIGSTOP": {"all": CUT},
    "link cut": {"all": CUT},
    "link half-cut": {"all": ONE_LINK},
    "5 s stall": {"all": GOES_ON},
    "byte flipped below TLS": {"all": ONE_LINK, "handshake": GOES_ON},
    "disk full": {"all": outcome((3, 1, 3), LOST, r"No space left on device", LOST)},
    # No more than it has: whether it needs more depends on the step.
    "memory limit": {"all": OUT_OF_MEMORY, "step": {**OUT_OF_MEMORY, "or_goes_on": True}, "checkpoint": {**OUT_OF_MEMORY, "or_goes_on": True},
                     "release": {**OUT_OF_MEMORY, "or_goes_on": True}},
    "clock jump": {"all": GOES_ON, "handshake": CUT},
    "all three restarted": {"all": GOES_ON},
}
# Faults that are there when party 1 starts: at the handshake, or as it is started again with --resume, with the others, after all three
# were killed.
STARTS = {
    "certificate expired": {"all": outcome((3, 2, 3), LOST, r"certificate: this party's own has expired", LOST)},
    "another version": {"all": ANOTHER_VERSION},
    # A run that has begun knows its job.
    "another job": {"handshake": ANOTHER_JOB, "all": outcome((3, 2, 3), LOST, r"learning_rate: found 9", LOST)},
    "other data shape": {"all": outcome((3, 4, 3), LOST, r"labels", LOST)},
    "late start by 60 s": {"all": GOES_ON},
}
FAULTS = {**STRIKES, **STARTS}


def expected(fault, phase):
    return FAULTS[fault].get(phase, FAULTS[fault]["all"])


def accepts(wanted, code):
    return code in wanted if isinstance(wanted, tuple) else code == wanted


def describe(found):
    """A cell of the table."""
    if found["codes"] == (0, 0, 0):
        return "goes on"
    words = {None: "—", -9: "killed", (2, 3): "2 or 3"}
    return "ends: " + ", ".join(words.get(code, str(code)) for code in found["codes"]) + (", or goes on" if found["or_goes_on"] else "")


def table():
    lines = ["| what happens to party 1 | " + " | ".join(PHASES) + " |", "|---" * (len(PHASES) + 1) + "|"]
    for fault in FAULTS:
        lines.append(f"| {fault} | " + " | ".join(describe(expected(fault, phase)) for phase in PHASES) + " |")
    return "\n".join(lines) + "\n"
