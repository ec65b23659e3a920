"""What KenLM makes of the same text. Its files in `made_by_kenlm/` were made by KenLM 0.3.0, nothing pruned, with

lmplz -o 3 --text text.txt --arpa trigrams.arpa
query -v summary trigrams.arpa < new.txt

and pruned, with `--prune 0 0 1`, as pruned.arpa.
"""

from pathlib import Path

import numpy as np
import pytest
from counted import BEGIN, SPECIAL, UNKNOWN, counts_of, possible, tokens_of, vocabulary

from regard.models.ngram import NgramOptions, Ngrams
from regard.models.ngram.arpa import read_arpa
from regard.models.ngram.arpa_text import arpa_blocks
from regard.models.ngram.smoothing import estimate

FOLDER = Path(__file__).with_name("made_by_kenlm")
PERPLEXITY, WITHOUT_UNKNOWN, UNKNOWN_WORDS, TOKENS = 70.48544839655162, 29.75078570835359, 36, 146


def lines(name: str) -> list[str]:
    return (FOLDER / name).read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def theirs() -> tuple[list[str], Ngrams]:
    with (FOLDER / "trigrams.arpa").open("rb") as stream:
        return read_arpa(stream, "trigrams.arpa", SPECIAL)


@pytest.fixture(scope="module")
def ours() -> Ngrams:
    counts = counts_of(lines("text.txt"), 3)
    return estimate(NgramOptions(order=3), counts, BEGIN, possible(counts.trie.size))


def test_every_n_gram_has_the_probability_and_the_back_off_that_kenlm_gives_it(
    theirs: tuple[list[str], Ngrams], ours: Ngrams
) -> None:
    words, model = theirs
    assert words == vocabulary(lines("text.txt"))
    for mine, other in zip(ours.trie.keys, model.trie.keys, strict=True):
        np.testing.assert_array_equal(mine, other)
    for mine, other in zip(ours.log_probabilities, model.log_probabilities, strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-6)
    for mine, other in zip(ours.backoffs, model.backoffs, strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-6)


def test_new_text_has_the_perplexities_that_kenlm_prints(theirs: tuple[list[str], Ngrams], ours: Ngrams) -> None:
    words, model = theirs
    text = tokens_of(lines("new.txt"), words)
    predicted, in_vocabulary = text != BEGIN, text != UNKNOWN
    for candidate in (model, ours):
        scores = candidate.score(text, text == BEGIN)
        assert predicted.sum() == TOKENS
        assert (~in_vocabulary).sum() == UNKNOWN_WORDS
        assert 10 ** -scores[predicted].mean() == pytest.approx(PERPLEXITY, rel=1e-6)
        assert 10 ** -scores[predicted & in_vocabulary].mean() == pytest.approx(WITHOUT_UNKNOWN, rel=1e-6)


def test_a_pruned_model_has_the_n_grams_and_the_numbers_of_lmplz() -> None:
    text, new = lines("text.txt"), lines("new.txt")
    with (FOLDER / "pruned.arpa").open("rb") as stream:
        words, theirs = read_arpa(stream, "pruned.arpa", SPECIAL)
    counts = counts_of(text, 3)
    ours = estimate(NgramOptions(order=3, prune=[0, 0, 1]), counts, BEGIN, possible(counts.trie.size))
    assert [ours.trie.rows(order) for order in (2, 3)] == [782, 32]
    for mine, other in zip(ours.trie.keys, theirs.trie.keys, strict=True):
        np.testing.assert_array_equal(mine, other)
    for mine, other in zip(
        [*ours.log_probabilities, *ours.backoffs], [*theirs.log_probabilities, *theirs.backoffs], strict=True
    ):
        np.testing.assert_allclose(mine, other, atol=1e-6)
    tokens = tokens_of(new, words)
    scores = ours.score(tokens, tokens == BEGIN)[tokens != BEGIN]
    assert 10 ** -scores.mean() == pytest.approx(70.45128578124891, rel=1e-6)


def test_kenlm_reads_what_we_write_and_scores_the_same(ours: Ngrams, tmp_path: Path) -> None:
    kenlm = pytest.importorskip("kenlm", reason="KenLM comes as source only")
    words = vocabulary(lines("text.txt"))
    path = tmp_path / "ours.arpa"
    path.write_bytes(b"".join(arpa_blocks(ours, [None, *SPECIAL, *words])))
    theirs = kenlm.Model(str(path))
    for line in lines("new.txt"):
        text = tokens_of([line], words)
        assert theirs.score(line) == pytest.approx(ours.score(text, text == BEGIN)[1:].sum(), abs=1e-4)


def test_fallback_discounts_are_those_of_kenlm() -> None:
    """Output of `lmplz -o 3 --discount_fallback` for two lines."""
    counts = counts_of(["a b", "b a c"], 3)
    model = estimate(NgramOptions(order=3, discount_fallback=True), counts, BEGIN, possible(counts.trie.size))
    a, b, c, end = 4, 5, 6, 3
    scores = {
        (UNKNOWN,): -1, (c,): -0.7659168, (BEGIN, a): -0.4301247, (c, end): -0.20660876, (a, c): -0.4740302,
        (a, b, end): -0.1638568, (b, a, c): -0.17531641,
    }  # fmt: skip
    for words, score in scores.items():
        row = model.trie.spell(len(words)).tolist().index(list(words))
        assert model.log_probabilities[len(words) - 1][row] == pytest.approx(score, abs=1e-6)
    assert model.backoffs[0][[BEGIN, a, b, c]] == pytest.approx([-0.30103] * 4, abs=1e-6)
