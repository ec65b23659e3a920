"""How well the vectors of a word tell its uses apart, layer by layer: the figures that docs/ledger.md quotes.

    python benchmarks/contexts.py runs/bilm-en

Takes the words of CoNLL-2000 (`regard data get conll2000`) that occur at least eight times as one part of speech and
eight times as another, such as *plan* as a noun and as a verb. For every place of such a word it looks for the one
whose vector is most like it (by the cosine, among places of the same word in other sentences) and asks whether it is
the same part of speech there. `chance` is how often a place drawn at random would be. Each word counts alike, however
often it occurs. Parts of speech are told apart by the first letter of their tags: nouns are one, and verbs are one.
"""

import argparse
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

from regard.console import say_table
from regard.data.corpora.text import file_of
from regard.data.lines import read_lines
from regard.model import load
from regard.verbs.embed.run import embed_each

FEWEST = 8  # places of a word as each of two parts of speech
Sentence = list[tuple[str, str]]  # words and the first letters of their tags


def main() -> None:
    parser = argparse.ArgumentParser(description="How well the vectors of a word tell its uses apart.")
    parser.add_argument("model", type=Path, help="a model folder whose tokens are words parted by spaces")
    parser.add_argument("--text", default="conll2000:train.txt.gz", help="a file of words, tags and chunks")
    given = parser.parse_args()
    sentences = _sentences(given.text)
    words = _words_of_two_uses(sentences)
    vectors: dict[str, list[dict[int, np.ndarray]]] = defaultdict(list)
    uses: dict[str, list[tuple[int, str]]] = defaultdict(list)  # the number of the sentence, and the part of speech
    chosen = [number for number, each in enumerate(sentences) if any(word.lower() in words for word, _ in each)]
    texts = (" ".join(word for word, _ in sentences[number]) for number in chosen)
    for number, embedded in zip(chosen, embed_each(load(given.model).task, texts), strict=True):
        if len(embedded.text.tokens) != len(sentences[number]):
            raise SystemExit("the tokens of this model are not words parted by spaces")
        for place, (word, use) in enumerate(sentences[number]):
            if word.lower() in words:
                uses[word.lower()].append((number, use))
                each = {layer: states[place].numpy() for layer, states in embedded.layers.items()}
                vectors[word.lower()].append(each)
    layers = next(iter(vectors.values()))[0]
    rows = [[f"layer {layer}", f"{100 * _agreement(vectors, uses, layer):.1f}"] for layer in layers]
    places = sum(map(len, uses.values()))
    say_table(["vectors", "same part of speech, %"], [["chance", f"{100 * _chance(uses):.1f}"], *rows])
    print(f"{len(words)} words at {places:,} places, as {', '.join(sorted(words)[:8])} …")


def _sentences(name: str) -> list[Sentence]:
    sentences: list[Sentence] = [[]]
    for line in read_lines(file_of(name)):
        if line.strip():
            word, tag, _ = line.split(" ")
            sentences[-1].append((word, tag[0]))
        elif sentences[-1]:
            sentences.append([])
    return [each for each in sentences if each]


def _words_of_two_uses(sentences: list[Sentence]) -> set[str]:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for sentence in sentences:
        for word, use in sentence:
            counts[word.lower()][use] += 1
    return {word for word, own in counts.items() if sum(count >= FEWEST for count in own.values()) >= 2}


def _agreement(
    vectors: dict[str, list[dict[int, np.ndarray]]], uses: dict[str, list[tuple[int, str]]], layer: int
) -> float:
    """The share of places whose nearest neighbour is the same part of speech, on average over the words.

    Where several are nearest, as all are in layer 0, it is their share.
    """
    shares = []
    for word, own in vectors.items():
        matrix = np.stack([each[layer] for each in own])
        matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
        sentence, use = np.array([number for number, _ in uses[word]]), np.array([use for _, use in uses[word]])
        cosines = np.where(sentence[:, None] == sentence, -np.inf, matrix @ matrix.T)
        is_nearest = cosines >= cosines.max(axis=1, keepdims=True) - 1e-6
        is_right = is_nearest & (use[:, None] == use)
        shares.append(float((is_right.sum(axis=1) / is_nearest.sum(axis=1)).mean()))
    return float(np.mean(shares))


def _chance(uses: dict[str, list[tuple[int, str]]]) -> float:
    shares = []
    for own in uses.values():
        counts = Counter(use for _, use in own).values()
        shares.append(sum(count * (count - 1) for count in counts) / (len(own) * (len(own) - 1)))
    return float(np.mean(shares))


if __name__ == "__main__":
    main()
