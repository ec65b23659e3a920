"""WordPiece and byte pairs: our tokenisers beside those of Hugging Face's tokenizers, on the same text and one core.

Both cut the same lines by the same vocabulary, learnt here from the text itself; lines whose tokens differ are counted.
The first pass meets every word for the first time, the second has met them before; seconds are of the process, so that
others on the machine do not count. Names of files are as in recipes.

    .venv/bin/python benchmarks/tokenisers.py brown:brown.txt tatoeba-en-pt:eng-por.test-v2021-08-07.tsv
"""

import argparse
import os
import time
from collections.abc import Callable, Sequence
from itertools import islice

os.environ["TOKENIZERS_PARALLELISM"] = "false"

from regard.data.corpora.text import file_of
from regard.data.lines import read_lines
from regard.data.tokenisers.byte_pairs import BytePairTokeniser, byte_symbols
from regard.data.tokenisers.wordpiece import WordPieceOptions, WordPieceTokeniser, learn_wordpieces

LINES, VOCABULARY = 20_000, 8_000
Encode = Callable[[list[str]], list[list[int]]]


def seconds(encode: Encode, lines: list[str]) -> tuple[float, list[list[int]]]:
    start = time.process_time()
    tokens = encode(lines)
    return time.process_time() - start, tokens


def wordpieces(lines: list[str]) -> tuple[Encode, Encode]:
    """Return ours and theirs with a vocabulary that ours has learnt."""
    from tokenizers.implementations import BertWordPieceTokenizer

    ours = learn_wordpieces(lines, VOCABULARY, WordPieceOptions())
    vocabulary = {piece: token for token, piece in enumerate(ours.pieces(range(ours.size)))}
    theirs = BertWordPieceTokenizer(vocabulary, lowercase=True)
    fresh = WordPieceTokeniser(list(vocabulary), WordPieceOptions())
    return fresh.encode_all, lambda texts: [each.ids for each in theirs.encode_batch(texts, add_special_tokens=False)]


def byte_pairs(lines: list[str]) -> tuple[Encode, Encode]:
    """Return ours and theirs with pairs that theirs has learnt."""
    import json

    from tokenizers import ByteLevelBPETokenizer

    theirs = ByteLevelBPETokenizer()
    theirs.train_from_iterator(lines, vocab_size=VOCABULARY, special_tokens=["<|endoftext|>"], show_progress=False)
    model = json.loads(theirs.to_str())["model"]
    words = sorted(model["vocab"], key=model["vocab"].__getitem__)
    assert set(byte_symbols()) <= set(words)
    ours = BytePairTokeniser(words, [tuple(pair) for pair in model["merges"]], model["vocab"]["<|endoftext|>"])
    return ours.encode_all, lambda texts: [each.ids for each in theirs.encode_batch(texts)]


def compare(name: str, kind: str, pair: tuple[Encode, Encode], lines: list[str]) -> None:
    (first, tokens), (theirs_first, their_tokens) = (seconds(encode, lines) for encode in pair)
    again, theirs_again = (seconds(encode, lines)[0] for encode in pair)
    different = sum(one != other for one, other in zip(tokens, their_tokens, strict=True))
    count = sum(map(len, tokens))
    print(
        f"{name:40} {kind:10} {count:9,} tokens  ours {count / first:11,.0f} a second, then {count / again:11,.0f}  "
        f"tokenizers {count / theirs_first:11,.0f}, then {count / theirs_again:11,.0f}  "
        f"{different:,} of {len(lines):,} lines differ",
        flush=True,
    )


def main(names: Sequence[str]) -> None:
    for name in names:
        lines = list(islice(read_lines(file_of(name)), LINES))
        compare(name, "wordpiece", wordpieces(lines), lines)
        compare(name, "byte pairs", byte_pairs(lines), lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", help="text files, named as in recipes")
    main(parser.parse_args().names)
