"""Fixed-length caches compared with growing ones in float64, and captured searches with plain ones."""

from typing import Any

import pytest
import torch
from test_gpt_network import BUILDS, network

from regard.data.tokenisers.bytewise import ByteTokeniser
from regard.decoding import fixed_sampling
from regard.decoding.beam import beam_search
from regard.decoding.fixed_beam import fixed_beam_search
from regard.decoding.options import DecodingOptions
from regard.decoding.output import Hypothesis
from regard.decoding.sampling import sample
from regard.decoding.step_graphs import CapturedSteps
from regard.models.gpt import reserved
from regard.models.gpt.network import GPT
from regard.protocols import State
from regard.tasks.language.gradient import GradientLanguage
from regard.tasks.language.options import GradientLanguageTraining
from regard.tasks.language.prompts import memory_of
from regard.tasks.language.reserving import ReservingLanguage, can_reserve
from regard.verbs.generate.continuing import PastEnds

COPIES = 3
PROMPTS = [[5, 6, 7], [], [8], [9, 10, 3, 4]]


@torch.no_grad()
@pytest.mark.parametrize("build", BUILDS, ids=str)
def test_reserved_is_growing(build: dict[str, Any]) -> None:
    """This holds for any rows that a search keeps, and when it needs more room."""
    model, chance = network(**build, context=20), torch.Generator().manual_seed(5)
    rows = [row for row in PROMPTS for _ in range(COPIES)]
    growing, last = State((), memory_of(model, rows, torch.device("cpu"))), torch.tensor([4, 5, 6, 7])
    fixed = State(*reserved.reserve(reserved.started(model, memory_of(model, PROMPTS, last.device), last), COPIES, 4))
    for time in range(8):
        if time == 4:
            fixed = State(*reserved.extend(fixed.sentence, fixed.row, 8))
        tokens = torch.randint(3, 11, (len(rows),), generator=chance)
        read = last.repeat_interleave(COPIES) if time == 0 else tokens
        expected = model.read(read[:, None], growing.row)
        states, *after = reserved.write(model, tokens, fixed.sentence, fixed.row)
        torch.testing.assert_close(states, expected.states[:, 0])
        moved = torch.randint(0, COPIES, (len(PROMPTS), COPIES), generator=chance)
        moved = (moved + COPIES * torch.arange(len(PROMPTS))[:, None]).flatten()
        growing, fixed = State((), expected.memory).select(moved), State(*after).select(moved)


def task_of(**chosen: Any) -> GradientLanguage:
    torch.manual_seed(1)
    model = network(**chosen, context=40)
    whole = GPT(model.options, ByteTokeniser.size, (0, 2)).double()
    for parameter in whole.parameters():
        torch.nn.init.normal_(parameter, std=0.4)
    return GradientLanguage(whole, ByteTokeniser(), GradientLanguageTraining()).eval()


def as_numbers(found: list[list[Hypothesis]]) -> list[list[tuple[list[int], Any]]]:
    return [
        [(hypothesis.tokens, pytest.approx(hypothesis.token_scores, abs=1e-5)) for hypothesis in several]
        for several in found
    ]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("past_end", "must_end"), [(False, True), (False, False), (True, False)])
def test_captured_searches_find_what_plain_ones_find(
    past_end: bool, must_end: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fixed_sampling, "FIRST_ROOM", 4)  # so that room runs out
    task = task_of()
    batch = task.read(["ab", "", "a longer one"])
    limits = torch.tensor([7, 6, 3])
    options = DecodingOptions.model_validate(
        {"beam": 3, "n_best": 2, "sampling": {"samples": 2, "top_k": 30, "temperature": 0.8, "seed": 4}}
    )

    def writer(inner: Any) -> Any:
        return PastEnds(inner, task.tokeniser.size) if past_end else inner

    lines = [7, 3, 5]
    samples = sample(writer(task), batch, limits, options, lines, must_end=must_end)
    captured = fixed_sampling.fixed_sample(
        writer(ReservingLanguage(task)), batch, limits, options, lines, CapturedSteps(), must_end
    )
    assert as_numbers(captured) == [
        [(hypothesis.tokens, hypothesis.token_scores) for hypothesis in several] for several in samples
    ]
    best = beam_search(writer(task), batch, limits, options, must_end=must_end)
    captured = fixed_beam_search(writer(ReservingLanguage(task)), batch, limits, options, CapturedSteps(), must_end)
    assert as_numbers(captured) == [
        [(hypothesis.tokens, hypothesis.token_scores) for hypothesis in several] for several in best
    ]


def test_only_a_model_with_caches_that_nobody_watches_reserves_room() -> None:
    from regard.attention.watch import watching

    task = task_of()
    assert can_reserve(task)
    with watching(task.model):
        assert not can_reserve(task)
    assert not can_reserve(task.train())
    with pytest.raises(TypeError, match="has no caches to reserve"):
        ReservingLanguage(object())
