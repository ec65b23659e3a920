"""The batched beam search against its plain definition, on thousands of small random models."""

import math
import sys
from pathlib import Path

import pytest
import torch

from regard.base.faults import Fault
from regard.decoding.beam import Hypothesis, beam_search
from regard.decoding.choosing import largest_first
from regard.decoding.options import DecodingOptions
from regard.decoding.sampling import sample
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
        for number, found in enumerate(search(task, [0, 1, 2, 3], limits, size, alpha)):
            expected = plain_beam(task, torch.tensor([number]), limits[number], size, alpha)
            assert [(each.tokens, each.score) for each in found] == expected


def test_equals_at_the_edge_of_what_is_looked_at() -> None:
    """The end first, then sixty equals for one place: the smallest token has it."""
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
    for found in search(random_table(3, 3, 7), [0, 1, 2], [6, 6, 6], 3, 0.0):
        for hypothesis in found:
            assert len(hypothesis.token_scores) == len(hypothesis.tokens) + 1  # the end has one too
            assert sum(hypothesis.token_scores) == pytest.approx(hypothesis.score)


def test_exhaustive_beam_finds_the_best_there_is() -> None:
    """A beam as wide as the space, compared with every output there is."""
    for seed in range(50):
        task = random_table(seed, 1, 4)
        best = max(_all_outputs(task, limit=3), key=lambda each: each[1])
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
        sum(len(found[0].tokens) for found in search(task, list(range(60)), [12] * 60, 4, alpha))
        for alpha in (0.0, 2.0)
    ]
    assert lengths[1] > lengths[0]


def test_n_best_are_distinct_and_in_order() -> None:
    for seed in range(50):
        found = search(random_table(seed, 1, 8), [0], [8], 5, 0.6)[0]
        assert len({tuple(each.tokens) for each in found}) == len(found)
        assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)


@pytest.mark.parametrize("size", [1, 3])
def test_a_model_that_gives_no_numbers_is_refused(size: int) -> None:
    task, limits, said = fixed(math.nan, math.nan, math.nan), torch.tensor([4]), "Text 1: the model gives no numbers"
    with pytest.raises(Fault, match=said):
        beam_search(task, torch.arange(1), limits, DecodingOptions(beam=size))
    with pytest.raises(Fault, match=said):
        sample(task, torch.arange(1), limits, DecodingOptions())
