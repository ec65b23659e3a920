"""Sentence scores compared with sacreBLEU's and with the scores of one-sentence texts."""

import pytest
import sacrebleu

from regard.base.faults import Fault
from regard.metrics import METRICS, score
from regard.metrics.text import OF_TREES
from regard.metrics.utilities import ERRORS, utility

HYPOTHESES = ["the cat sat on the mat", "a dog", "é só isto", ""]
REFERENCES = ["the cat is on the mat", "a dog runs", "é só isto", "nothing"]


def test_sacrebleus_sentence_scores() -> None:
    pairs = list(zip(HYPOTHESES, REFERENCES, strict=True))
    assert utility("bleu")(HYPOTHESES, REFERENCES) == pytest.approx(
        [sacrebleu.sentence_bleu(one, [other]).score for one, other in pairs]
    )
    assert utility("chrf")(HYPOTHESES, REFERENCES) == pytest.approx(
        [sacrebleu.sentence_chrf(one, [other]).score for one, other in pairs]
    )
    assert utility("ter")(HYPOTHESES, REFERENCES) == pytest.approx(
        [-sacrebleu.sentence_ter(one, [other]).score for one, other in pairs]
    )


OF_TEXTS = {name for name in METRICS if name.startswith("bleu")} | {"cider"}


@pytest.mark.parametrize("metric", sorted(set(METRICS) - OF_TEXTS - set(OF_TREES)))
def test_a_sentence_is_worth_what_it_scores_alone(metric: str) -> None:
    sign = -1 if metric in ERRORS else 1
    for one, other in zip(HYPOTHESES, REFERENCES, strict=True):
        assert utility(metric)([one], [other]) == [pytest.approx(sign * score([one], [other], metric).value)]


def test_more_is_better_whatever_the_metric() -> None:
    for metric in ("bleu", "chrf", "ter", "wer", "cer", "per", "rougeL", "exact"):
        right, wrong = utility(metric)(["a dog runs", "no cat"], ["a dog runs", "a dog runs"])
        assert right > wrong


def test_an_unknown_metric_is_refused() -> None:
    with pytest.raises(Fault, match="There is no metric 'blue'"):
        utility("blue")
    with pytest.raises(Fault, match="cider is a score of whole texts"):
        utility("cider")


def test_an_empty_reference_is_all_wrong_or_nothing_to_be_wrong() -> None:
    for metric in ("wer", "cer", "per", "ter"):
        assert utility(metric)(["", "a"], ["", ""]) == [0, -100]
