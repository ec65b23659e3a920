"""The fast engines' beam search matches that of `regard.decoding` on tables, however it stops."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from decoding.tables import Table, random_table

from regard.decoding.beam import beam_search
from regard.decoding.options import DecodingOptions
from regard.engines.beam_rules import divisor, first_unsupported
from regard.engines.plain_beam import Best, Step, plain_beam

OPTIONS: list[dict[str, Any]] = [
    {"beam": 1},
    {"beam": 1, "stop": "exhaustive", "length_penalty": 1.5},
    {"beam": 2, "n_best": 2},
    {"beam": 4, "n_best": 4},
    {"beam": 4, "n_best": 4, "stop": "first"},
    {"beam": 4, "n_best": 4, "stop": "exhaustive"},
    {"beam": 4, "n_best": 3, "length_penalty": 0.0},
    {"beam": 4, "n_best": 3, "length_penalty": 2.0},
    {"beam": 3, "length_penalty_kind": "average", "length_penalty": 1.0},
    {"beam": 3, "length_penalty_kind": "none"},
    {"beam": 8, "n_best": 8, "stop": "exhaustive"},  # more than there are tokens
]


def stepwise(model: Table, sentence: int) -> Step:
    """Return the steps that an engine would request for one sentence of a table."""
    time = 0

    def step(tokens: Sequence[int], origins: Sequence[int], count: int) -> Best:
        nonlocal time
        rows = model.table[sentence, min(time, model.table.shape[1] - 1), list(tokens)].numpy()
        time += 1
        ranked = np.argsort(-rows, axis=1, kind="stable")[:, :count]
        values = np.take_along_axis(rows, ranked, axis=1)
        return Best(values, ranked, rows[:, model.end], np.array(tokens)[:, None])

    return step


@pytest.mark.one_in(4)
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_what_is_found_is_the_same(options: dict[str, Any], ties: bool) -> None:
    search, sentences = DecodingOptions(**options), 12
    for seed in range(6):
        model = random_table(seed, sentences, 7, ties)
        limits = torch.tensor([1, 2, 3, 12] * (sentences // 4))
        hypotheses_by_sentence = beam_search(model, torch.arange(sentences), limits, search)
        for sentence, (limit, expected) in enumerate(zip(limits.tolist(), hypotheses_by_sentence, strict=True)):
            hypotheses = plain_beam(stepwise(model, sentence), limit, model.begin, model.end, search)
            assert [hypothesis.tokens for hypothesis in hypotheses] == [hypothesis.tokens for hypothesis in expected]
            for mine, other in zip(hypotheses, expected, strict=True):
                assert mine.score(search) == pytest.approx(other.score, abs=1e-12)
                assert mine.scores == pytest.approx(other.token_scores, abs=1e-12)


@pytest.mark.parametrize(
    ("ratio", "tokens", "limit"),
    [(1.15, 100, 116), (1.3, 90, 118), (0.7, 90, 64), (2.3, 50, 116), (0.01, 5, 1), (9.0, 90, 200)],
)
def test_a_limit_is_what_one_works_out_on_paper(ratio: float, tokens: int, limit: int) -> None:
    assert DecodingOptions(longest_ratio=ratio, longest_extra=1).limit(tokens, 200) == limit


def test_a_beam_is_widened_for_the_outputs_asked_for() -> None:
    assert [DecodingOptions(beam=4).beam_for(count) for count in (1, 4, 5)] == [4, 4, 5]
    assert [DecodingOptions(beam=4, groups=2).beam_for(count) for count in (3, 5, 6)] == [4, 6, 6]


def test_a_hypothesis_carries_what_its_own_rows_looked_at() -> None:
    model, search = random_table(1, 1, 7), DecodingOptions(beam=4, n_best=4)
    for hypothesis in plain_beam(stepwise(model, 0), 12, model.begin, model.end, search):
        looked = [int(row[0]) for row in hypothesis.attention]  # here a row looks at the previous token
        assert looked == [model.begin, *hypothesis.tokens][: len(hypothesis.tokens)]


def test_only_plain_beams_are_supported() -> None:
    assert first_unsupported(DecodingOptions(beam=3, stop="exhaustive", length_penalty=2.0)) is None
    assert first_unsupported(DecodingOptions(beam=4, groups=2)) == "groups"
    assert first_unsupported(DecodingOptions(coverage_penalty=0.2)) == "coverage_penalty"


def test_penalties_by_hand() -> None:
    assert divisor(DecodingOptions(length_penalty=1.0), 7) == 2
    assert divisor(DecodingOptions(length_penalty=2.0, length_penalty_kind="average"), 3) == 9
    assert divisor(DecodingOptions(length_penalty_kind="none"), 3) == 1
