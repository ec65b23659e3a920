"""Numbers formatted for people."""

import math

import pytest

from regard.base.figures import in_figures
from regard.metrics import Score
from regard.runs.compare.page import show_values
from regard.training.events import Validated
from regard.training.listeners import _measures
from regard.verbs.generate.scoring import ScoredText


@pytest.mark.parametrize(
    ("value", "digits", "sign", "figures"),
    [
        (12.5, 2, "", "12.50"),
        (0.5, 3, "+", "+0.500"),
        (999_999.0, 1, "", "999999.0"),
        (1_000_000.0, 2, "", "1.0e6"),
        (math.exp(100), 2, "", "2.7e43"),
        (-math.exp(100), 2, "", "-2.7e43"),
        (math.exp(100), 2, "+", "+2.7e43"),
        (math.inf, 2, "", "inf"),
        (math.nan, 2, "", "nan"),
    ],
)
def test_a_large_number_is_told_by_its_power_of_ten(value: float, digits: int, sign: str, figures: str) -> None:
    assert in_figures(value, digits, sign) == figures


def test_a_perplexity_that_nobody_could_read_is_told_so_everywhere() -> None:
    large = math.exp(100)
    assert Score("perplexity", large, "", 1).shown == "2.7e43"
    assert _measures(Validated(1, {"perplexity": large}, True, 0)) == "perplexity 2.7e43"
    assert show_values([large, large / 2]) == "2.0e43 ± 1.3e43"
    assert repr(ScoredText("a", -200.0, ["a", "</s>"], [-100.0, -100.0], 0)).endswith("perplexity 2.7e43)")
