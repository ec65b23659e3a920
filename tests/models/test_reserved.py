"""Fixed-length caches compared with growing ones in float64, for every build of a Transformer."""

import pytest
import torch
from test_laws import BUILDS, PAIRS, build

from regard.hardware.cuda_graphs import leaves
from regard.models.transformer import reserved
from regard.models.transformer.network import Transformer
from regard.protocols import State
from regard.tasks.translation.task import Translation

TRANSFORMERS = {
    **{
        name: table
        for name, (family, table) in BUILDS.items()
        if family == "transformer" and "decoder_cell" not in table  # a recurrent decoder has no caches
    },
    "learned": {**BUILDS["transformer"][1], "positions": "learned"},
    "unplaced": {**BUILDS["transformer"][1], "positions": "none"},
}
COPIES = 3


def network_of(task: Translation) -> Transformer:
    assert isinstance(task.model, Transformer)
    return task.model


@pytest.mark.one_in(4)
@torch.no_grad()
@pytest.mark.parametrize("name", TRANSFORMERS)
def test_reserved_is_growing(name: str) -> None:
    """This holds for any rows and sentences that a search keeps, however often it needs more room."""
    task, chance = build("transformer", TRANSFORMERS[name]), torch.Generator().manual_seed(5)
    network, batch = network_of(task), task.pair_up(PAIRS)
    memory = network.read(batch.source, batch.source_lengths)
    growing = State(memory, network.begin(memory)).spread(COPIES)
    fixed = State(*reserved.reserve(memory, COPIES, 4))
    for time in range(11):
        if time in (4, 7):
            fixed = State(*reserved.extend(fixed.sentence, fixed.row, time + 4))
        sentences = len(fixed.sentence.place)
        tokens = torch.randint(0, 200, (sentences * COPIES,), generator=chance)
        expected, past = network.write(tokens[:, None], growing.sentence, growing.row)
        states, *after = reserved.write(network, tokens, fixed.sentence, fixed.row)
        torch.testing.assert_close(states, expected[:, 0])
        rows = torch.randint(0, COPIES, (sentences, COPIES), generator=chance)
        rows = (rows + COPIES * torch.arange(sentences)[:, None]).flatten()
        growing, fixed = State(growing.sentence, past).select(rows), State(*after).select(rows)
        if time == 5:  # one is done, and another takes its place as well
            survivors = torch.tensor([0, 2, 3, 3])
            rows = (survivors[:, None] * COPIES + torch.arange(COPIES)).flatten()
            growing, fixed = growing.keep(survivors, rows), fixed.keep(survivors, rows)


@torch.no_grad()
def test_a_step_changes_no_shape_and_moves_no_cache() -> None:
    task = build("transformer", TRANSFORMERS["transformer"])
    network, batch = network_of(task), task.pair_up(PAIRS)
    before = reserved.reserve(network.read(batch.source, batch.source_lengths), COPIES, 8)
    _, *after = reserved.write(network, torch.full((len(PAIRS) * COPIES,), task.begin), *before)
    assert [leaf.shape for leaf in leaves(after)] == [leaf.shape for leaf in leaves(list(before))]
    for old, new in zip(before[0].caches, after[0].caches, strict=True):
        assert old.keys is new.keys
        assert old.values is new.values
        assert new.keys[:, :, :COPIES].abs().sum() > 0  # place · row: the first place of every row
        assert new.keys[:, :, COPIES:].abs().sum() == 0
    assert after[0].place.tolist() == [1] * len(PAIRS)


@torch.no_grad()
def test_writers_on_paper() -> None:
    """Two rows write; the second survives in both places, and both write again."""
    task = build("transformer", TRANSFORMERS["transformer"])
    network, batch = network_of(task), task.pair_up(PAIRS[:1])
    state = State(*reserved.reserve(network.read(batch.source, batch.source_lengths), 2, 3))
    assert state.row.tolist() == [[-1, -1, -1], [-1, -1, -1]]
    _, *after = reserved.write(network, torch.tensor([1, 2]), state.sentence, state.row)
    assert after[1].tolist() == [[0, -1, -1], [1, -1, -1]]
    state = State(*after).select(torch.tensor([1, 1]))
    _, *after = reserved.write(network, torch.tensor([3, 4]), state.sentence, state.row)
    assert after[1].tolist() == [[1, 0, -1], [1, 1, -1]]
