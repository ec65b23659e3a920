"""Our search in CTranslate2's terms and back, by hand."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from regard.decoding.hypothesis_scores import length_penalty
from regard.decoding.options import DecodingOptions
from regard.engines.beam_rules import divisor, first_unsupported
from regard.engines.ctranslate2.search import (
    FinishedOutput,
    arguments,
    exponent,
    only_best_looks,
    patience,
    rank_finished,
    read_result,
    score_of,
)


def finished(length: int, total: float) -> FinishedOutput:
    return FinishedOutput(["x"] * length, total, True, [])


@pytest.mark.parametrize("kind", ["wu", "average", "none"])
@pytest.mark.parametrize("alpha", [0.0, 0.6, 2.0])
def test_the_divisor_is_the_length_penalty_of_our_search(kind: str, alpha: float) -> None:
    options = DecodingOptions.model_validate({"length_penalty": alpha, "length_penalty_kind": kind})
    for length in (1, 7, 30):
        assert divisor(options, length) == pytest.approx(length_penalty(length, alpha, kind))


def test_the_exponent_follows_our_penalty_where_outputs_are_of_the_length_expected() -> None:
    options = DecodingOptions(length_penalty=0.6)
    assert exponent(options, 15) == pytest.approx(0.45)  # 0.6 · 15 / 20
    power = exponent(options, 100)
    assert (101 / 99) ** power == pytest.approx(divisor(options, 101) / divisor(options, 99), rel=1e-6)


@pytest.mark.parametrize(
    "options", [{"length_penalty": 0.0}, {"length_penalty": 0.0, "length_penalty_kind": "average"},
                {"length_penalty_kind": "none"}], ids=str
)  # fmt: skip
def test_no_penalty_is_an_exponent_that_changes_nothing_and_is_not_zero(options: dict[str, Any]) -> None:
    power = exponent(DecodingOptions(**options), 10)
    assert power != 0
    assert 1024**power == pytest.approx(1.0, abs=1e-9)


def test_an_average_is_what_ctranslate2_computes_itself() -> None:
    assert exponent(DecodingOptions(length_penalty=1.5, length_penalty_kind="average"), 10) == 1.5


def test_what_is_asked_for() -> None:
    options = arguments(DecodingOptions(beam=4), 0.45, 2)
    assert (options["beam_size"], options["patience"], options["num_hypotheses"], options["length_penalty"]) == (
        4,
        2,
        8,
        0.45,
    )
    assert options["max_input_length"] == options["min_decoding_length"] == 0
    assert arguments(DecodingOptions(beam=1), 0.45, 2)["num_hypotheses"] == 1


def test_ctranslate2_waits_for_more_where_ours_would_ask_how_good_the_living_are() -> None:
    assert patience(DecodingOptions(stop="first")) == 1
    assert patience(DecodingOptions(beam=1)) == 1
    assert patience(DecodingOptions(stop="settled")) == patience(DecodingOptions(stop="exhaustive")) == 2


def test_sums_are_freed_from_ctranslate2s_own_penalty() -> None:
    result = SimpleNamespace(
        hypotheses=[["a", "b", "</s>"], ["a", "b"]],
        scores=[-2.0, -3.0],
        attention=[[[0.1], [0.2], [0.3]], [[0.4], [0.5]]],
    )
    ended, broken_off = read_result(result, "</s>", 2.0)
    assert (ended.tokens, ended.total, ended.ended) == (["a", "b"], -18.0, True)  # −2 · 3²
    assert (broken_off.tokens, broken_off.total, broken_off.ended) == (["a", "b"], -12.0, False)  # −3 · 2²
    assert np.concatenate([*ended.attention, *broken_off.attention]).tolist() == pytest.approx([0.1, 0.2, 0.4, 0.5])
    (bare,) = read_result(SimpleNamespace(hypotheses=[["</s>"]], scores=[-1.0], attention=[]), "</s>", 2.0)
    assert bare == FinishedOutput([], -1.0, True, [])


def test_only_the_best_keeps_what_it_looked_at() -> None:
    looks = [np.zeros(3, np.float32)]
    rows = [
        FinishedOutput(["a"], -3.0, True, looks),
        FinishedOutput(["b"], -1.0, True, looks),
        FinishedOutput(["c"], -2.0, True, looks),
    ]
    best = only_best_looks(rows, DecodingOptions(beam=3))
    assert [hypothesis.tokens for hypothesis in best] == [["a"], ["b"], ["c"]]
    assert [hypothesis.attention for hypothesis in best] == [[], looks, []]


def test_the_end_counts_in_the_length() -> None:
    options = DecodingOptions(length_penalty=1.0)
    assert score_of(finished(6, -4.0), options) == pytest.approx(-2.0)  # ((5 + 7) / 6)^1 = 2


def test_the_best_come_first() -> None:
    several = [finished(0, -3.0), finished(6, -4.0), finished(12, -5.0)]  # −3, −2 and −5/3 with alpha 1
    assert rank_finished(several, DecodingOptions(beam=3, n_best=2, length_penalty=1.0)) == [several[2], several[1]]
    assert rank_finished(several, DecodingOptions(beam=3, n_best=2, length_penalty=0.0)) == [several[0], several[1]]


def test_with_stop_first_nothing_counts_that_ended_after_enough_others() -> None:
    several = [finished(2, -5.0), finished(3, -4.0), finished(3, -6.0), finished(4, -0.1)]
    first = DecodingOptions(beam=2, n_best=2, stop="first")
    assert rank_finished(several, first) == [several[1], several[0]]
    assert rank_finished(several, first.model_copy(update={"stop": "settled"}))[0] == several[3]
    assert rank_finished(several, first.model_copy(update={"beam": 3, "n_best": 3}))[2] == several[2]


def test_what_is_unsupported_is_named() -> None:
    assert first_unsupported(DecodingOptions()) is None
    assert first_unsupported(DecodingOptions(beam=4, groups=2)) == "groups"
    assert math.isfinite(exponent(DecodingOptions(), 0))


def test_what_is_cut_has_no_sum_any_more() -> None:
    whole = FinishedOutput(["a", "b"], -3.0, True, [[0.1], [0.2]])
    assert whole.cut(2) == whole
    cut = whole.cut(1)
    assert (cut.tokens, cut.ended, cut.attention) == (["a"], False, [[0.1]])
    assert math.isnan(cut.total)
