"""HPPR: phrase tags of trees, its three parts counted by hand, and refused trees."""

import math

import pytest

from regard.base.faults import Fault
from regard.data.trees.tree import read_tree
from regard.metrics import score
from regard.metrics.hppr import check_trees, hppr, phrase_tags

CAT = "(S (NP (DT The) (NN cat)) (VP (VBZ naps)) (. .))"
CHAT = "(SENT (NP (DET Le) (NC chat)) (VN (V dort)) (PONCT .))"
LONG = "(S (NP (DT The) (NN cat)) (VP (VBZ naps) (PP (IN on) (NP (DT a) (NN mat)))) (. .))"


def value(output: str, source: str) -> float:
    return score([output], [source], "hppr").value


def test_the_phrases_are_read_as_their_brackets_open_and_have_universal_tags() -> None:
    assert phrase_tags(read_tree(LONG)) == ["S", "NP", "VP", "PP", "NP"]
    assert phrase_tags(read_tree(CHAT)) == ["S", "NP", "VP"]
    assert phrase_tags(read_tree("(FOO (ADJP (JJ red)) (COORD (CC et)))")) == ["X", "AJP", "COP"]


def test_trees_of_two_languages_with_the_same_phrases_score_one() -> None:
    assert value(CAT, CHAT) == pytest.approx(1)


def test_the_three_parts_as_on_paper() -> None:
    """S NP VP against S NP VP PP NP: places 1/3, 2/3, 3/3 against 1/5, 2/5, 3/5; all 3, 2, 1 n-grams are shared."""
    places = math.exp(-((1 / 3 - 1 / 5) + (2 / 3 - 2 / 5) + (3 / 3 - 3 / 5)) / 3)
    recall = 1 / 6 * 3 / 5 + 2 / 6 * 2 / 4 + 3 / 6 * 1 / 3
    assert value(CAT, LONG) == pytest.approx(11 / (1 / places + 9 / 1 + 1 / recall))


def test_a_phrase_without_partner_is_as_far_as_its_place() -> None:
    """NP VP against NP AJP: the first has its partner, the second is 2/2 away; no pair is shared."""
    places, half = math.exp(-1 / 2), 1 / 6 * 1 / 2
    result = value("(NP (VP (V a)))", "(NP (ADJP (A a)))")
    assert result == pytest.approx(11 / (1 / places + 9 / half + 1 / half))


def test_trees_with_nothing_in_common_score_zero() -> None:
    assert value("(NP (N a))", "(VP (V a))") == 0


def test_the_weights_choose_what_counts() -> None:
    of_recall, _ = hppr(0, 0, 1)([CAT], [[LONG]])
    assert of_recall == pytest.approx(1 / 6 * 3 / 5 + 2 / 6 * 2 / 4 + 3 / 6 * 1 / 3)


@pytest.mark.parametrize(
    ("output", "source", "words"),
    [
        ("The cat naps.", CAT, "this output is not one, because 'The' is not in brackets with a tag: 'The cat naps.'"),
        (CAT, "(S (NP (DT The)", "this source is not one, because 2 of its brackets are not closed"),
        ("(S (NP (-NONE- *)))", CAT, "this output is not one, because it has no words"),
    ],
)
def test_what_is_no_tree_is_refused(output: str, source: str, words: str) -> None:
    with pytest.raises(Fault, match="HPPR compares trees") as refusal:
        value(output, source)
    assert words in str(refusal.value)


def test_trees_fit_their_sentences_whatever_parts_the_words() -> None:
    quoted = "(S (`` ``) (NP (PRP$ l') (NN (-LRB- -LRB-) (N chat) (-RRB- -RRB-))) ('' ''))"
    check_trees("trees", [CAT, quoted], "text", ["The cat  naps.", "“l'(chat)”"])


def test_a_tree_that_does_not_fit_its_sentence_is_refused_with_both() -> None:
    with pytest.raises(Fault, match=r"^t, line 2: the words of the tree are 'The cat naps \.', but line 2 of text is"):
        check_trees("t", [CAT, CAT], "text", ["The cat naps.", "The dog naps."])
    with pytest.raises(Fault, match="trees has 1 trees but text has 2 sentences"):
        check_trees("trees", [CAT], "text", ["The cat naps.", "x"])
