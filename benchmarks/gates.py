"""What the gates of a model do at some words, over many sentences: the means that docs/ledger.md quotes.

    python benchmarks/gates.py runs/opinions-ru opinions-ru:test --words но хотя не
    python benchmarks/gates.py runs/lstm-ptb ptb:ptb.valid.txt --words the

Every line of the file is a sentence. For each layer there is a line for each of the words, one for the first word of a
sentence and one for all words: how often they occur, and the mean of each gate over its units and all of these places.
"""

import argparse
from itertools import islice
from pathlib import Path

import numpy as np

from regard.console import say_table
from regard.data.corpora.text import file_of
from regard.data.generated.corpora import generated_opinions
from regard.data.lines import read_lines
from regard.model import load
from regard.seeing.lessons.gates import gates_of

FIRST, EVERY = "(first word)", "(every word)"


def main() -> None:
    parser = argparse.ArgumentParser(description="What the gates of a model do at some words.")
    parser.add_argument("model", type=Path, help="a model folder with recurrent layers")
    parser.add_argument("text", help="a text file, a sentence a line, or opinions-ru:test")
    parser.add_argument("--words", nargs="*", default=[], help="words to look at, in either case")
    parser.add_argument("--sentences", type=int, default=500, help="how many sentences are read")
    parser.add_argument("--layer", type=int, default=1, help="the recurrent layer, counted from 1")
    given = parser.parse_args()
    opinions = generated_opinions(given.text)
    lines = (text for _, text in opinions) if opinions else read_lines(file_of(given.text))
    texts = islice((line for line in lines if line.strip()), given.sentences)
    found: dict[str, list[np.ndarray]] = {name: [] for name in (*given.words, FIRST, EVERY)}
    model = load(given.model, device="cpu")
    for text in texts:
        gates = gates_of(model, text, given.layer)
        names, means = list(gates.means), np.stack(list(gates.means.values()), axis=1)
        first = 1 if gates.words[0] == "</s>" else 0  # a language model has read the end of another sentence before
        for place, (word, values) in enumerate(zip(gates.words, means, strict=True)):
            for name in (EVERY, word.lower(), *([FIRST] if place == first else [])):
                if name in found:
                    found[name].append(values)
    rows = [
        [name, str(len(values)), *(f"{value:.2f}" for value in np.mean(values, axis=0))]
        for name, values in found.items()
        if values
    ]
    say_table(["word", "places", *names], rows)


if __name__ == "__main__":
    main()
