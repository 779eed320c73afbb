#!/usr/bin/env python3
"""Checks that shared values leave the sharing only where these lists say.

Every reveal states its reason at the call, and REVEALS lists which file may state which. ALLOWED lists, by file and piece of
the line, what else opens or sends. A use that is not listed is an error, and so is an entry without a use.

Usage: scripts/check_reveals.py [PROJECT]. Prints one line per violation; exit code 0 if there is none, 1 otherwise.
"""

import pathlib
import re
import sys

OPEN = "masked opening"
SEND = "send"

# What a use looks like in the text, and the files that define the door.
DOORS = {
    OPEN: (r"\.\s*BeginOpen(Pair|Quotient)?\s*\(", r"protocols/arithmetic/masked_opening\.(h|cpp)"),
    SEND: (r"\bSend(Words|Bits|Low)\s*\(|\btransport(\(\))?\s*\.\s*(Send|PostOffline)\s*\(|\bsend_\(roles_", r"mpc/context\.(h|cpp)"),
}
REVEAL = re.compile(r"\b(Reveal(To|ToEach|Bits)?|HandOut)\b(?=\s*[(,;)])")
REVEAL_HEADER = "protocols/arithmetic/reveal.h"

# Where values may be revealed, and for which reason; `SentenceOf` (protocols/arithmetic/reveal.cpp) says what each one is.
REVEALS = {
    ("ml/dpsgd/training.cpp", "kTrainedModel"),
    ("jobs/average/job.cpp", "kAveragedModel"),
    ("jobs/transfer/job.cpp", "kTransferredModel"),
    ("ml/noise/noisy_counts.cpp", "kNoisyCounts"),
    ("ml/noise/noisy_sum.cpp", "kNoisyCounts"),
    ("ml/dpsgd/adaptive_clip.cpp", "kClipCounts"),
    ("ml/noise/noisy_votes.cpp", "kVoteWinners"),
    ("ml/noise/noisy_votes.cpp", "kAboveThreshold"),
    ("ml/on_shares/evaluation.cpp", "kCorrectCount"),
    ("ml/on_shares/evaluation.cpp", "kScoreHistogram"),
    ("ml/on_shares/prediction.cpp", "kPredictedClasses"),
    ("ml/on_shares/prediction.cpp", "kPredictedScores"),
    ("jobs/predict/deposited_predictions.cpp", "kPredictionsForOwner"),
    ("ml/batches/row_keys.cpp", "kSameRowKeys"),
    ("deposit/on_shares/checked_rows.cpp", "kDepositFate"),
    ("api/protocols.cpp", "kEmbeddingProgram"),
    ("protocols/catalogue/arithmetic.cpp", "kMeasurement"),
}

# Where else a share or a secret is opened or sent, and what it is.
ALLOWED = [
    (OPEN, "protocols/arithmetic/truncate.cpp", "return opening.BeginOpen(x, offset, mask);",
     "x + 2^62 + r to A and B only, r uniform over the ring and known to the dealer only"),
    (OPEN, "protocols/arithmetic/truncate.cpp", "return follow_up.BeginOpenPair(half, offset, mask, width);",
     "the same for a value that A and B share, under a mask of its own; modulo 2^width if that is all of it"),
    (OPEN, "protocols/arithmetic/truncate.cpp", "return opening.BeginOpen(x, offset, mask, narrow.width);",
     "x + 2^(width - 2) + r modulo 2^width to A and B only, r uniform on as many bits and known to the dealer only"),
    (OPEN, "protocols/arithmetic/truncate.cpp", "return lifted.BeginOpen(x, offset, mask, width);",
     "the same, with the mask of an opening whose result A and B share and mask once more"),
    (OPEN, "protocols/comparison/bit_conversion.cpp", "const BitMatrix masked = opening.BeginOpen(bits, mask);",
     "b ^ r to A and B only, r a uniform bit known to the dealer only"),
    (OPEN, "protocols/functions/sigmoid.cpp", "opening.BeginOpen(x, 0, mask, opened_bits);",
     "x + r modulo the period to A and B only, r uniform over it and known to the dealer only"),
    (OPEN, "protocols/comparison/small_table.cpp", "opening.BeginOpen(x, 0, mask, tables.bits);",
     "x + r modulo the size of a table to A and B only, r uniform over it and known to the dealer only"),
    (OPEN, "protocols/comparison/threshold_comparison.cpp", "[&](const RingMatrix& mask) { return opening.BeginOpen(x, 0, mask, width); });",
     "x + r modulo 2^width to A and B only, r uniform over it and known to the dealer only"),
    (OPEN, "protocols/comparison/threshold_comparison.cpp", "[&](const RingMatrix& mask) { return opening.BeginOpenQuotient(x, blur.dropped, mask, width); });",
     "the same of a 3-of-3 sharing, whose parts of zero make uniform what the dealer sends"),

    (SEND, "mpc/prss.cpp", "transport.Send(next, own_public);", "a public key of this session's key agreement"),
    (SEND, "mpc/prss.cpp", "transport.Send(previous, own_public);", "the same"),
    (SEND, "protocols/arithmetic/reveal.cpp", "party.SendWords(party.next(), x.own());", "opens to all: what Reveal is for"),
    (SEND, "protocols/arithmetic/reveal.cpp", "party.SendWords(receiver, x.own());", "opens to one: what RevealTo is for"),
    (SEND, "protocols/arithmetic/reveal.cpp", "party.SendBits(party.next(), x.own());", "opens to all: what RevealBits is for"),
    (SEND, "protocols/arithmetic/input.cpp", "party.SendWords(party.next(), rest);",
     "the owner's value less a component that the receiver cannot compute"),
    (SEND, "protocols/arithmetic/input.cpp", "party.transport().Send(party.next(), std::move(masked));",
     "the same, of all owners at once"),
    (SEND, "protocols/arithmetic/input.cpp", "party.SendBits(party.next(), rest);", "the same for bits"),
    (SEND, "protocols/arithmetic/multiply.cpp", "party.SendWords(party.previous(), own);",
     "a summand of the product under a zero-share that the receiver cannot compute"),
    (SEND, "protocols/arithmetic/multiply.cpp", "party.SendBits(party.previous(), own);", "the same for AND"),
    (SEND, "protocols/arithmetic/masked_opening.cpp", "party_.SendWords(roles_.b, mpc::DifferenceOf(values, half));",
     "the dealer's values less A's uniform half"),
    (SEND, "mpc/dealing/dealer.cpp", "send_(roles_.b, ToBytes(values));", "the same, of what is dealt ahead"),
    (SEND, "mpc/dealing/dealer.cpp", "send_(roles_.b, std::move(message));",
     "the same of narrow columns, modulo 2^width"),
    (SEND, "mpc/dealing/dealer.cpp", "if (packed < cols) send_(roles_.b, ToBytes(parts.of_b.whole));",
     "the same of the columns beside them"),
    (SEND, "mpc/dealing/dealer.cpp", "send_(roles_.a, ToBytes(words));",
     "what the dealer deals to both alike: correction words, uniform without the roots of the other"),
    (SEND, "mpc/dealing/dealer.cpp", "send_(roles_.b, ToBytes(words));", "the same"),
    (SEND, "mpc/dealing/preprocessing.cpp", "party_.transport().PostOffline(deal.lane, peer, std::move(payload));",
     "how a Dealer sends ahead of the program"),
    (SEND, "protocols/arithmetic/masked_opening.cpp", "void MaskedOpening::SendLow(", "definition"),
    (SEND, "protocols/arithmetic/masked_opening.h", "void SendLow(", "declaration"),
    (SEND, "protocols/arithmetic/masked_opening.cpp", "SendLow(roles_.a, part.words, part.bits);",
     "the dealer's summand of the value, under the mask"),
    (SEND, "protocols/arithmetic/masked_opening.cpp", "SendLow(roles_.b, part.words, part.bits);", "the same"),
    (SEND, "protocols/arithmetic/masked_opening.cpp", "SendLow(other(), part.words, part.bits);",
     "A's or B's half of the masked value: the opening itself"),
    (SEND, "protocols/arithmetic/masked_opening.cpp", "party_.SendBits(other(), half);", "the same for bits"),
    (SEND, "protocols/arithmetic/masked_opening.cpp", "party_.SendWords(peer, words);", "how SendLow sends"),
    (SEND, "protocols/arithmetic/masked_opening.cpp", "party_.SendBits(peer, mpc::ToPlanes(words, bits));", "how SendLow sends"),
    (SEND, "protocols/arithmetic/masked_opening.cpp", "SendLow(other(), rest, width);",
     "re-sharing: a half less the component that its sender shares with the dealer"),
    (SEND, "protocols/arithmetic/agreement.cpp", "party.transport().Send(party.next(), bytes);",
     "a hash of public parameters, a public text, a fresh share of the common coins' seed, or nothing: a barrier"),
    (SEND, "protocols/arithmetic/agreement.cpp", "party.transport().Send(party.previous(), bytes);", "the same"),
    (SEND, "protocols/arithmetic/component_check.cpp", "party.transport().Send(party.next(), own);",
     "hashes of the sender's components, each keyed with words of its stream: of the component that the receiver lacks, uniform to it"),
    (SEND, "protocols/arithmetic/component_check.cpp", "party.transport().Send(party.previous(), own);", "the same"),
    (SEND, "protocols/cost_model.cpp", "party.transport().Send(party.previous(), {});", "an empty message, to time a round"),
    (SEND, "protocols/cost_model.cpp", "party.transport().Send(peer, net::Bytes(bytes));", "zeros, to time the link"),
    (SEND, "protocols/cost_model.cpp", "party.transport().Send(peer, bytes);", "how long the link took"),
    (SEND, "bench/runner.cpp", "party.transport().Send(peer, bytes);", "times and counts of the benchmark"),
]

# Folders whose sources are no part of the program, or whose runs (scripts/acceptance) may hold whole clones.
APART = {"build", "examples", "runs", "scripts", "tests"}


def sources(project):
    """(name, text without line comments) of every source of the program."""
    folders = [path for path in project.iterdir() if path.is_dir() and path.name not in APART and path.name[0] != "."]
    for path in sorted(path for folder in folders for path in folder.rglob("*")):
        if path.suffix in {".h", ".cpp", ".inc"}:
            yield path.relative_to(project).as_posix(), re.sub(r"//.*", "", path.read_text())


def arguments(text, start):
    """What stands between the parenthesis that follows `start` and its match; nothing where no parenthesis follows."""
    depth = 0
    for at in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return text[start:at].strip()
    return ""


def check_reveals(sources_of_program, header):
    """Lines on calls without a reason, or with one that is not on the list, and on entries without a call."""
    unused = set(REVEALS)
    for name, text in sources_of_program:
        if name in {header, header.replace(".h", ".cpp")}:
            continue
        for use in REVEAL.finditer(text):
            if arguments(text, use.end()).startswith("(Session&"):
                continue  # the library's function of that name, which wants a reason in words
            place = f"{name}:{text.count(chr(10), 0, use.start()) + 1}"
            reason = re.search(r",\s*(?:protocols::)?ReleaseReason::(\w+)$", arguments(text, use.end()))
            if not reason:
                yield f"{place}: found {use.group(0)} without a ReleaseReason as its last argument"
            elif (name, reason.group(1)) not in REVEALS:
                yield f"{place}: reveals for {reason.group(1)}, which scripts/check_reveals.py does not list for this file"
            else:
                unused.discard((name, reason.group(1)))
    for name, reason in sorted(unused):
        yield f"scripts/check_reveals.py: {reason} is on the list of {name}, which does not reveal for it"


def check_reasons(header_text):
    """Lines on reasons that no file may state."""
    reasons = re.findall(r"^  (k\w+),", header_text, re.MULTILINE)
    for reason in set(reasons) - {reason for _, reason in REVEALS} - {"kTest"}:
        yield f"{REVEAL_HEADER}: {reason} is a reason that no file states"


def check_doors(sources_of_program):
    """Lines on openings and messages that are not on the list, and on entries without a use."""
    unused = list(ALLOWED)
    for name, text in sources_of_program:
        for number, line in enumerate(text.splitlines(), 1):
            for door, (pattern, definition) in DOORS.items():
                if not re.search(pattern, line) or re.fullmatch(definition, name):
                    continue
                entries = [entry for entry in ALLOWED if entry[:2] == (door, name) and entry[2] in line]
                unused = [entry for entry in unused if entry not in entries]
                if not entries:
                    yield f"{name}:{number}: {door} that is not on the list of scripts/check_reveals.py: {line.strip()}"
    for door, name, fragment, _ in unused:
        yield f"scripts/check_reveals.py: the {door} \"{fragment}\" is on the list but not in {name}"


def main():
    project = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1]).resolve()
    texts = list(sources(project))
    found = [*check_reveals(texts, REVEAL_HEADER), *check_reasons(dict(texts)[REVEAL_HEADER]), *check_doors(texts)]
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
