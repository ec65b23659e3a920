"""How many replies to generated conversations are right, by how many turns ago what they need was said.

    .venv/bin/python benchmarks/turns_back.py runs/compare-dialogue

The folder is that of a comparison on `talks:test`, whose runs keep their outputs. Distance 1 is the turn before the
question; replies that something was not told have none, and are the last column.
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path

from regard.data.corpora.turns import DASH
from regard.data.generated.talks import VALUES, talk_corpus

KNOWN = {word for words in VALUES.values() for word in words.split()}
UNTOLD = "not told"


def turns_back(source: str, reply: str) -> int | str:
    """How many turns before the last the thing that is replied was last named."""
    named = [word for word in reply.rstrip(".").split() if word in KNOWN]
    if not named:
        return UNTOLD
    turns = [turn.replace(".", " ").replace(",", " ").split() for turn in source.split(DASH)[1:]]
    return len(turns) - 1 - max(place for place, turn in enumerate(turns) if named[-1] in turn)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    pairs = talk_corpus()["test"]
    distances = [turns_back(source, reply) for source, reply in pairs]
    columns = sorted(set(distances), key=lambda each: (isinstance(each, str), each))
    counts = [f"{name} ({distances.count(name)})" for name in columns]
    print("| turns back (replies of the test) |", " | ".join(counts), "|")
    print("|", " | ".join(["---"] * (1 + len(columns))), "|")
    right: dict[str, list[list[bool]]] = defaultdict(list)
    for path in sorted(folder.glob("*/seed-*/outputs.json")):
        outputs = json.loads(path.read_text(encoding="utf-8"))["outputs"]
        right[path.parts[-3]].append([said == reply for said, (_, reply) in zip(outputs, pairs, strict=True)])
    for variant, runs in right.items():
        shares = []
        for name in columns:
            own = [row[place] for row in runs for place, each in enumerate(distances) if each == name]
            shares.append(f"{100 * sum(own) / len(own):.1f}")
        print("|", " | ".join([variant, *shares]), "|")


if __name__ == "__main__":
    main()
