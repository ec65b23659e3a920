"""The batched beam search against its plain definition, on thousands of small random models."""

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from torch import Tensor

from regard.decoding.beam import Hypothesis, beam_search
from regard.decoding.options import DecodingOptions
from regard.protocols import State, Stepwise

sys.path.insert(0, str(Path(__file__).parent))
from plain_beam import plain_beam

BEGIN, END = 0, 1


@dataclass
class Table:
    """A model that is a table: log-probabilities (sentence, time, last token, token), times beyond the last repeat."""

    table: Tensor
    begin: int = BEGIN
    end: int = END

    def start(self, batch: Tensor) -> State:
        return State(sentence={"numbers": batch}, row={"time": torch.zeros_like(batch)})

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        numbers, time = state.sentence["numbers"], state.row["time"]
        own = numbers.repeat_interleave(len(tokens) // len(numbers))
        rows = self.table[own, time.clamp(max=self.table.shape[1] - 1), tokens]
        return rows, State(state.sentence, {"time": time + 1})


def random_table(seed: int, sentences: int, vocabulary: int, ties: bool = False) -> Table:
    generator = torch.Generator().manual_seed(seed)
    logits = 2 * torch.randn(sentences, 4, vocabulary, vocabulary, generator=generator, dtype=torch.float64)
    if ties:  # few values, so that many candidates stand level
        logits = logits.round()
    return Table(logits.log_softmax(-1))


def search(task: Stepwise, numbers: list[int], limits: list[int], size: int, alpha: float) -> list[list[Hypothesis]]:
    options = DecodingOptions(beam=size, n_best=size, length_penalty=alpha)
    return beam_search(task, torch.tensor(numbers), torch.tensor(limits), options)


@pytest.mark.parametrize("ties", [False, True])
def test_agrees_with_the_definition(ties: bool) -> None:
    generator = torch.Generator().manual_seed(0)
    for seed in range(400):
        size = int(torch.randint(1, 6, (), generator=generator))
        vocabulary = int(torch.randint(3, 9, (), generator=generator))
        alpha = float(torch.rand((), generator=generator)) * 1.5
        limits = torch.randint(1, 8, (4,), generator=generator).tolist()
        task = random_table(seed, 4, vocabulary, ties)
        for number, found in enumerate(search(task, [0, 1, 2, 3], limits, size, alpha)):
            expected = plain_beam(task, torch.tensor([number]), limits[number], size, alpha)
            assert [(each.tokens, each.score) for each in found] == expected


def test_beam_of_one_is_greedy() -> None:
    for seed in range(200):
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
    lengths = [
        sum(len(search(random_table(seed, 1, 6), [0], [12], 4, alpha)[0][0].tokens) for seed in range(60))
        for alpha in (0.0, 2.0)
    ]
    assert lengths[1] > lengths[0]


def test_n_best_are_distinct_and_in_order() -> None:
    for seed in range(50):
        found = search(random_table(seed, 1, 8), [0], [8], 5, 0.6)[0]
        assert len({tuple(each.tokens) for each in found}) == len(found)
        assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)
