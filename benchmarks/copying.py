"""How many names and numbers of a source stand in its translation as they should.

Run it with `.venv/bin/python benchmarks/copying.py runs/names-copy`, or with several models. What should be kept are
the words with a capital letter or a figure that a source and its reference have in common; a word that the reference
has twice must be there twice. Beside their share stands that of translations which are right to the letter.
"""

import argparse
from collections import Counter
from collections.abc import Sequence

import regard
from regard.data.generated.corpora import SPLITS, generate
from regard.data.tokenisers.words import split_words


def kept_words(source: str, reference: str) -> Counter[str]:
    """The names and numbers of a source that belong into its translation."""
    shared = Counter(split_words(source)) & Counter(split_words(reference))
    return Counter({word: count for word, count in shared.items() if word[0].isupper() or any(map(str.isdigit, word))})


def share_kept(pairs: Sequence[tuple[str, str]], outputs: Sequence[str]) -> float:
    """The share of them that the outputs have, in per cent."""
    wanted = [kept_words(*pair) for pair in pairs]
    found = [own & Counter(split_words(output)) for own, output in zip(wanted, outputs, strict=True)]
    return 100 * sum(map(Counter.total, found)) / sum(map(Counter.total, wanted))


def main() -> None:
    parser = argparse.ArgumentParser(description="The share of names and numbers that translators keep.")
    parser.add_argument("models", nargs="+", help="model folders")
    parser.add_argument("--corpus", default="names", help="a generated corpus")
    parser.add_argument("--split", choices=SPLITS, default="test")
    parser.add_argument("--replace-unknown", action="store_true", help="by the words that were looked at")
    asked = parser.parse_args()
    pairs = generate(f"{asked.corpus}:{asked.split}")
    for folder in asked.models:
        model = regard.load(folder)
        found = model.translate([source for source, _ in pairs], replace_unknown=asked.replace_unknown)
        outputs = [each.text for each in found]
        right = sum(output == target for output, (_, target) in zip(outputs, pairs, strict=True)) / len(pairs)
        print(f"{folder:32} {share_kept(pairs, outputs):6.2f} % of names and numbers, {100 * right:6.2f} % exact")


if __name__ == "__main__":
    main()
