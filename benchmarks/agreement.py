"""How far people agree with each other: the score of one person's translation against another's of the same sentence.

    .venv/bin/python benchmarks/agreement.py [PAIRS] [--outputs FILE] [--seed N]

Of every source that a file of pairs has with several translations, two are drawn: one is scored as if a system had
written it, the other is the reference. `--outputs` scores a system's outputs, one for each line of the file, against
those same references. Sources with several translations are those that can be put in several ways, and the second
translation is often by the author of the first, so this is a mark beside a system's score and no bound to it.
"""

import argparse
import random
import sys
from collections import defaultdict
from pathlib import Path

from regard.base.faults import Fault
from regard.data.corpora.options import Corpus
from regard.data.corpora.text import read_pairs
from regard.data.lines import read_lines
from regard.metrics import score

TATOEBA = "tatoeba-en-pt:eng-por.test-v2021-08-07.tsv.gz"


def drawn(pairs: list[tuple[str, str]], seed: int) -> list[tuple[int, str, str]]:
    """For each source with several translations: the line of its first, one translation, and another."""
    lines: dict[str, list[int]] = defaultdict(list)
    for line, (source, _) in enumerate(pairs):
        lines[source].append(line)
    generator = random.Random(seed)
    found = []
    for each in lines.values():
        texts = list(dict.fromkeys(pairs[line][1] for line in each))
        if len(texts) > 1:
            one, other = generator.sample(texts, 2)
            found.append((each[0], one, other))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", nargs="?", default=TATOEBA, help="file of pairs, or SET:path of the catalogue")
    parser.add_argument("--outputs", type=Path, help="a system's output for each line")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    pairs = list(read_pairs(Corpus(pairs=asked.pairs)))
    found = drawn(pairs, asked.seed)
    if not found:
        parser.error(f"{asked.pairs} has no source with several translations")
    systems = {"people": [one for _, one, _ in found]}
    if asked.outputs:
        outputs = list(read_lines(asked.outputs))
        if len(outputs) != len(pairs):
            parser.error(f"{asked.outputs} has {len(outputs)} lines, {asked.pairs} has {len(pairs)}")
        systems["outputs"] = [outputs[line] for line, _, _ in found]
    print(f"{len(pairs):,} pairs, {len(found):,} sources with several translations")
    for name, hypotheses in systems.items():
        values = [score(hypotheses, [[other for *_, other in found]], metric).value for metric in ("bleu", "chrf")]
        print(f"{name:10s} bleu {values[0]:.2f}  chrf {values[1]:.2f}")


if __name__ == "__main__":
    try:
        main()
    except Fault as fault:
        sys.exit(str(fault))
