"""BLEU of captions of flickr8k's test pictures, with and without full stops and brevity penalty.

    regard caption runs/captions-flickr8k < DIR/Flickr_8k.testImages.txt > captions.txt
    .venv/bin/python benchmarks/caption_bleu.py captions.txt

We compare words in lower case without punctuation, and penalise captions that are too short. Xu et al. (2015) report
BLEU without a brevity penalty, and the references in their repository (kelvinxu/arctic-captions, ref/8k) keep the full
stop that ends nearly every caption: a word that is nearly always right. It is not known whether their scores count it.

Each file has one caption a line, in the order of the test pictures; every caption gets the full stop that our models do
not write. Without files, the first caption that people wrote is scored against the other four.
"""

import argparse
from collections import defaultdict
from pathlib import Path

from regard.data.captions.files import plain_words, read_names
from regard.data.corpora.text import file_of
from regard.data.lines import read_lines
from regard.metrics.bleu import UNCUT, bleu

CAPTIONS, NAMES = "flickr8k:Flickr8k.token.txt.xz", "flickr8k:Flickr_8k.testImages.txt"


def read_references() -> list[list[str]]:
    """The human captions of every test picture, in lower case and with their punctuation."""
    of_picture: dict[str, list[str]] = defaultdict(list)
    for line in read_lines(file_of(CAPTIONS)):
        name, _, caption = line.partition("\t")
        of_picture[name.rpartition("#")[0]].append(" ".join(caption.lower().split()))
    return [of_picture[name] for name in read_names(NAMES)]


def print_scores(title: str, captions: list[str], references: list[list[str]]) -> None:
    """Print BLEU-1 to BLEU-4 in four ways, and the length of the captions relative to the nearest references."""
    plain = [[plain_words(caption) for caption in own] for own in references]
    stopped = [f"{caption} ." for caption in captions]
    print(title)
    for way, texts, human, penalised in (
        ("words, brevity penalty", captions, plain, True),
        ("words", captions, plain, False),
        ("words and full stops, brevity penalty", stopped, references, True),
        ("words and full stops", stopped, references, False),
    ):
        scores = [
            bleu(UNCUT, orders=order).corpus_score(texts, list(zip(*human, strict=True))) for order in (1, 2, 3, 4)
        ]
        values = " / ".join(f"{score.score / (1 if penalised else score.bp):.1f}" for score in scores)
        print(f"  {way:40s} {values}   length {scores[-1].sys_len / scores[-1].ref_len:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("captions", type=Path, nargs="*", help="files of captions of the test pictures, one a line")
    arguments = parser.parse_args()
    references = read_references()
    for file in arguments.captions:
        captions = file.read_text(encoding="utf-8").splitlines()
        if len(captions) != len(references):
            parser.error(f"{file} has {len(captions)} lines, but there are {len(references)} test pictures")
        print_scores(str(file), captions, references)
    if not arguments.captions:
        print_scores("people", [plain_words(own[0]) for own in references], [own[1:] for own in references])


if __name__ == "__main__":
    main()
