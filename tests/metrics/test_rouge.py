"""ROUGE: counted by hand, with the examples of Lin (2004), and in scripts its first program did not know."""

import random
from collections import Counter
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.metrics.ngrams import words
from regard.metrics.rouge import COMPARISONS, Overlap, overlap_by_sentence, rouge, stemmed_words

sentences = st.lists(st.sampled_from(["a", "b", "não", "ещё"]), min_size=1, max_size=7).map(" ".join)
any_kind = pytest.mark.parametrize("kind", COMPARISONS)


def value(kind: str, hypothesis: str, *references: str, stemmed: bool = False) -> float:
    return rouge(kind, stemmed)([hypothesis], [[text] for text in references])[0]


@pytest.mark.parametrize(
    ("kind", "hypothesis", "overlap"),
    [
        # Compared with "police killed the gunman", as in section 3.1 of the paper.
        ("rouge1", "police kill the gunman", Overlap(3, 4, 4)),
        ("rouge2", "police kill the gunman", Overlap(1, 3, 3)),
        ("rouge2", "the gunman kill police", Overlap(1, 3, 3)),
        ("rougeL", "police kill the gunman", Overlap(3, 4, 4)),
        ("rougeL", "the gunman kill police", Overlap(2, 4, 4)),
        ("rougeL", "the gunman police killed", Overlap(2, 4, 4)),
        ("rouge1", "the the the", Overlap(1, 3, 4)),
        ("rouge1", "", Overlap(0, 0, 4)),
    ],
)
def test_texts_overlap_as_on_paper(kind: str, hypothesis: str, overlap: Overlap) -> None:
    reference = "Police killed the gunman."
    assert COMPARISONS[kind](words, hypothesis, reference) == overlap
    assert value(kind, hypothesis, reference) == pytest.approx(overlap.f1)


def test_precision_recall_and_their_mean() -> None:
    overlap = Overlap(common=2, written=8, wanted=4)
    assert (overlap.precision, overlap.recall, overlap.f1) == (0.25, 0.5, pytest.approx(1 / 3))
    assert Overlap(0, 0, 0).precision == Overlap(0, 0, 0).recall == Overlap(0, 0, 0).f1 == 0


def test_the_union_of_common_subsequences_counts_for_a_sentence_of_the_reference() -> None:
    """The example of section 3.2: w1 w2 and w1 w3 w5 make w1 w2 w3 w5, four of five words."""
    overlap = overlap_by_sentence(words, "w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5", "w1 w2 w3 w4 w5")
    assert overlap == Overlap(4, 10, 5)


def test_a_word_counts_no_more_often_than_the_summary_holds_it() -> None:
    assert overlap_by_sentence(words, "a b", "a c\na b") == Overlap(2, 2, 4)


@pytest.mark.parametrize(
    ("hypothesis", "reference", "overlap"),
    [
        # From the end, "f a f a c" shares its first a with the first line, its second a with the second line and its
        # second f with the third. The nine words of the summary hold a twice and f once, so all three count.
        ("c a b d\nd a\nb b f\n", "f a f a c", Overlap(3, 9, 5)),
        ("f a f a c", "c a b d\nd a\nb b f\n", Overlap(3, 5, 9)),
        # One letter of "b a" and "a b" is in order. The last word of the reference goes first, which leaves b, and the
        # second line has a. In the opposite order a is left, and the second line has no more than that.
        ("a b\na", "b a", Overlap(2, 3, 2)),
        ("b a\na", "a b", Overlap(1, 3, 2)),
    ],
)
def test_which_of_several_longest_subsequences_counts(hypothesis: str, reference: str, overlap: Overlap) -> None:
    assert overlap_by_sentence(words, hypothesis, reference) == overlap


@cache
def chosen_places(sentence: tuple[str, ...], other: tuple[str, ...]) -> tuple[int, ...]:
    """Return the places of a longest common subsequence by definition, without a table."""
    if not sentence or not other:
        return ()
    if sentence[-1] == other[-1]:
        return (*chosen_places(sentence[:-1], other[:-1]), len(sentence) - 1)
    without_theirs, without_ours = chosen_places(sentence, other[:-1]), chosen_places(sentence[:-1], other)
    return without_theirs if len(without_theirs) > len(without_ours) else without_ours


def common_words(hypothesis: str, reference: str) -> int:
    """Return the common words of ROUGE-Lsum, counted one by one."""
    written = [tuple(line.split()) for line in hypothesis.splitlines()]
    left, common = Counter(hypothesis.split()), 0
    for sentence in (tuple(line.split()) for line in reference.splitlines()):
        for place in sorted({place for other in written for place in chosen_places(sentence, other)}):
            if left[sentence[place]]:
                left[sentence[place]] -= 1
                common += 1
    return common


def texts_of_several_lines(count: int) -> list[tuple[str, str]]:
    """Return summaries and references of a few words each, so that many subsequences tie."""
    chance = random.Random(11)

    def text(alphabet: str) -> str:
        lines = [" ".join(chance.choices(alphabet, k=chance.randint(0, 9))) for _ in range(chance.randint(1, 4))]
        return "\n".join(lines) + "\n"

    return [(text(alphabet), text(alphabet)) for alphabet in chance.choices(["ab", "abcd", "abcdef"], k=count)]


def test_several_lines_have_the_words_in_common_that_the_definition_says() -> None:
    for hypothesis, reference in texts_of_several_lines(400):
        expected = Overlap(common_words(hypothesis, reference), len(hypothesis.split()), len(reference.split()))
        assert overlap_by_sentence(words, hypothesis, reference) == expected, (hypothesis, reference)


def test_several_lines_score_as_rouge_score_scores_them() -> None:
    scorer = pytest.importorskip("rouge_score.rouge_scorer", reason="rouge-score is not installed")
    measure = scorer.RougeScorer(["rougeLsum"])
    for hypothesis, reference in texts_of_several_lines(5000):
        theirs, ours = (
            measure.score(reference, hypothesis)["rougeLsum"],
            overlap_by_sentence(words, hypothesis, reference),
        )
        assert (ours.precision, ours.recall, ours.f1) == pytest.approx(tuple(theirs), abs=1e-12)


def test_lines_are_sentences_for_lsum_only() -> None:
    summary, reference = "c d\na b", "a b\nc d"
    assert value("rougeLsum", summary, reference) == 1
    assert value("rougeL", summary, reference) == 0.5
    assert value("rougeLsum", "a b c", "a c b") == value("rougeL", "a b c", "a c b")


def test_the_value_is_the_mean_over_texts() -> None:
    assert rouge("rouge1")(["a b", "x", ""], [["a b", "y", "z"]])[0] == pytest.approx(1 / 3)


@any_kind
def test_the_best_reference_counts(kind: str) -> None:
    first, second = "a b x y z", "a b c y"
    alone = [value(kind, "a b c", text) for text in (first, second)]
    assert value(kind, "a b c", first, second) == value(kind, "a b c", second, first) == max(alone)
    assert alone[0] != alone[1]


def test_sentences_may_have_fewer_references() -> None:
    mean, signature = rouge("rouge1")(["a", "b"], [["x", "b"], ["a", None]])
    assert mean == 1
    assert signature.startswith("nrefs:var|")


@any_kind
def test_case_punctuation_and_the_form_of_unicode_do_not_count_but_accents_do(kind: str) -> None:
    assert value(kind, "Na\u0303o, ЕЩЁ раз!", "n\u00e3o ещё раз") == 1
    assert value(kind, "nao esta la", "não está lá") == 0


def test_stems_join_what_words_part() -> None:
    assert value("rouge1", "killings", "killed") == 0
    assert value("rouge1", "killings", "killed", stemmed=True) == 1
    assert stemmed_words("was wasted") == ["was", "wast"]  # words of three letters stay unchanged


def test_signatures_say_how_words_were_cut() -> None:
    plain = "nrefs:1|case:lc|norm:NFC|tok:words|stem:off|ref:best|mean:text|range:0-1"
    assert rouge("rougeL")(["a"], [["a"]])[1] == plain
    assert rouge("rougeL", stemmed=True)(["a"], [["a"]])[1] == plain.replace("off", "porter")


@given(st.sampled_from(["rouge1", "rougeL", "rougeLsum"]), sentences, sentences)
def test_it_is_one_for_the_reference_itself_and_stays_between(kind: str, written: str, wanted: str) -> None:
    assert value(kind, wanted, wanted) == 1
    assert 0 <= value(kind, written, wanted) <= 1
    assert value(kind, written, wanted) == pytest.approx(value(kind, wanted, written))


@given(sentences, sentences)
def test_single_sentences_overlap_in_order_however_it_is_found(written: str, wanted: str) -> None:
    """An extra empty line is not a sentence, but selects the longer code path."""
    assert overlap_by_sentence(words, written, wanted) == overlap_by_sentence(words, f"{written}\n", wanted)


def test_the_mean_is_that_of_precision_and_recall_to_the_last_digit() -> None:
    """2 · common / (output + reference) is the same up to rounding, and other programs round this way."""
    overlap = Overlap(common=3, written=7, wanted=11)
    assert overlap.f1 == 2 * (3 / 7) * (3 / 11) / (3 / 7 + 3 / 11)
