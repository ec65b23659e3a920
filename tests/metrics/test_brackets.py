"""Labelled brackets counted by hand, and EVALB's rules one by one."""

import pytest

from regard.base.faults import Fault
from regard.metrics import score
from regard.metrics.utilities import utility

# Brackets without the full stop: S 0-3, NP 0-2, VP 2-3.
CAT = "(S (NP DT NN )NP (VP VBZ )VP . )S"


@pytest.mark.parametrize(
    ("written", "wanted", "value"),
    [
        (CAT, CAT, 100.0),
        # NP is missing: 2 in common, 2 in the output, 3 in the reference.
        ("(S DT NN (VP VBZ )VP . )S", CAT, 100 * 2 * 2 / (2 + 3)),
        # NP is too short: S and VP are right, of 3 and 3.
        ("(S (NP DT )NP NN (VP VBZ )VP . )S", CAT, 100 * 2 * 2 / (3 + 3)),
        # The label is wrong: also 2 of 3 and 3.
        ("(S (PP DT NN )PP (VP VBZ )VP . )S", CAT, 100 * 2 * 2 / (3 + 3)),
        # Punctuation attached elsewhere changes nothing, and parts of speech do not count.
        ("(S (NP DT DT )NP (VP XX . )VP )S", CAT, 100.0),
        # PRT and ADVP are one label.
        ("(VP VB (ADVP RP )ADVP )VP", "(VP VB (PRT RP )PRT )VP", 100.0),
        # A bracket that occurs twice counts twice: 1 in common, 1 in the output, 2 in the reference.
        ("(NP NN )NP", "(NP (NP NN )NP )NP", 100 * 2 * 1 / (1 + 2)),
        # A TOP root and a phrase of punctuation are not brackets.
        ("(TOP (S DT (X , )X )S )TOP", "(S DT , )S", 100.0),
        # Two words too few: S is too short and VP is missing; NP is right, of 2 in the output and 3 in the reference.
        ("(S (NP DT NN )NP )S", CAT, 100 * 2 * 1 / (2 + 3)),
        # An extra word is cut off, and the full stop stays where the sentence has it.
        ("(S (NP DT NN )NP (VP VBZ . . . )VP )S", CAT, 100.0),
        # An open bracket is closed.
        ("(S (NP DT NN )NP (VP VBZ", CAT, 100.0),
        ("nothing of the kind", CAT, 0.0),
        ("", CAT, 0.0),
    ],
)
def test_brackets_counted_by_hand(written: str, wanted: str, value: float) -> None:
    assert score([written], [wanted], "brackets").value == pytest.approx(value)


def test_the_sums_run_over_the_whole_corpus() -> None:
    # 3 of 3 and 3, then 0 of 0 and 1: F1 = 2 * 3 / (3 + 4), not the mean of 100 and 0.
    result = score([CAT, ""], [CAT, "(NP NN )NP"], "brackets")
    assert result.value == pytest.approx(100 * 6 / 7)
    assert result.signature == "nrefs:1|brackets:labelled|punctuation:out|rules:collins|malformed:mended"


def test_the_best_of_several_references_counts() -> None:
    assert score(["(NP NN )NP"], [["(VP NN )VP"], ["(NP NN )NP"]], "brackets").value == 100


def test_an_output_is_well_formed_with_matching_brackets_and_every_word() -> None:
    written = [CAT, CAT[:-3], CAT.replace("DT ", ""), CAT.replace("DT", "NN"), CAT + " )S"]
    assert [score([line], [CAT], "well-formed").value for line in written] == [100, 0, 0, 100, 0]
    assert score(written, [CAT] * 5, "well-formed").value == pytest.approx(40)


def test_a_reference_must_be_a_tree() -> None:
    with pytest.raises(Fault, match=r"The reference of sentence 2 is not a tree: it is not one phrase; expected"):
        score([CAT, CAT], [CAT, "The cat sleeps ."], "brackets")


def test_outputs_are_not_chosen_by_scores_of_trees() -> None:
    with pytest.raises(Fault, match="brackets is a score of trees, which outputs may not be; choose one of bleu"):
        utility("brackets")
