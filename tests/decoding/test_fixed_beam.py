"""The fixed-shape search finds what the plain definition and the batched search find."""

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from sampled import few_seeds

from regard.attention.positions import Learned
from regard.base.faults import TextFault
from regard.data.tokenisers.bytewise import ByteTokeniser
from regard.decoding import fixed_beam
from regard.decoding.beam import beam_search
from regard.decoding.choosing import largest_first, ranked_in_parts
from regard.decoding.fixed_beam import FEWEST, FIRST_ROOM, fits, fixed_beam_search, round_down, round_up
from regard.decoding.options import DecodingOptions
from regard.decoding.output import Demands, Hypothesis
from regard.decoding.step_graphs import CapturedSteps
from regard.hardware.cuda_graphs import leaves
from regard.models.transformer.network import Transformer
from regard.models.transformer.options import TransformerOptions
from regard.protocols import State
from regard.tasks.translation.reserving import Reserving
from regard.tasks.translation.task import Translation

sys.path.insert(0, str(Path(__file__).parent))
from plain_beam import plain_beam
from tables import Table, random_table

TEXTS = ["one two", "a", "longer than both", "Привет, мир", "x y", "and", "one", "more", "text"]


@dataclass
class FixedTable(Table):
    """Table whose state has one shape from the start."""

    def reserve(self, state: State, copies: int, length: int) -> State:
        return state.spread(copies)

    def extend(self, state: State, length: int) -> State:
        return state


def fixed_table(seed: int, sentences: int, vocabulary: int, ties: bool = False) -> FixedTable:
    return FixedTable(random_table(seed, sentences, vocabulary, ties).table)


@few_seeds(3, 12)
@pytest.mark.parametrize("must_end", [True, False])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("stop", ["settled", "first", "exhaustive"])
def test_agrees_with_the_definition(seeds: range, stop: str, ties: bool, must_end: bool) -> None:
    generator = torch.Generator().manual_seed(0)
    for seed in seeds:
        size = int(torch.randint(1, 6, (), generator=generator))
        vocabulary = int(torch.randint(3, 9, (), generator=generator))
        limits = torch.randint(1, 8, (6,), generator=generator).tolist()
        kind = ("wu", "average", "none")[seed % 3]
        table = {"beam": size, "n_best": size, "stop": stop, "length_penalty_kind": kind, "length_penalty": seed / 8}
        options = DecodingOptions.model_validate(table)
        task = fixed_table(seed, 6, vocabulary, ties)
        batch = torch.arange(6), torch.tensor(limits)
        together = fixed_beam_search(task, *batch, options, CapturedSteps(), must_end)
        for number, hypotheses in enumerate(together):
            expected = plain_beam(
                task, torch.tensor([number]), limits[number], size, options.length_penalty, options, None, must_end
            )  # fmt: skip
            assert [(hypothesis.tokens, hypothesis.score) for hypothesis in hypotheses] == expected
        assert together == beam_search(task, *batch, options, must_end=must_end)


def ending(steep: float) -> Translation:
    """Return a Transformer whose end grows likelier with the output's length; `steep` sets how fast."""
    torch.manual_seed(3)
    sizes = {"encoder_layers": 1, "decoder_layers": 2, "width": 16, "feed_forward": 24, "heads": 4, "dropout": 0.0}
    options = TransformerOptions.model_validate({**sizes, "norm": "before", "positions": "learned"})
    bytewise = ByteTokeniser()
    network = Transformer(options, bytewise.size, bytewise.size, True, bytewise.pad)
    assert isinstance(network.target_places, Learned)
    with torch.no_grad():
        end = network.out.weight[bytewise.end]
        network.target_places.places.weight += steep * torch.arange(options.longest)[:, None] * end / end.norm()
    return Translation(network, bytewise, bytewise).double().eval()


def compared(task: Translation, limits: list[int], **options: Any) -> list[list[Hypothesis]]:
    """Return what both searches find, after checking that it is the same."""
    batch, limit, chosen = task.read(TEXTS), torch.tensor(limits), DecodingOptions.model_validate(options)
    hypotheses = fixed_beam_search(Reserving(task), batch, limit, chosen, CapturedSteps())
    expected = beam_search(task, batch, limit, chosen)
    assert [[hypothesis.tokens for hypothesis in row] for row in hypotheses] == [
        [hypothesis.tokens for hypothesis in row] for row in expected
    ]
    for row, expected_row in zip(hypotheses, expected, strict=True):
        for hypothesis, other in zip(row, expected_row, strict=True):
            assert hypothesis.score == pytest.approx(other.score)
            assert hypothesis.token_scores == pytest.approx(other.token_scores)
    return hypotheses


@pytest.mark.one_in(4)
@pytest.mark.parametrize("beam", [1, 2, 4, 5])
@pytest.mark.parametrize("stop", ["settled", "first", "exhaustive"])
def test_finds_what_the_batched_search_finds(beam: int, stop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Room runs out again and again, and sentences finish at very different times."""
    monkeypatch.setattr(fixed_beam, "FIRST_ROOM", 3)
    limits = [9, 7, 10, 2, 15, 14, 1, 13, 14]
    rows = compared(ending(1.0), limits, beam=beam, n_best=beam, stop=stop)
    lengths = {len(hypothesis.tokens) for row in rows for hypothesis in row}
    assert len(lengths - {limit - 1 for limit in limits}) > 2  # many end before their limits


def test_room_is_doubled_past_the_first() -> None:
    longest = FIRST_ROOM + 5
    rows = compared(ending(-1.0), [3, 3, 3, 3, 3, 3, longest, longest, 4], beam=2)
    assert max(len(row[0].tokens) for row in rows) == longest - 1


def test_steps_are_captured_once_for_all_batches_of_a_shape() -> None:
    task, captures = ending(0.0), CapturedSteps()

    def search(texts: list[str], beam: int) -> int:
        options, limits = DecodingOptions(beam=beam), torch.tensor([6] * len(texts))
        fixed_beam_search(Reserving(task), task.read(texts), limits, options, captures)
        return len(captures)

    assert search(["five", "one", "two", "a", "b"], beam=2) == 1
    assert search(["seventeen", "x", "y", "z", "six", "nine"], beam=2) == 1  # six also fit in a tree of eight
    assert search(["four"] * 9, beam=2) == 2  # in one of twelve
    assert search(["four"] * 9, beam=3) == 3


@pytest.mark.one_in(3)
@torch.no_grad()
@pytest.mark.parametrize("must_end", [True, False])
@pytest.mark.parametrize("stop", ["settled", "first", "exhaustive"])
def test_a_step_asks_the_host_nothing(stop: str, must_end: bool) -> None:
    """The device has no values or memory: reading a value or mixing in host tensors is an error."""
    device, options = torch.device("meta"), DecodingOptions.model_validate({"beam": 3, "stop": stop})
    task = ending(0.0)
    batch = task.read(TEXTS[:5])
    task.to(device)
    search = fixed_beam._Search(Reserving(task), options, must_end)
    tree = fixed_beam._begin(search, replace(batch, source=batch.source.to(device)), [9, 8, 7, 6, 5], device)
    after = fixed_beam._step(search)(tree)
    kinds = [[(leaf.shape, leaf.dtype, leaf.device) for leaf in leaves(state)] for state in (tree, after)]
    assert kinds[0] == kinds[1]
    with pytest.raises((RuntimeError, NotImplementedError)):  # checks that this test can fail
        bool(after.standing.living)


def test_sentences_that_are_done_make_way() -> None:
    captures, limits = CapturedSteps(), torch.tensor([2] * 12 + [12] * 2)
    fixed_beam_search(fixed_table(0, 14, 5), torch.arange(14), limits, DecodingOptions(beam=1), captures)
    assert [len(captured.held.standing.sums) for captured in captures] == [16, 4]


def test_where_the_model_leaves_nothing_that_is_said() -> None:
    task = fixed_table(0, 2, 4)
    task.table[1] = float("-inf")
    with pytest.raises(TextFault, match="Text 2: the model's outputs are not numbers"):
        fixed_beam_search(task, torch.tensor([0, 1]), torch.tensor([5, 5]), DecodingOptions(beam=2), CapturedSteps())


@pytest.mark.parametrize(
    "given",
    [
        {"coverage_penalty": 0.1},
        {"nested": True},
        {"groups": 2},
        {"shortest": 1},
        {"repetition_penalty": 1.1},
        {"unrepeated": 3},
    ],
)
def test_rules_do_not_fit(given: dict[str, Any]) -> None:
    assert fits(DecodingOptions(), Demands())
    assert fits(DecodingOptions(beam=2, stop="first", length_penalty=1.0, longest_ratio=3.0), Demands(prefixes=[]))
    assert not fits(DecodingOptions.model_validate(given), Demands())


def test_demands_do_not_fit() -> None:
    for demands in (Demands([[4]]), Demands(required=[[[4]]]), Demands(forbidden=[[4]]), Demands(allowed=[])):
        assert not fits(DecodingOptions(), demands)


def test_few_counts() -> None:
    assert [round_up(count, 4) for count in (1, 4, 5, 9, 13, 17, 25, 33, 64)] == [4, 4, 8, 12, 16, 24, 32, 48, 64]
    assert [round_up(count, 16) for count in (1, 17, 33, 49, 65, 200)] == [16, 32, 48, 64, 96, 256]
    assert all(count <= round_up(count, FEWEST) <= max(FEWEST, 2 * count) for count in range(1, 300))
    assert [round_down(count, 4) for count in (1, 4, 7, 8, 13, 799, 1024)] == [1, 4, 4, 8, 12, 768, 1024]
    assert all(round_up(round_down(count, FEWEST), FEWEST) <= max(count, FEWEST) for count in range(1, 300))


def test_ranked_in_parts_is_ranked() -> None:
    """Ties keep their order wherever parts begin and end, even with many empty places."""
    for seed in range(200):
        generator = torch.Generator().manual_seed(seed)
        width, count = (int(torch.randint(1, most, (), generator=generator)) for most in (200, 12))
        values = torch.randint(0, 6, (5, width), generator=generator).float()
        values[values == 0] = float("-inf")
        best, index = values.sort(dim=1, descending=True, stable=True)
        values_in_parts, places = ranked_in_parts(values, count)
        assert torch.equal(values_in_parts, best[:, :count])
        assert torch.equal(places, index[:, :count])
        finite = largest_first(values, count)[0].isfinite()
        assert torch.equal(largest_first(values, count)[1][finite], places[finite])
