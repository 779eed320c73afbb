#!/usr/bin/env python3
"""Checks that shared values leave the sharing only where this list says, each place with its reason.

A place is a file and a piece of the line. A door that is used elsewhere is an error, and so is an entry without a use.

Usage: scripts/check_reveals.py [PROJECT]. Prints one line per violation; exit code 0 if there is none, 1 otherwise.
"""

import pathlib
import re
import sys

REVEAL = "reveal"
OPEN = "masked opening"
SEND = "send"

# What a use looks like in the text, and the files that define the door.
DOORS = {
    REVEAL: (r"\bReveal(To|ToEach|Bits)?\b\s*(\(|[,;)])", r"protocols/reveal\.(h|cpp)"),
    OPEN: (r"\.\s*BeginOpen(Pair)?\s*\(", r"protocols/masked_opening\.(h|cpp)"),
    SEND: (r"\bSend(Words|Bits|Low)\s*\(|\btransport(\(\))?\s*\.\s*(Send|PostOffline)\s*\(|\bsend_\(roles_", r"mpc/context\.(h|cpp)"),
}

ALLOWED = [
    (REVEAL, "ml/dpsgd/training.cpp", "protocols::RevealToEach(party, plan.settings.release_to, weights.ring())",
     "the trained model, noise included, to those whom the job's [release] names"),
    (REVEAL, "ml/on_shares/prediction.cpp", "protocols::RevealTo(party, client, logits)",
     "the logits of the client's own rows to the client, where the job says so"),
    (REVEAL, "ml/on_shares/prediction.cpp", "protocols::RevealTo(party, client, numbers)",
     "the classes of the client's own rows to the client"),
    (REVEAL, "ml/on_shares/evaluation.cpp", "protocols::RevealToEach(party, plan.settings.evaluation->to, count)",
     "how many test records are classified correctly, to those whom the job's [evaluation] names"),
    (REVEAL, "ml/noise/noisy_counts.cpp", "return protocols::RevealToEach(party, to, shared);",
     "sums of all parties' counts with every party's noise, or of reports that owners perturbed, to those whom the job's "
     "[release] names"),
    (REVEAL, "ml/noise/noisy_votes.cpp", "const RingMatrix bits = protocols::Reveal(party, below);",
     "whether each query's largest count is above a public threshold, every party's noise included"),
    (REVEAL, "ml/noise/noisy_votes.cpp", "const auto numbers = protocols::RevealToEach(party, to, winners);",
     "the class with the most votes, every party's noise included, to those whom the job's [release] names"),
    (REVEAL, "jobs/average/job.cpp", "const auto opened = protocols::RevealToEach(party, job().to, sum);",
     "the sum of all owners' classifiers with every party's noise, or the smallest owner's where the job says as published, to "
     "those whom the job's [release] names"),
    (REVEAL, "jobs/transfer/job.cpp", "const auto opened = protocols::RevealToEach(party, job().to, noisy);",
     "a classifier trained on votes, every party's noise included, to those whom the job's [release] names"),
    (REVEAL, "ml/dpsgd/row_keys.cpp", "if (protocols::RevealBits(party, equal).bit(0, 0)) return;",
     "whether all parties hold the same keys of rows: one bit, whatever they hold"),
    (REVEAL, "bench/basic_operations.cpp", "return protocols::Reveal(p, x);", "random numbers, to time it"),
    (REVEAL, "bench/basic_operations.cpp", "return protocols::RevealTo(p, 0, x);", "the same"),
    (REVEAL, "bench/basic_operations.cpp", "return protocols::RevealBits(p, x);", "random bits, to time it"),

    (OPEN, "protocols/arithmetic/truncate.cpp", "return opening.BeginOpen(x, offset, mask);",
     "x + 2^62 + r to A and B only, r uniform over the ring and known to the dealer only"),
    (OPEN, "protocols/arithmetic/truncate.cpp", "return follow_up.BeginOpenPair(half, offset, mask);",
     "the same for a value that A and B share, under a mask of its own"),
    (OPEN, "protocols/comparison/bit_conversion.cpp", "const BitMatrix masked = opening.BeginOpen(bits, mask);",
     "b ^ r to A and B only, r a uniform bit known to the dealer only"),
    (OPEN, "protocols/functions/sigmoid.cpp", "opening.BeginOpen(x, 0, mask, opened_bits);",
     "x + r modulo the period to A and B only, r uniform over it and known to the dealer only"),
    (OPEN, "protocols/comparison/small_table.cpp", "opening.BeginOpen(x, 0, mask, tables.bits);",
     "x + r modulo the size of a table to A and B only, r uniform over it and known to the dealer only"),
    (OPEN, "protocols/comparison/threshold_comparison.cpp", "opening.BeginOpenPair(WithoutLowBits(opening.HalfOf(x), dropped), 0, mask, width);",
     "x + r modulo 2^width to A and B only, r uniform over it and known to the dealer only"),

    (SEND, "mpc/prss.cpp", "transport.Send(next, own_public);", "a public key of this session's key agreement"),
    (SEND, "mpc/prss.cpp", "transport.Send(previous, own_public);", "the same"),
    (SEND, "protocols/arithmetic/reveal.cpp", "party.SendWords(party.next(), x.own());", "opens to all: what Reveal is for"),
    (SEND, "protocols/arithmetic/reveal.cpp", "party.SendWords(receiver, x.own());", "opens to one: what RevealTo is for"),
    (SEND, "protocols/arithmetic/reveal.cpp", "party.SendBits(party.next(), x.own());", "opens to all: what RevealBits is for"),
    (SEND, "protocols/arithmetic/input.cpp", "party.SendWords(party.next(), rest);",
     "the owner's value less a component that the receiver cannot compute"),
    (SEND, "protocols/arithmetic/input.cpp", "party.SendBits(party.next(), rest);", "the same for bits"),
    (SEND, "protocols/arithmetic/multiply.cpp", "party.SendWords(party.previous(), own);",
     "a summand of the product under a zero-share that the receiver cannot compute"),
    (SEND, "protocols/arithmetic/multiply.cpp", "party.SendBits(party.previous(), own);", "the same for AND"),
    (SEND, "protocols/arithmetic/masked_opening.cpp", "party_.SendWords(roles_.b, mpc::DifferenceOf(values, half));",
     "the dealer's values less A's uniform half"),
    (SEND, "mpc/dealer.cpp", "send_(roles_.b, ToBytes(values));", "the same, of what is dealt ahead"),
    (SEND, "mpc/dealer.cpp", "send_(roles_.a, ToBytes(words));",
     "what the dealer deals to both alike: correction words, uniform without the roots of the other"),
    (SEND, "mpc/dealer.cpp", "send_(roles_.b, ToBytes(words));", "the same"),
    (SEND, "mpc/preprocessing.cpp", "party_.transport().PostOffline(deal.lane, peer, std::move(payload));",
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
    (SEND, "protocols/arithmetic/masked_opening.cpp", "party_.SendWords(other(), rest);",
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

FOLDERS = ["mpc", "protocols", "ml", "bench", "apps"]


def uses(project):
    """Every use of a door: (door, file, line number, line)."""
    for folder in FOLDERS:
        for path in sorted((project / folder).rglob("*")):
            if path.suffix not in {".h", ".cpp", ".inc"}:
                continue
            name = path.relative_to(project).as_posix()
            for number, line in enumerate(path.read_text().splitlines(), 1):
                code = line.split("//")[0].strip()
                for door, (pattern, definition) in DOORS.items():
                    if re.search(pattern, code) and not re.fullmatch(definition, name):
                        yield door, name, number, code


def main():
    project = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1]).resolve()
    found = []
    unused = list(ALLOWED)
    for door, name, number, code in uses(project):
        entries = [entry for entry in ALLOWED if entry[:2] == (door, name) and entry[2] in code]
        unused = [entry for entry in unused if entry not in entries]
        if not entries:
            found.append(f"{name}:{number}: {door} that is not on the list of scripts/check_reveals.py: {code}")
    for door, name, fragment, _ in unused:
        found.append(f"scripts/check_reveals.py: the {door} \"{fragment}\" is on the list but not in {name}")
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
