"""Speculation writes what the plain search writes, token for token, whatever the draft proposes."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from sampled import few_seeds
from torch import Tensor

from regard.base.faults import TextFault
from regard.decoding.beam import beam_search
from regard.decoding.drafts import Copy, Counted, Lookup, Student, model_draft
from regard.decoding.options import DecodingOptions
from regard.decoding.output import Demands, Hypothesis
from regard.decoding.picking import BOUND, SAMPLED_BOUND
from regard.decoding.sampling import sample
from regard.decoding.speculation import MOST, Counts, NoDraft, Pace, speculate
from regard.protocols import State

sys.path.insert(0, str(Path(__file__).parent))
from tables import END, Table, fixed, random_table


@dataclass
class Passing(Table):
    """Table that reads several tokens in one pass, in which every log-probability is off by up to `noise`."""

    noise: float = 0.0
    generator: torch.Generator = field(default_factory=lambda: torch.Generator().manual_seed(1))

    def steps(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        places = []
        for token in tokens[0]:
            scores, state = self.step(token[None], state)
            places.append(scores)
        found = torch.stack(places, dim=1)
        return found + self.noise * (2 * torch.rand(found.shape, generator=self.generator) - 1), state

    def take_back(self, state: State, count: int) -> State:
        return State(state.sentence, {"time": state.row["time"] - count})

    def room(self, state: State) -> int:
        return 100


@dataclass
class Guessing:
    """Draft that proposes random tokens."""

    vocabulary: int
    generator: torch.Generator

    def propose(self, written: Sequence[int], most: int) -> Sequence[int]:
        count = int(torch.randint(0, most + 1, (), generator=self.generator))
        return torch.randint(2, self.vocabulary, (count,), generator=self.generator).tolist()


def passing(table: Table, noise: float = 0.0) -> Passing:
    return Passing(table.table, noise=noise)


def drafts_for(task: Table, vocabulary: int, seed: int) -> list[Any]:
    """Return ways to open drafts: none, guesses, n-grams, a copy, the model itself, and another one."""
    generator = torch.Generator().manual_seed(seed)
    number, device = torch.tensor([0]), torch.device("cpu")
    return [
        NoDraft,
        partial(Guessing, vocabulary, generator),
        partial(Lookup, [2, 3, 4, 2, 3]),
        partial(Copy, [3, 2, 4, 4, 2]),
        partial(Student, task, number, device),
        partial(Student, random_table(seed + 1000, 1, vocabulary), number, device),
    ]


def outputs(
    task: Passing,
    limit: int,
    options: DecodingOptions,
    demands: Demands | None = None,
    must_end: bool = True,
    **further: Any,
) -> list[list[Hypothesis]]:
    """Return the output of speculation with every draft."""
    drafts = drafts_for(task, task.table.shape[-1], seed=limit)
    start, limits = torch.tensor([0]), torch.tensor([limit])
    return [speculate(task, start, limits, options, draft, demands, must_end, **further) for draft in drafts]


@few_seeds(6, 25)
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("must_end", [False, True])
def test_greedy_search_is_the_beam_of_one(seeds: range, ties: bool, must_end: bool) -> None:
    for seed in seeds:
        task = passing(random_table(seed, 1, 6, ties))
        options, limit = DecodingOptions(beam=1, length_penalty=seed % 3), 1 + seed % 30
        plain = beam_search(task, torch.tensor([0]), torch.tensor([limit]), options, must_end=must_end)[0]
        for found in outputs(task, limit, options, must_end=must_end):
            assert found == plain


RULES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"shortest": 5}, {}),
    ({"repetition_penalty": 1.7}, {}),
    ({"unrepeated": 2}, {}),
    ({}, {"forbidden": [[2], [3, 4]]}),
    ({}, {"allowed": [2, 5]}),
    ({"unrepeated": 1}, {"prefixes": [[4, 4]]}),
]


@few_seeds(3, 10)
@pytest.mark.parametrize(("options", "demands"), RULES)
def test_all_rules_hold_in_speculation(seeds: range, options: dict[str, Any], demands: dict[str, Any]) -> None:
    search, rules = DecodingOptions(beam=1, **options), Demands(**demands)
    for seed in seeds:
        task, limit = passing(random_table(seed, 1, 7)), 3 + seed % 20
        plain = beam_search(task, torch.tensor([0]), torch.tensor([limit]), search, rules)[0]
        for found in outputs(task, limit, search, rules):
            assert found == plain


SAMPLINGS: list[dict[str, Any]] = [
    {},
    {"temperature": 0.6},
    {"temperature": 0},
    {"top_k": 3},
    {"top_p": 0.8},
    {"min_p": 0.2},
    {"temperature": 1.5, "top_k": 5, "top_p": 0.9, "min_p": 0.05},
]


@few_seeds(2, 8)
@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("noise", [0.0, 0.4 * SAMPLED_BOUND])
def test_samples_are_the_plain_ones(seeds: range, sampling: dict[str, Any], noise: float) -> None:
    for seed in seeds:
        task, limit = passing(random_table(seed, 1, 8), noise), 2 + seed % 25
        options = DecodingOptions(sampling={"seed": seed, "samples": 2, **sampling})
        plain = sample(task, torch.tensor([0]), torch.tensor([limit]), options, [5], must_end=False)[0]
        for number, drawn in enumerate(plain):
            for (found,) in outputs(task, limit, options, must_end=False, sample=(5, number)):
                assert found.tokens == drawn.tokens
                assert found.score == pytest.approx(drawn.score, abs=limit * BOUND)


def test_rounding_within_the_bound_changes_no_token() -> None:
    """Many near ties, each turned by the noise of a pass about half the time."""
    counts = Counts()
    for seed in range(25):
        table = random_table(seed, 1, 6, ties=True)
        generator = torch.Generator().manual_seed(seed)
        closer = table.table + 0.3 * BOUND * torch.rand(table.table.shape, generator=generator)
        task, limit = Passing(closer.log_softmax(-1), noise=0.4 * BOUND), 1 + seed % 30
        options = DecodingOptions(beam=1)
        plain = beam_search(task, torch.tensor([0]), torch.tensor([limit]), options)[0]
        for found in outputs(task, limit, options, counts=counts):
            assert [output.tokens for output in found] == [output.tokens for output in plain]
    assert counts.plain_steps > 20
    assert not counts.restarts


def test_larger_differences_are_noticed_and_plain_steps_write_the_output() -> None:
    counts, options = Counts(), DecodingOptions(beam=1)
    for seed in range(30):
        task = passing(random_table(seed, 1, 6, ties=True), noise=5 * BOUND)
        plain = beam_search(task, torch.tensor([0]), torch.tensor([20]), options)[0]
        before, draft = counts.restarts, partial(Guessing, 6, torch.Generator().manual_seed(seed))
        found = speculate(task, torch.tensor([0]), torch.tensor([20]), options, draft, counts=counts)
        if counts.restarts > before:
            assert found == plain
    assert counts.restarts


def test_every_token_is_heard_once_and_in_order() -> None:
    for noise in (0.0, 20 * BOUND):
        for seed in range(6):
            task = passing(random_table(seed, 1, 6, ties=True), noise)
            heard: list[int] = []
            found = speculate(
                task,
                torch.tensor([0]),
                torch.tensor([12]),
                DecodingOptions(beam=1),
                partial(Lookup, [2, 3, 4]),
                heard=lambda token, score, heard=heard: heard.append(token),
            )
            assert heard[: len(found[0].tokens)] == found[0].tokens or noise


def test_a_right_draft_saves_passes() -> None:
    task, counts = passing(fixed(0.0, 0.1, 0.9)), Counts()
    draft = partial(Student, task, torch.tensor([0]), torch.device("cpu"))
    limits = torch.tensor([41])
    (found,) = speculate(task, torch.tensor([0]), limits, DecodingOptions(beam=1), draft, counts=counts)
    assert found.tokens == [2] * 40
    assert counts.accepted == counts.proposed
    assert counts.written == 41
    assert counts.passes <= 1 + 41 // 8


def test_numbers_that_are_none_are_refused() -> None:
    task = passing(Table(torch.full((1, 1, 4, 4), float("nan"))))
    with pytest.raises(TextFault, match="not numbers"):
        speculate(task, torch.tensor([0]), torch.tensor([5]), DecodingOptions(beam=1), partial(Lookup, [2, 3, 2]))


def test_pace_doubles_after_right_proposals_and_rests_after_wrong_ones() -> None:
    pace = Pace()
    first = pace.ask()
    pace.learn(first, first)
    assert pace.ask() == 2 * first
    pace.learn(2 * first, 1)
    assert pace.ask() == 2
    for _ in range(8):
        pace.learn(2, 0)
    assert pace.ask() == 0
    for _ in range(10):
        pace.ask()
    assert pace.ask() == 1
    for _ in range(10):
        pace.learn(pace.most, pace.most)
    assert pace.most == MOST


def test_lookup_proposes_what_followed_the_longest_n_gram() -> None:
    draft = Lookup([7, 1, 2, 9, 8, 2, 3])
    assert draft.propose([1, 2], 2) == [9, 8]  # after 1 2, though 2 alone was last followed by 3
    assert draft.propose([1, 2, 4], 2) == ()
    assert draft.propose([1, 2, 4, 8], 3) == [2, 3, 1]
    assert Lookup([]).propose([5, 5], 4) == [5, 5, 5, 5]
    assert Lookup([]).propose([], 4) == ()


def test_copy_follows_the_source_over_changes() -> None:
    draft = Copy([3, 4, 5, 6, 7, 8])
    assert draft.propose([], 3) == [3, 4, 5]
    assert draft.propose([3, 4], 2) == [5, 6]
    assert draft.propose([3, 4, 9], 2) == [6, 7]  # 9 instead of 5
    assert draft.propose([3, 4, 9, 5], 2) == [6, 7]  # 9 was inserted
    assert draft.propose([3, 4, 9, 5, 7], 2) == [8]  # 6 was dropped


def test_a_student_forgets_what_was_not_written() -> None:
    task = random_table(3, 1, 6)

    def open_student() -> Student:
        return Student(task, torch.tensor([0]), torch.device("cpu"), lambda row, time: (int(row[2:].argmax()) + 2, 1.0))

    draft = open_student()
    for written in ([], [4], [4, 2], [5, 5], [5, 5, 3]):
        assert draft.propose(written, 4) == open_student().propose(written, 4)
    assert len({tuple(open_student().propose(written, 4)) for written in ([4], [5, 5])}) == 2


def test_a_student_stops_where_it_is_unsure_or_would_end() -> None:
    start, device = torch.tensor([0]), torch.device("cpu")
    assert Student(fixed(0.0, 0.3, 0.7), start, device).propose([], 3) == [2, 2, 2]
    assert Student(fixed(0.0, 0.7, 0.3), start, device).propose([], 3) == []
    assert Student(fixed(0.0, 0.1, 0.3, 0.3, 0.3), start, device).propose([], 3) == []


def test_counts_propose_the_most_probable_token_while_it_is_likely() -> None:
    class Told:
        end = END

        def best_after(self, tokens: Sequence[int]) -> tuple[int, float] | None:
            return {3: (4, 0.9), 4: (5, 0.5), 5: (6, 0.2), 7: (END, 1.0)}.get(tokens[-1])

    assert isinstance(model_draft(Told(), None, [3], torch.device("cpu")), Counted)
    assert Counted(Told(), [3]).propose([], 9) == [4, 5]
    assert Counted(Told(), [3]).propose([], 1) == [4]
    assert Counted(Told(), [3]).propose([7], 9) == []
    assert Counted(Told(), [3]).propose([8], 9) == []
