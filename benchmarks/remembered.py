"""Count what a translator gives back of its source, by place in it: does the last state remember the end better?

    .venv/bin/python benchmarks/remembered.py runs/claim-memory [runs/claim-memory-backwards]

Reads comparisons in which a sentence is written again, and prints the share of source words that are in the output,
for each fifth of the source. Words that many sentences have, and those that a source has twice, do not count: the one
kind can be guessed, and nobody knows the place of the other. In a second comparison targets are the same words
backwards; the mean of both then favours no place for being written early.
"""

import argparse
import json
import statistics
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from regard.runs.compare.outcomes import OUTPUTS
from regard.verbs.translate.evaluation import from_split
from regard.verbs.translate.model import load_translation_model

PARTS = 5
COMMON = 0.02  # share of the sentences from which on a word can be guessed


def rare_words(sources: Sequence[str]) -> set[str]:
    """Return the words that few sources have."""
    counts = Counter(word for source in sources for word in set(source.split()))
    return {word for word, count in counts.items() if count < COMMON * len(sources)}


def recall_by_part(
    sources: Sequence[str], outputs: Sequence[str], counted: set[str], parts: int = PARTS
) -> list[float]:
    """Return the share of the counted words of each part of the sources that the outputs have, in percent."""
    found, all_words = [0] * parts, [0] * parts
    for source, output in zip(sources, outputs, strict=True):
        words, written = source.split(), set(output.split())
        once = {word for word, count in Counter(words).items() if count == 1}
        for place, word in enumerate(words):
            if word in once and word in counted:
                part = place * parts // len(words)
                all_words[part] += 1
                found[part] += word in written
    return [100 * hits / total if total else float("nan") for hits, total in zip(found, all_words, strict=True)]


def runs_of(comparison: Path) -> dict[str, list[Path]]:
    """Return the finished runs of a comparison by variant."""
    found: dict[str, list[Path]] = {}
    for outputs in sorted(comparison.glob(f"*/seed-*/{OUTPUTS}")):
        found.setdefault(outputs.parent.parent.name, []).append(outputs.parent)
    return found


def recall_of(run: Path) -> list[float]:
    model = load_translation_model(run, device="cpu")
    sources = list(from_split(model, run, "test").sources)
    outputs = json.loads((run / OUTPUTS).read_text(encoding="utf-8"))["outputs"]
    return recall_by_part(sources, outputs, rare_words(sources))


def row(name: str, runs: Sequence[Sequence[float]]) -> str:
    cells = [f"{statistics.mean(part):.1f} ± {max(part) - min(part):.1f}" for part in zip(*runs, strict=True)]
    return f"| {name} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("comparisons", type=Path, nargs="+")
    recalls: dict[str, list[list[list[float]]]] = {}
    print(f"| recalled by fifth of the source, % | {' | '.join(map(str, range(1, PARTS + 1)))} |")
    print(f"| --- |{' ---: |' * PARTS}")
    for comparison in parser.parse_args().comparisons:
        for variant, runs in runs_of(comparison).items():
            found = [recall_of(run) for run in runs]
            recalls.setdefault(variant, []).append(found)
            print(row(f"{variant}, {comparison.name}", found), flush=True)
    for variant, comparisons in recalls.items():
        if len(comparisons) > 1:
            seeds = zip(*comparisons, strict=True)
            print(row(f"{variant}, mean", [[*map(statistics.mean, zip(*seed, strict=True))] for seed in seeds]))


if __name__ == "__main__":
    main()
