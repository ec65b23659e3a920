"""ARPA files: written models read back bit for bit, and every kind of damage has its message."""

import io
from pathlib import Path

import numpy as np
import pytest
from counted import BEGIN, SPECIAL, UNKNOWN, counts_of, following, possible, tokens_of, vocabulary
from hypothesis import given
from hypothesis import strategies as st

from regard.base.faults import Fault
from regard.models.ngram import NgramOptions, Ngrams
from regard.models.ngram.arpa import read_arpa
from regard.models.ngram.arpa_text import arpa_blocks
from regard.models.ngram.smoothing import estimate

LINES = ["eu amo livros .", "eu amo você .", "você ama livros ."]
SMALL = """# made by hand

\\data\\
ngram 1=4
ngram 2=2

\\1-grams:
-99\t<s>\t-0.3
-1.0\t</s>
-0.5\ta\t-0.2
-0.7\tb\t0.1

\\2-grams:
-0.25\t<s> a
-0.125\ta b

\\end\\
"""


def read(text: str | bytes, name: str = "small.arpa") -> tuple[list[str], Ngrams]:
    return read_arpa(io.BytesIO(text.encode() if isinstance(text, str) else text), name, SPECIAL)


def written(model: Ngrams, words: list[str]) -> bytes:
    return b"".join(arpa_blocks(model, [None, *SPECIAL, *words]))


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("smoothing", ["kneser-ney", "add-k"])
def test_what_is_written_is_read_back_to_the_bit(order: int, smoothing: str) -> None:
    counts = counts_of(LINES, order)
    options = NgramOptions(order=order, smoothing=smoothing, discount_fallback=smoothing == "kneser-ney")
    model = estimate(options, counts, BEGIN, possible(counts.trie.size))
    words, again = read(written(model, vocabulary(LINES)))
    assert words == vocabulary(LINES)
    for mine, other in (
        (model.trie.keys, again.trie.keys),
        (model.log_probabilities, again.log_probabilities),
        (model.backoffs, again.backoffs),
    ):
        for before, after in zip(mine, other, strict=True):
            np.testing.assert_array_equal(before, after)


def test_a_file_of_kenlm_is_read_and_written_with_the_same_numbers() -> None:
    path = Path(__file__).with_name("made_by_kenlm") / "trigrams.arpa"
    words, model = read(path.read_bytes())
    _, again = read(written(model, words))
    for before, after in zip(model.log_probabilities, again.log_probabilities, strict=True):
        np.testing.assert_array_equal(before, after)


def test_a_small_file_by_hand() -> None:
    words, model = read(SMALL)
    assert words == ["a", "b"]
    text = tokens_of(["a b a"], words)
    # It has a after <s> and b after a. It backs off for a after b, and for the end after a.
    assert model.score(text, text == BEGIN)[1:] == pytest.approx([-0.25, -0.125, 0.1 - 0.5, -0.2 - 1.0])


def test_in_a_model_that_was_pruned_a_longer_n_gram_may_be_there_without_its_end() -> None:
    """It has a b c but not b c, nor b as a context."""
    text = (
        SMALL.replace("ngram 1=4", "ngram 1=5")
        .replace("ngram 2=2", "ngram 2=2\nngram 3=1")
        .replace("-0.7\tb\t0.1", "-0.7\tb\t0.1\n-0.9\tc")
        .replace("a b\n\n", "a b\t-0.3\n\n\\3-grams:\n-0.05\ta b c\n\n")
    )
    words, model = read(text)
    tokens = tokens_of(["a b c", "b c", "a b a"], words)
    scores = model.score(tokens, tokens == BEGIN)[tokens != BEGIN]
    # After a b and after b there is only c. a and c itself back off by all weights on the way.
    assert scores[[2, 5, 9]] == pytest.approx([-0.05, 0.1 - 0.9, -0.3 + 0.1 - 0.5])
    a, b, c = 4, 5, 6
    assert following(model, a, b)[[c, a]] == pytest.approx([-0.05, -0.3 + 0.1 - 0.5])


def test_without_an_unknown_word_it_has_what_kenlm_gives_it() -> None:
    _, model = read(SMALL)
    assert model.log_probabilities[0][UNKNOWN] == -100


def test_windows_lines_and_spaces_for_tabs_are_read_too() -> None:
    _, model = read(SMALL.replace("\n", "\r\n").replace("\t", " "))
    _, same = read(SMALL)
    assert model.backoffs[0].tolist() == same.backoffs[0].tolist()


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("\\data\\", "data", "small.arpa is not an ARPA file: it does not begin with \\data\\."),
        ("ngram 2=2", "ngram 3=2", "line 5: found 'ngram 3=2' where 'ngram 2=' and a number should be."),
        ("ngram 2=2", "ngram 2=x", "line 5: found 'ngram 2=x' where"),
        (
            "ngram 1=4",
            "ngram 1=5",
            "line 13: '\\2-grams:' is not a 1-gram with its probability; expected 5 of them here.",
        ),
        ("ngram 1=4", "ngram 1=3", "line 11: found '-0.7\tb\t0.1' where \\2-grams: should be."),
        ("ngram 2=2", "ngram 2=99999999999", "line 17: '\\end\\' is not a 2-gram"),
        ("\\2-grams:", "\\3-grams:", "line 13: found '\\3-grams:' where \\2-grams: should be."),
        ("-0.7", "zero", "line 11: 'zero\tb\t0.1' has something else where a number should be."),
        ("-0.7", "0.7", "line 11: 0.7 is not the logarithm of a probability."),
        ("-0.7", "nan", "line 11: nan is not the logarithm of a probability."),
        ("-0.7", "-inf", "line 11: -inf is not the logarithm of a probability."),
        ("b\t0.1", "b\tinf", "line 11: inf is not a back-off weight that a 1-gram may have."),
        ("a b\n", "a b\t-0.5\n", "line 15: -0.5 is not a back-off weight that a 2-gram may have."),
        ("a b\n", "a c\n", "line 15: 'c' is not among the single words."),
        ("a b\n", "a\n", "line 15: '-0.125\ta' is not a 2-gram with its probability"),
        ("a b\n", "a b c d\n", "line 15: '-0.125\ta b c d' is not a 2-gram"),
        ("a b\n", "<s> a\n", "small.arpa has a repeated 2-gram."),
        ("\tb\t", "\ta\t", "line 11: 'a' occurs twice."),
        ("\t<s>\t", "\tc\t", "small.arpa has no <s> among its words"),
        ("\\end\\\n", "", "small.arpa is incomplete: it ends where \\end\\ should be."),
        ("\\end\\", "\\end\\\nmore", "line 18: unexpected 'more' after the end."),
        (SMALL[SMALL.index("-0.125") :], "", "small.arpa is incomplete: it ends after 1 of its 2 2-grams."),
        (SMALL[SMALL.index("ngram 1") :], "", "small.arpa is incomplete: it does not say how many n-grams it has."),
        (SMALL, "", "small.arpa is not an ARPA file"),
    ],
)
def test_every_damage_is_told_with_its_line(old: str, new: str, sentence: str) -> None:
    assert old in SMALL
    with pytest.raises(Fault) as caught:
        read(SMALL.replace(old, new))
    assert sentence in str(caught.value).replace("\\t", "\t")


def test_a_context_that_is_not_there_is_told() -> None:
    text = SMALL.replace("ngram 2=2", "ngram 2=2\nngram 3=1").replace("\\end\\", "\\3-grams:\n-0.1\tb a b\n\n\\end\\")
    with pytest.raises(Fault, match="has 'b a b' among its 3-grams, but not 'b a' among its 2-grams"):
        read(text)


def test_more_orders_than_can_be_read_are_refused() -> None:
    counts = "".join(f"ngram {order}=1\n" for order in range(1, 22))
    with pytest.raises(Fault, match="has 21-grams, but orders above 20 cannot be read"):
        read(f"\\data\\\n{counts}\n\\1-grams:\n")


def test_bytes_that_are_no_text_and_endless_lines_are_refused() -> None:
    with pytest.raises(Fault, match="line 11: a word is not valid UTF-8"):
        read(SMALL.encode().replace(b"\tb\t", b"\t\xff\t"))
    with pytest.raises(Fault, match="no n-gram needs"):
        read(b"\\data\\\nngram 1=2\n\n\\1-grams:\n" + b"x" * 3_000_000)


@given(st.data())
def test_whatever_is_changed_it_is_read_or_refused(data: st.DataObject) -> None:
    text = bytearray(SMALL.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(text) - 1))
        text[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    try:
        _, model = read(bytes(text))
    except Fault:
        return
    assert all(np.isfinite(backoff).all() for backoff in model.backoffs)
