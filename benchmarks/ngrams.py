"""n-gram models: ours beside KenLM and nltk, on the Penn Treebank, five-grams with nothing pruned, on one core.

Run it with `.venv/bin/python benchmarks/ngrams.py`. Building begins with a text file and ends with an ARPA file; for
nltk, which writes none, it is the counting alone, of some lines. Querying begins with a text file and ends with its
perplexity, by a model that is loaded. Our perplexity must be KenLM's to four digits before a ratio is printed.

All run on one core, which the process is bound to, since lmplz would take several. Our loops are compiled, or loaded
from numba's cache, before the first round; what that takes is said beside the ratios.

KenLM comes as source only: its Python module is in the extra `bench`, and `lmplz` is found on the path where it was
built by cmake. What is not there is passed over. The Penn Treebank comes by `regard data get ptb`; its own <unk> is
written [unk] for all, since lmplz refuses it.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from time import process_time
from typing import Any

import numpy as np
from table import Rate, Ratio, against, in_turns, run_alone

from regard.data.corpora.text import file_of
from regard.data.lines import read_lines
from regard.data.tokenisers.symbols import NAMES
from regard.data.tokenisers.tokeniser import Tokeniser, TokeniserOptions, encode_in_a_row, train_tokeniser
from regard.models.ngram import NgramOptions, Ngrams
from regard.models.ngram.arpa_text import arpa_blocks
from regard.models.ngram.counting import count
from regard.models.ngram.smoothing import estimate
from regard.tasks.language.batches import Sentences, sentences_in_a_row

ORDER = 5
ROUNDS = 5
NLTK_LINES, NLTK_QUERIES = 1000, 2  # lines that nltk counts, and those whose words it predicts
DIGITS = 4


def core_time() -> float:
    """The time of a core that this process and those it started have taken."""
    children = getrusage(RUSAGE_CHILDREN)
    return process_time() + children.ru_utime + children.ru_stime


def plain_copy(name: str, folder: Path) -> Path:
    """A text as plain lines that lmplz takes."""
    path = folder / name
    lines = (line.replace("<unk>", "[unk]") for line in read_lines(file_of(f"ptb:{name}")))
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def read_sentences(text: Path, tokeniser: Tokeniser) -> Sentences:
    tokens, lengths = encode_in_a_row(tokeniser, list(read_lines(text)))
    return sentences_in_a_row(tokens, lengths, tokeniser.begin, tokeniser.end)


def build(text: Path) -> tuple[Tokeniser, Ngrams]:
    """A model of a text, in memory."""
    tokeniser = train_tokeniser(TokeniserOptions(kind="spaces", vocabulary=2**24), read_lines(text))
    batch = read_sentences(text, tokeniser)
    possible = ~np.isin(np.arange(tokeniser.size), (tokeniser.pad, tokeniser.begin))
    counts = count(batch.tokens, batch.starts, ORDER, tokeniser.size)
    return tokeniser, estimate(NgramOptions(order=ORDER), counts, tokeniser.begin, possible)


def build_file(text: Path, arpa: Path, tokens: int) -> float:
    tokeniser, model = build(text)
    names = [None, *NAMES[1:], *tokeniser.pieces(range(len(NAMES), tokeniser.size))]
    with arpa.open("wb") as stream:
        stream.writelines(arpa_blocks(model, names))
    return tokens


def build_by_lmplz(program: str, text: Path, arpa: Path, tokens: int) -> float:
    command = [program, "-o", str(ORDER), "-S", "1G", "--text", str(text), "--arpa", str(arpa)]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    return tokens


def perplexity(tokeniser: Tokeniser, model: Ngrams, text: Path) -> float:
    batch = read_sentences(text, tokeniser)
    return float(10 ** -model.score(batch.tokens, batch.starts)[~batch.starts].mean())


def perplexity_by_kenlm(model: Any, text: Path) -> float:
    total = tokens = 0.0
    for line in read_lines(text):
        total += model.score(line)
        tokens += len(line.split()) + 1
    return float(10 ** (-total / tokens))


def nltk_rates(text: Path) -> tuple[Rate, Rate]:
    """Tokens a second that nltk counts, and that it predicts, by interpolated Kneser–Ney with one discount."""
    from nltk.lm import KneserNeyInterpolated
    from nltk.lm.preprocessing import pad_both_ends, padded_everygram_pipeline
    from nltk.util import ngrams

    lines = [line.split() for line in read_lines(text)][:NLTK_LINES]
    model = KneserNeyInterpolated(ORDER)

    def fit() -> float:
        model.fit(*padded_everygram_pipeline(ORDER, lines))
        return sum(map(len, lines)) + len(lines)

    def ask() -> float:
        asked = [list(ngrams(pad_both_ends(line, n=ORDER), ORDER)) for line in lines[:NLTK_QUERIES]]
        for each in asked:
            model.perplexity(each)
        return sum(map(len, asked))

    return in_turns({"fit": fit}, 1)["fit"], in_turns({"ask": ask}, 1)["ask"]


def tokens_of(text: Path) -> int:
    return sum(len(line.split()) + 1 for line in read_lines(text))


def ratios() -> Iterator[Ratio]:
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        train, test = (plain_copy(f"ptb.{split}.txt", folder) for split in ("train", "test"))
        yield from _building(train, folder)
        yield from _querying(train, test, folder)


def _building(train: Path, folder: Path) -> Iterator[Ratio]:
    tokens = tokens_of(train)
    contenders = {"ours": partial(build_file, train, folder / "ours.arpa", tokens)}
    if lmplz := shutil.which("lmplz"):
        contenders["KenLM (lmplz)"] = partial(build_by_lmplz, lmplz, train, folder / "kenlm.arpa", tokens)
    before = core_time()
    build_file(train, folder / "ours.arpa", tokens)
    print(f"the first build took {core_time() - before:.1f} seconds of a core, with what is compiled", file=sys.stderr)
    rates = in_turns(contenders, ROUNDS, core_time)
    ours = rates.pop("ours")
    yield from against("build five-grams, to an ARPA file", ours, rates, "tokens")


def _querying(train: Path, test: Path, folder: Path) -> Iterator[Ratio]:
    tokeniser, model = build(train)
    trained_on, tokens = tokens_of(train), tokens_of(test)
    ours_found = perplexity(tokeniser, model, test)

    def ours() -> float:
        perplexity(tokeniser, model, test)
        return tokens

    contenders = {"ours": ours}
    if find_spec("kenlm") and (folder / "kenlm.arpa").is_file():
        import kenlm

        peer = kenlm.Model(str(folder / "kenlm.arpa"))
        found = perplexity_by_kenlm(peer, test)
        if f"{ours_found:.{DIGITS}g}" != f"{found:.{DIGITS}g}":
            raise SystemExit(f"The perplexity is {ours_found} here and {found} by KenLM.")

        def theirs() -> float:
            perplexity_by_kenlm(peer, test)
            return tokens

        contenders["KenLM"] = theirs
    rates = in_turns(contenders, ROUNDS)
    our_rate = rates.pop("ours")
    yield from against("perplexity of a file", our_rate, rates, "tokens")
    if find_spec("nltk"):
        counted, asked = nltk_rates(train)
        built = in_turns({"ours": lambda: build(train) and trained_on}, 1)["ours"]
        yield from against("build five-grams, in memory", built, {"nltk": counted}, "tokens")
        yield from against("perplexity of a file", our_rate, {"nltk": asked}, "tokens")


if __name__ == "__main__":
    run_alone(__doc__, ratios)
