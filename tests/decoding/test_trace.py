"""The record of a beam search: it changes nothing, it is complete, and it matches one written by hand."""

import math
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from regard.decoding.beam import Hypothesis, beam_search
from regard.decoding.options import DecodingOptions
from regard.decoding.output import Demands
from regard.decoding.trace import KeptHypothesis, Trace

sys.path.insert(0, str(Path(__file__).parent))
from tables import END, Looking, fixed, random_table

WAYS: dict[str, dict[str, Any]] = {
    "plain": {},
    "greedy": {"beam": 1, "n_best": 1},
    "first": {"stop": "first"},
    "exhaustive": {"stop": "exhaustive"},
    "nested": {"nested": True},
    "groups": {"groups": 2, "diversity": 0.8},
    "coverage": {"coverage_penalty": 0.4},
    "rules": {"shortest": 3, "unrepeated": 2, "repetition_penalty": 1.3},
}
LIMITS = [7, 3, 9]


def traced(way: str, seed: int, numbers: list[int], demands: Demands | None = None) -> tuple[Any, Trace]:
    table, trace = random_table(seed, len(LIMITS), 7), Trace()
    options = DecodingOptions(**{"beam": 4, "n_best": 4, **WAYS[way]})
    limits = torch.tensor([LIMITS[number] for number in numbers])
    return beam_search(Looking(table.table), torch.tensor(numbers), limits, options, demands, trace), trace


def untraced(way: str, seed: int, demands: Demands | None = None) -> list[list[Hypothesis]]:
    options = DecodingOptions(**{"beam": 4, "n_best": 4, **WAYS[way]})
    task = Looking(random_table(seed, len(LIMITS), 7).table)
    return beam_search(task, torch.arange(len(LIMITS)), torch.tensor(LIMITS), options, demands)


def path(record: list[KeptHypothesis], place: int) -> list[KeptHypothesis]:
    """Return the entries that led to a hypothesis, from the first token to itself."""
    entry = record[place]
    return [*([] if entry.parent is None else path(record, entry.parent)), entry]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("way", WAYS)
def test_a_traced_search_finds_just_the_same(way: str) -> None:
    for seed in range(6):
        outputs, _ = traced(way, seed, [0, 1, 2])
        assert outputs == untraced(way, seed)


def test_so_it_does_with_phrases_that_must_occur_and_prefixes() -> None:
    demands = Demands(prefixes=[[3], [], [4, 2]], required=[[[5, 2]], [[2]], []], forbidden=[[6]])
    for seed in range(6):
        outputs, trace = traced("plain", seed, [0, 1, 2], demands)
        assert outputs == untraced("plain", seed, demands)
        assert [entry.token for entry in trace.sentences[0] if entry.parent is None] == [3]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("way", WAYS)
def test_the_path_to_every_finished_hypothesis_is_that_hypothesis(way: str) -> None:
    for seed in range(6):
        outputs, trace = traced(way, seed, [0, 1, 2])
        for hypotheses, record in zip(outputs, trace.sentences, strict=True):
            for place, entry in enumerate(record):
                assert entry.parent is None or entry.parent < place
                assert (entry.finished is not None) == (entry.token == END)
                if entry.finished is None:
                    continue
                tokens = [step.token for step in path(record, place)]
                assert tokens == [*entry.finished.tokens, END]
                assert [step.log_probability for step in path(record, place)] == entry.finished.token_scores
            recorded = [entry.finished for entry in record if entry.finished is not None]
            assert all(any(output is hypothesis for hypothesis in recorded) for output in hypotheses)


@pytest.mark.parametrize("way", ["plain", "groups", "nested", "coverage"])
def test_totals_add_up_along_the_way(way: str) -> None:
    _, trace = traced(way, 3, [0, 1, 2])
    for record in trace.sentences:
        for entry in record:
            before = 0.0 if entry.parent is None else record[entry.parent].total
            assert entry.total == pytest.approx(before + entry.log_probability)


def test_totals_are_what_was_ranked_by_and_log_probabilities_the_models_own() -> None:
    _, trace = traced("rules", 3, [0, 1, 2])
    record = trace.sentences[2]
    assert any(
        entry.parent is not None and entry.total < record[entry.parent].total + entry.log_probability - 1e-6
        for entry in record
    )


@pytest.mark.parametrize("way", WAYS)
def test_no_more_live_than_the_beam_is_wide(way: str) -> None:
    _, trace = traced(way, 5, [0, 1, 2])
    for record in trace.sentences:
        alive = [len(path(record, place)) for place, entry in enumerate(record) if entry.finished is None]
        assert max(map(alive.count, alive)) <= 4


def test_a_sentence_in_a_batch_has_the_record_it_has_alone() -> None:
    together = traced("plain", 11, [0, 1, 2])[1].sentences
    assert together == [traced("plain", 11, [number])[1].sentences[0] for number in range(3)]
    assert together[::-1] == traced("plain", 11, [2, 1, 0])[1].sentences


def test_groups_are_told_apart_and_stay_in_their_places() -> None:
    _, trace = traced("groups", 2, [0, 1, 2])
    record = trace.sentences[0]
    assert {entry.group for entry in record} == {0, 1}
    assert all(entry.parent is None or record[entry.parent].group == entry.group for entry in record)


def test_a_record_by_hand() -> None:
    """Each next token: 0.1 the begin, 0.5 the end, 0.4 the letter 2. A beam of two, at most two tokens.

    The first step finishes the end, which ranks first, and the letters live on. In the second all must end: 2 with 0.4,
    then 0 with 0.1, each with a half.
    """
    trace = Trace()
    options = DecodingOptions(beam=2, n_best=2, length_penalty_kind="none")
    hypotheses = beam_search(fixed(0.1, 0.5, 0.4), torch.tensor([0]), torch.tensor([2]), options, trace=trace)[0]
    expected = [(None, 1, 0.5, 0.5), (None, 2, 0.4, 0.4), (None, 0, 0.1, 0.1), (1, 1, 0.5, 0.2), (2, 1, 0.5, 0.05)]
    record = trace.sentences[0]
    assert [(entry.parent, entry.token) for entry in record] == [(parent, token) for parent, token, _, _ in expected]
    for entry, (_, _, probability, total) in zip(record, expected, strict=True):
        assert math.exp(entry.log_probability) == pytest.approx(probability)
        assert math.exp(entry.total) == pytest.approx(total)
    assert [record[0].finished, record[3].finished] == hypotheses
    assert record[4].finished is not None  # finished, then outranked


def test_a_trace_used_again_forgets() -> None:
    trace = Trace()
    options = DecodingOptions(beam=2)
    for _ in range(2):
        beam_search(fixed(0.1, 0.5, 0.4), torch.tensor([0]), torch.tensor([2]), options, trace=trace)
    assert len(trace.sentences) == 1
    assert len(trace.sentences[0]) == 5
