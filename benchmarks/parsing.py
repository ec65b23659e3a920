"""What parses cost that know nothing of syntax: baselines for the labelled brackets of a parser.

Run it with `.venv/bin/python benchmarks/parsing.py`, after `regard data get treebank-sample`. Two parsers that need no
training, scored as `regard evaluate --metric brackets` scores a model:

- right-branching: every word opens a phrase that reaches to the end, `(S w (VP w (VP w w )VP )VP . )S`; a punctuation
  mark at the end stays outside. Of the labels that occur, the inner one is the best on the validation trees.
- nearest shape: the tree of that training sentence of the same length that has the most words in common with this one
  in the same places, the first of several; where no sentence has that length, the right-branching tree.

With `--evalb FOLDER`, where EVALB was built (`evalb` and `COLLINS.prm`), its own F1 of the same parses stands beside.
"""

import argparse
import re
import subprocess
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from regard.data.corpora.options import Corpus
from regard.data.corpora.text import read_pairs
from regard.data.trees.linear import MARK, PUNCTUATION, read_line, with_leaves
from regard.metrics import score

Pair = tuple[str, str]
Parse = Callable[[Sequence[str]], str]

INNER = ("NP", "VP", "PP", "S", "SBAR", "ADJP", "ADVP", "QP")


def read_split(split: str) -> list[Pair]:
    return list(read_pairs(Corpus(pairs=f"treebank-sample:{split}.trees.gz", form="trees")))


def right_branching(words: Sequence[str], inner: str) -> str:
    """The right-branching tree of some words, all inner phrases with one label."""
    ends = len(words) - (len(words) > 1 and words[-1] in PUNCTUATION)
    openings = ["(S", *[f"({inner}"] * max(0, ends - 2)]
    chain = [token for opening in openings for token in (opening, MARK)] + [MARK] * (ends - len(openings))
    closings = [f"){opening[1:]}" for opening in reversed(openings[1:])]
    return " ".join([*chain, *closings, *words[ends:], ")S"])


def nearest_shape(train: Sequence[Pair], otherwise: Parse) -> Parse:
    """Parses by the tree of the most similar training sentence."""
    by_length: dict[int, list[tuple[list[str], str]]] = defaultdict(list)
    for source, tree in train:
        words = source.split()
        by_length[len(words)].append((words, tree))

    def parse(words: Sequence[str]) -> str:
        candidates = by_length[len(words)]
        if not candidates:
            return otherwise(words)
        return max(candidates, key=lambda own: sum(map(str.__eq__, own[0], words)))[1]

    return parse


def value(parse: Parse, pairs: Sequence[Pair]) -> float:
    return score([parse(source.split()) for source, _ in pairs], [tree for _, tree in pairs], "brackets").value


def evalb_value(parse: Parse, pairs: Sequence[Pair], evalb: Path) -> str:
    """What EVALB itself prints of the same parses, which it is given with the right words and tags."""
    gold = [read_line(tree) for _, tree in pairs]
    found = [
        with_leaves(read_line(parse(source.split())), list(tree.leaves()))
        for (source, _), tree in zip(pairs, gold, strict=True)
    ]
    with TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in ("gold", "found")]
        for file, trees in zip(files, (gold, found), strict=True):
            file.write_text("".join(f"(TOP {tree})\n" for tree in trees), encoding="utf-8")
        command = [evalb / "evalb", "-p", evalb / "COLLINS.prm", *files]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return re.findall(r"Bracketing FMeasure\s+=\s+(\S+)", said)[0]


def main() -> None:
    parser = argparse.ArgumentParser(description="Baselines for labelled brackets on the sample of the Penn Treebank.")
    parser.add_argument("--split", choices=("valid", "test"), default="valid")
    parser.add_argument("--evalb", type=Path, help="folder of EVALB, to compare with")
    asked = parser.parse_args()
    pairs, valid = read_split(asked.split), read_split("valid")
    inner = max(INNER, key=lambda label: value(lambda words: right_branching(words, label), valid))
    parses: dict[str, Parse] = {f"right-branching, {inner}": lambda words: right_branching(words, inner)}
    parses["nearest shape"] = nearest_shape(read_split("train"), lambda words: right_branching(words, inner))
    for name, parse in parses.items():
        by_evalb = f"   EVALB {evalb_value(parse, pairs, asked.evalb)}" if asked.evalb else ""
        print(f"{name:24}{value(parse, pairs):6.2f}{by_evalb}")


if __name__ == "__main__":
    main()
