"""Trees are read, normalised and written as lines, and malformed lines are repaired as promised."""

import pytest

from regard.data.trees.linear import fill, linearise, mend_line, read_line, spans
from regard.data.trees.tree import Leaf, NoTree, Tree, normalise, read_tree

# The subject of "to leave" is implicit, "0" stands for an omitted "that", and the labels carry functions.
FULL = """( (S (NP-SBJ-1 (DT The) (NN cat) ) (VP (VBZ says) (SBAR (-NONE- 0) (S (NP-SBJ (-NONE- *-1) )
    (VP (TO to) (VP (VB leave) (ADVP|PRT (RP out) (NP=2 (-NONE- *T*) )))))))(. .) ))"""
PLAIN = "(S (NP (DT The) (NN cat)) (VP (VBZ says) (SBAR (S (VP (TO to) (VP (VB leave) (ADVP (RP out))))))) (. .))"
LINE = "(S (NP DT NN )NP (VP VBZ )VP . )S"


def test_what_is_not_scored_is_removed() -> None:
    assert str(normalise(read_tree(FULL))) == PLAIN


def test_a_normal_tree_stays_as_it_is() -> None:
    assert str(normalise(read_tree(PLAIN))) == PLAIN


def test_several_trees_in_one_nameless_bracket_get_a_root() -> None:
    assert normalise(read_tree("( (NP (NN a)) (. .))")).label == "TOP"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(S (NP (NN a))", "1 of its brackets are not closed"),
        ("(S (NN a)))", "a bracket is closed that was not opened"),
        ("(S a b)", "'a' is not in brackets|'b' is not in brackets"),
        ("(S (NN a)) (S (NN b))", "it is not one phrase"),
        ("", "it is not one phrase"),
    ],
)
def test_what_is_no_tree_is_refused(text: str, words: str) -> None:
    with pytest.raises(NoTree, match=words):
        read_tree(text)


def test_a_tree_without_words_is_none() -> None:
    with pytest.raises(NoTree, match="it has no words"):
        normalise(read_tree("( (S (NP (-NONE- *)) ))"))


def test_a_tree_becomes_a_line_of_tags_or_of_marks() -> None:
    tree = read_tree("(S (NP (DT The) (NN cat)) (VP (VBZ sleeps)) (. .))")
    assert linearise(tree, "tags") == LINE
    assert linearise(tree, "marks") == "(S (NP XX XX )NP (VP XX )VP . )S"


def test_a_line_read_and_written_again_is_the_same() -> None:
    assert linearise(read_line(LINE), "tags") == LINE


def test_phrases_span_their_words() -> None:
    assert spans(read_line(LINE)) == [("S", 0, 4), ("NP", 0, 2), ("VP", 2, 3)]


@pytest.mark.parametrize(
    ("line", "mended", "fault"),
    [
        ("(S (NP DT NN )NP", "(S (NP DT NN )NP )S", "'(S' stays open"),
        ("(S (NP DT NN )S", "(S (NP DT NN )NP )S", "')S' does not close what was opened last"),
        ("(S (NP DT )VP NN )NP )S", "(S (NP DT NN )NP )S", "')VP' does not close"),
        ("(S (NP )NP NN )S", "(S NN )S", "'(NP' has no words"),
        ("(S NN )S (X NN )X", "(TOP (S NN )S (X NN )X )TOP", "it is not one phrase"),
        ("NN DT", "(TOP NN DT )TOP", "it is not one phrase"),
        ("", "(TOP )TOP", "it is not one phrase"),
    ],
)
def test_a_line_that_is_no_tree_is_mended_and_strictly_refused(line: str, mended: str, fault: str) -> None:
    assert linearise(mend_line(line), "tags") == mended
    with pytest.raises(NoTree) as refused:
        read_line(line)
    assert str(refused.value).startswith(fault)


def test_a_tree_may_not_be_endlessly_deep() -> None:
    deep = 5000
    with pytest.raises(NoTree, match="more than 200 phrases are nested"):
        read_tree("(S " * deep + "(NN a)" + ")" * deep)
    with pytest.raises(NoTree, match="more than 200 phrases are nested"):
        read_line("(S " * deep + "NN" + " )S" * deep)
    assert spans(mend_line("(S " * deep + "NN")) == [("S", 0, 1)] * 200


def test_words_are_put_back() -> None:
    assert fill(LINE, ["The", "cat", "sleeps", "."]) == "(S (NP (DT The) (NN cat)) (VP (VBZ sleeps)) (. .))"
    assert fill("(NP DT NN )NP", ["The"]) == "(NP (DT The) (NN NN))"
    assert fill("(NP DT )NP", ["The", "cat"]) == "(NP (DT The))"
    assert str(Tree("X", (Leaf("A", "b"),))) == "(X (A b))"
