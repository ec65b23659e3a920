"""The batched beam search compared with its plain definition on thousands of small random models."""

import math
import sys
from itertools import chain
from pathlib import Path

import pytest
import torch

from regard.base.faults import Fault
from regard.decoding.beam import Hypothesis, beam_search, length_penalty
from regard.decoding.choosing import largest_first
from regard.decoding.options import DecodingOptions
from regard.decoding.sampling import sample
from regard.decoding.trace import Trace
from regard.protocols import Stepwise

sys.path.insert(0, str(Path(__file__).parent))
from plain_beam import plain_beam
from tables import BEGIN, END, Table, fixed, random_table


def search(task: Stepwise, numbers: list[int], limits: list[int], size: int, alpha: float) -> list[list[Hypothesis]]:
    options = DecodingOptions(beam=size, n_best=size, length_penalty=alpha)
    return beam_search(task, torch.tensor(numbers), torch.tensor(limits), options)


@pytest.mark.parametrize("ties", [False, True])
def test_agrees_with_the_definition(ties: bool) -> None:
    generator = torch.Generator().manual_seed(0)
    for seed in range(40):
        size = int(torch.randint(1, 6, (), generator=generator))
        vocabulary = int(torch.randint(3, 9, (), generator=generator))
        alpha = float(torch.rand((), generator=generator)) * 1.5
        limits = torch.randint(1, 8, (4,), generator=generator).tolist()
        task = random_table(seed, 4, vocabulary, ties)
        for number, hypotheses in enumerate(search(task, [0, 1, 2, 3], limits, size, alpha)):
            expected = plain_beam(task, torch.tensor([number]), limits[number], size, alpha)
            assert [(hypothesis.tokens, hypothesis.score) for hypothesis in hypotheses] == expected


def test_equals_at_the_edge_of_what_is_looked_at() -> None:
    """After the end come sixty ties for one place; the smallest token takes it."""
    row = fixed(0.0, 0.4, *[0.01] * 60).table[0, 0, :1].contiguous()
    assert largest_first(row, 2)[1].tolist() == [[1, 2]]


def test_beam_of_one_is_greedy() -> None:
    for seed in range(100):
        task = random_table(seed, 1, 6)
        state, last, tokens = task.start(torch.tensor([0])), torch.tensor([BEGIN]), []
        for time in range(8):
            log_probabilities, state = task.step(last, state)
            last = log_probabilities.argmax(-1)
            if last.item() == END or time == 7:
                break
            tokens.append(last.item())
        assert search(task, [0], [8], 1, 0.6)[0][0].tokens == tokens


def test_batch_and_order_change_nothing() -> None:
    task = random_table(7, 6, 9)
    limits = [3, 9, 5, 7, 1, 6]
    together = search(task, list(range(6)), limits, 4, 0.6)
    backwards = search(task, list(range(5, -1, -1)), limits[::-1], 4, 0.6)
    alone = [search(task, [number], [limits[number]], 4, 0.6)[0] for number in range(6)]
    assert together == backwards[::-1] == alone


def test_token_scores_sum_to_the_score() -> None:
    for hypotheses in search(random_table(3, 3, 7), [0, 1, 2], [6, 6, 6], 3, 0.0):
        for hypothesis in hypotheses:
            assert len(hypothesis.token_scores) == len(hypothesis.tokens) + 1  # the end has one too
            assert sum(hypothesis.token_scores) == pytest.approx(hypothesis.score)


def test_an_output_is_cut_at_its_limit_and_nothing_is_counted_of_an_end() -> None:
    """By hand: 'a' has probability 0.9 and the end 0.1, so three of 'a' beat an end at any time."""
    task, limits = fixed(0.0, 0.1, 0.9), torch.tensor([3])
    options = DecodingOptions(beam=2, n_best=2, length_penalty=1.0, length_penalty_kind="average")
    (first, second) = beam_search(task, torch.tensor([0]), limits, options, must_end=False)[0]
    assert (first.tokens, first.has_ended) == ([2, 2, 2], False)
    assert first.token_scores == pytest.approx([math.log(0.9)] * 3)
    assert first.score == pytest.approx(math.log(0.9))
    assert (second.tokens, second.has_ended) == ([2, 2], True)
    assert second.score == pytest.approx(math.log(0.9**2 * 0.1) / 3)
    (forced, _) = beam_search(task, torch.tensor([0]), limits, options)[0]
    assert (forced.tokens, forced.has_ended) == ([2, 2], True)


@pytest.mark.parametrize("must_end", [True, False])
@pytest.mark.parametrize("kind", ["wu", "average", "none"])
def test_the_score_is_the_sum_of_the_token_scores_by_the_length_penalty_of_their_number(
    kind: str, must_end: bool
) -> None:
    table = {"beam": 4, "n_best": 4, "length_penalty": 0.8, "length_penalty_kind": kind}
    options, ended = DecodingOptions.model_validate(table), set()
    for seed in range(20):
        task, limits = random_table(seed, 3, 5), torch.tensor([2, 3, 5])
        hypotheses = beam_search(task, torch.arange(3), limits, options, must_end=must_end)
        for hypothesis in chain.from_iterable(hypotheses):
            penalty = length_penalty(len(hypothesis.token_scores), 0.8, kind)
            assert hypothesis.score == pytest.approx(sum(hypothesis.token_scores) / penalty, rel=1e-12)
            assert hypothesis.has_ended == (len(hypothesis.token_scores) == len(hypothesis.tokens) + 1)
            ended.add(hypothesis.has_ended)
    assert ended == ({True} if must_end else {True, False})


def test_an_output_that_nothing_may_follow_is_cut() -> None:
    """None of three tokens may occur twice in a row, and no end is ever possible."""
    for seed in range(10):
        logits = random_table(seed, 2, 5).table.clone()
        logits[..., END] = -math.inf
        task, limits = Table(logits), torch.tensor([9, 2])
        options = DecodingOptions(beam=3, n_best=3, unrepeated=1, length_penalty=0.7)
        together = beam_search(task, torch.arange(2), limits, options, must_end=False)
        for number, hypotheses in enumerate(together):
            expected = plain_beam(
                task, torch.tensor([number]), int(limits[number]), 3, 0.7, options, None, False
            )  # fmt: skip
            assert [(hypothesis.tokens, hypothesis.score) for hypothesis in hypotheses] == expected
            assert {(len(hypothesis.tokens), hypothesis.has_ended) for hypothesis in hypotheses} == {
                ((4, 2)[number], False)
            }
        samples = sample(task, torch.arange(2), limits, options, must_end=False)
        assert [len(hypothesis.tokens) for (hypothesis,) in samples] == [4, 2]
        assert all(hypothesis.score == sum(hypothesis.token_scores) > -math.inf for (hypothesis,) in samples)


def test_a_trace_is_of_a_search_whose_outputs_must_end() -> None:
    with pytest.raises(ValueError, match="a trace needs a search whose outputs must end"):
        beam_search(fixed(0, 0.5, 0.5), torch.tensor([0]), torch.tensor([2]), DecodingOptions(), None, Trace(), False)


def test_exhaustive_beam_finds_the_best_there_is() -> None:
    """A beam as wide as the space is compared with every possible output."""
    for seed in range(50):
        task = random_table(seed, 1, 4)
        best = max(_all_outputs(task, limit=3), key=lambda output: output[1])
        assert search(task, [0], [3], 64, 0.0)[0][0].score == pytest.approx(best[1])


def _all_outputs(task: Table, limit: int) -> list[tuple[list[int], float]]:
    finished, alive = [], [([], 0.0)]
    for time in range(limit):
        longer = []
        for tokens, total in alive:
            row = task.table[0, time, tokens[-1] if tokens else BEGIN].tolist()
            finished.append((tokens, total + row[END]))
            longer += [([*tokens, token], total + row[token]) for token in range(4) if token != END]
        alive = longer
    return finished


def test_length_penalty_prefers_longer_outputs() -> None:
    task = random_table(0, 60, 6)
    lengths = [
        sum(len(hypotheses[0].tokens) for hypotheses in search(task, list(range(60)), [12] * 60, 4, alpha))
        for alpha in (0.0, 2.0)
    ]
    assert lengths[1] > lengths[0]


def test_n_best_are_distinct_and_in_order() -> None:
    for seed in range(50):
        hypotheses = search(random_table(seed, 1, 8), [0], [8], 5, 0.6)[0]
        assert len({tuple(hypothesis.tokens) for hypothesis in hypotheses}) == len(hypotheses)
        assert [hypothesis.score for hypothesis in hypotheses] == sorted(
            (hypothesis.score for hypothesis in hypotheses), reverse=True
        )


@pytest.mark.parametrize("size", [1, 3])
def test_a_model_that_gives_no_numbers_is_refused(size: int) -> None:
    task, limits = fixed(math.nan, math.nan, math.nan), torch.tensor([4])
    message = "Text 1: the model's outputs are not numbers"
    with pytest.raises(Fault, match=message):
        beam_search(task, torch.arange(1), limits, DecodingOptions(beam=size))
    with pytest.raises(Fault, match=message):
        sample(task, torch.arange(1), limits, DecodingOptions())
