"""Error rates: counted by hand, compared with the definition of edits, and refused where undefined."""

import unicodedata
from functools import cache
from random import Random

import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

from regard.base.faults import Fault
from regard.metrics import BETTER, METRICS, References, score

sentences = st.lists(st.sampled_from(["a", "b", "não", "ещё"]), max_size=6).map(" ".join)
full_sentences = sentences.filter(bool)


def value(hypotheses: list[str], references: list[str] | References, metric: str) -> float:
    return score(hypotheses, references, metric).value


# Answers computed by hand


@pytest.mark.parametrize(
    ("hypothesis", "reference", "rate"),
    [
        ("AH B AE D IY", "AH B AE D IY", 0),
        ("AH B EY D IY", "AH B AE D IY", 20),  # one replaced
        ("AH B AE IY", "AH B AE D IY", 20),  # one missing
        ("AH B AE D D IY", "AH B AE D IY", 20),  # one too many
        ("B AH", "AH B", 100),  # a swap is two edits
        ("", "a b", 100),
        ("a b c", "x", 300),
        ("A b", "a b", 50),
        ("a, b", "a b", 50),
        ("  a\tb\u00a0c ", "a b c", 0),
    ],
)
def test_words_are_edited_one_by_one(hypothesis: str, reference: str, rate: float) -> None:
    assert value([hypothesis], [reference], "wer") == rate


@pytest.mark.parametrize(
    ("hypothesis", "reference", "rate"),
    [
        ("кот", "кит", 100 / 3),
        ("ab", "a b", 100 / 3),
        (" a b ", "a b", 0),
        ("nao", "não", 100 / 3),
        ("na\u0303o", "n\u00e3o", 0),
        ("за\u0301мок", "замок", 20),  # no code point is both letter and stress mark
        ("é", "e\u0301 👍", 200 / 3),
    ],
)
def test_characters_are_code_points_in_nfc(hypothesis: str, reference: str, rate: float) -> None:
    assert value([hypothesis], [reference], "cer") == pytest.approx(rate)


def test_edits_and_lengths_are_summed_before_they_are_divided() -> None:
    assert value(["x", "a b c d"], ["a", "a b c d"], "wer") == 20
    assert value(["x", "abcd"], ["a", "abcd"], "cer") == 20
    assert value(["", "a"], ["", "a"], "wer") == 0


@pytest.mark.parametrize(
    ("hypotheses", "share"),
    [(["K AH Z", "S IY"], 100), (["K AH Z", "s iy"], 50), ([" K AH Z ", "S  IY"], 50), (["Z", ""], 0)],
)
def test_exact_matches_are_counted_in_percent(hypotheses: list[str], share: float) -> None:
    assert value(hypotheses, ["K AH Z", "S IY"], "exact") == share


def test_the_nearest_reference_counts() -> None:
    references = [["a b c d", "a"], ["a b x", None], ["y", "z"]]
    assert value(["a b", "z"], references, "wer") == 100 * 1 / (3 + 1)
    assert value(["a b x", "q"], references, "exact") == 50
    assert value(["ab", "z"], [["xyz", "z"], ["abc", None]], "cer") == 25


def test_of_equally_near_references_the_first_counts() -> None:
    assert value(["a b"], [["a b c"], ["a"]], "wer") == pytest.approx(100 / 3)
    assert value(["a b"], [["a"], ["a b c"]], "wer") == 100


# Laws


@cache
def plain_distance(left: tuple[str, ...], right: tuple[str, ...]) -> int:
    """Return the edit distance by definition: the cheapest edit of the first units, then the rest."""
    if not left or not right:
        return len(left) + len(right)
    return min(
        plain_distance(left[1:], right) + 1,
        plain_distance(left, right[1:]) + 1,
        plain_distance(left[1:], right[1:]) + (left[0] != right[0]),
    )


@given(sentences, full_sentences)
def test_rates_follow_the_definition_of_edits(hypothesis: str, reference: str) -> None:
    words = tuple(reference.split())
    edits = plain_distance(tuple(hypothesis.split()), words)
    assert value([hypothesis], [reference], "wer") == pytest.approx(100 * edits / len(words))
    edits = plain_distance(tuple(hypothesis), tuple(reference))
    assert value([hypothesis], [reference], "cer") == pytest.approx(100 * edits / len(reference))


@given(st.lists(st.tuples(sentences, full_sentences), min_size=1, max_size=5), st.randoms())
def test_neither_order_nor_the_form_of_unicode_matters(pairs: list[tuple[str, str]], random: Random) -> None:
    shuffled = random.sample(pairs, len(pairs))
    decomposed = [(unicodedata.normalize("NFD", written), reference) for written, reference in shuffled]
    for metric in ("wer", "cer", "exact"):
        first, second = (value(*map(list, zip(*texts, strict=True)), metric) for texts in (pairs, decomposed))
        assert first == pytest.approx(second)


@given(st.lists(full_sentences, min_size=1, max_size=5), sentences)
def test_what_equals_a_reference_is_faultless(wanted: list[str], other: str) -> None:
    for references in ([wanted], [[other] * len(wanted), wanted]):
        assert value(wanted, references, "wer") == value(wanted, references, "cer") == 0
        assert value(wanted, references, "exact") == 100


# Signatures and the table


@pytest.mark.parametrize(
    ("references", "count"),
    [(["a", "b"], "1"), ([["a", "b"], ["c", "d"]], "2"), ([["a", "b"], ["c", None]], "var")],
)
def test_signatures_say_how_a_score_was_made(references: list[str] | References, count: str) -> None:
    signatures = {metric: score(["a", "b"], references, metric).signature for metric in ("wer", "cer", "exact", "bleu")}
    assert signatures["wer"] == f"nrefs:{count}|case:mixed|norm:NFC|ref:nearest|unit:word"
    assert signatures["cer"] == f"nrefs:{count}|case:mixed|norm:NFC|ref:nearest|unit:codepoint"
    assert signatures["exact"] == f"nrefs:{count}|case:mixed|norm:NFC|ref:any|unit:sentence"
    assert signatures["bleu"].startswith(f"nrefs:{count}|case:mixed|")


@pytest.mark.parametrize("metric", ["bleu", "chrf", "chrf++", "ter"])
def test_sacrebleu_scores_sentences_with_fewer_references_on_those_they_have(metric: str) -> None:
    hypotheses = ["the cat sat on the mat", "one dog runs over there"]
    references = [["a cat sat on the mat", "a dog runs over there"], ["the cat sat on the mat", None]]
    makers = {"bleu": sacrebleu.BLEU(), "chrf": sacrebleu.CHRF(), "chrf++": sacrebleu.CHRF(word_order=2)}
    expected = makers.get(metric, sacrebleu.TER()).corpus_score(hypotheses, references).score
    assert value(hypotheses, references, metric) == expected
    assert value(hypotheses, references, metric) != value(hypotheses, references[:1], metric)


def test_of_these_measures_the_lower_is_better_and_of_no_others() -> None:
    assert BETTER.keys() - METRICS.keys() == {"perplexity", "aer"}
    assert {metric for metric in METRICS if BETTER[metric] == "lower"} == {"ter", "wer", "cer", "per"}


# Refusals


@pytest.mark.parametrize(
    ("hypotheses", "references", "metric", "words"),
    [
        (
            ["a"],
            ["a"],
            "were",
            "There is no metric 'were'; there are bleu, bleu1, bleu2, bleu3, bleu-tokenised, chrf, chrf++, ter, "
            "rouge1, rouge2, rougeL, rougeLsum, meteor, meteor-de, meteor-es, meteor-fr, meteor-pt, meteor-ru, "
            "meteor-f1, meteor-f1-pt, meteor-f1-ru, nist, ribes, lepor, lepor-length, lepor-places, lepor-harmonic, "
            "ebleu-2013, cider, wer, cer, per, exact, brackets, well-formed, hppr, ebleu.",
        ),
        (["a"], ["a", "b"], "wer", "There are 1 hypotheses but 2 references."),
        (["a", "b"], [["a", "b"], ["c"]], "wer", "There are 2 hypotheses but 1 references."),
        ([], [], "wer", "There is nothing to score: no hypotheses were given."),
        (["a", "b"], [["a", None], ["c", None]], "exact", "Sentence 2 has no reference; each needs at least one."),
        (["a", "b"], [["a", None], ["c", None]], "bleu", "Sentence 2 has no reference; each needs at least one."),
        (["a"], [""], "wer", "All references are empty, so there is no error rate."),
        (["", ""], ["", " "], "cer", "All references are empty, so there is no error rate."),
    ],
)
def test_what_cannot_be_scored_is_refused(
    hypotheses: list[str], references: list[str] | References, metric: str, words: str
) -> None:
    with pytest.raises(Fault) as fault:
        score(hypotheses, references, metric)
    assert str(fault.value) == words


def test_tokenised_text_is_scored_as_it_is_cut() -> None:
    """Four of five tokens are right in "a b c d e". sacreBLEU's tokeniser would split the full stop off "c."."""
    outputs, reference = ["a b c. d x"], ["a b c. d e"]
    as_cut = score(outputs, reference, "bleu-tokenised")
    assert as_cut.value == pytest.approx(100 * (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25)
    assert "tok:none" in as_cut.signature
    assert score(outputs, reference, "bleu").value != pytest.approx(as_cut.value)
