"""Networks sharded by sections: one section's weights are whole at a time, and the loss is the same."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from toys import open_toy

from regard.models.gpt.network import GPT
from regard.models.gpt.options import GPTOptions
from regard.models.transformer import packing
from regard.models.transformer.network import Transformer
from regard.models.transformer.options import TransformerOptions
from regard.protocols import Sectional
from regard.training.passes import Passes
from regard.training.ranks import Ranks
from regard.training.sharding import is_sharded, most_at_once, shard, whole, whole_weights

sys.path.insert(0, str(Path(__file__).parent / "training"))
from forked import on_ranks

LAYERS: dict[str, dict[str, Any]] = {
    "transformer": {"encoder_layers": 2, "decoder_layers": 3},
    "painter": {},
    "gpt": {"layers": 3},
    "bert": {"layers": 3},
    "classes bert": {"layers": 3},
}


def opened(name: str, folder: Path, ranks: Ranks, split: str) -> tuple[Any, Any]:
    """Return a toy and its first batch, the same on all ranks."""
    (place := folder / str(ranks.rank)).mkdir()
    task = open_toy(name, place, **LAYERS[name]).task
    return task, next(iter(task.batches(split, 1, 0, 0)))


def network_of(task: nn.Module) -> Any:
    """Return the one network of a task that has sections."""
    (network,) = (part for part in task.modules() if isinstance(part, Sectional))
    return network


def is_whole(module: nn.Module) -> bool:
    """Return True if any weight of the module, or of a section in it, is whole."""
    return any(not is_sharded(parameter) for parameter in module.parameters())


@contextmanager
def whole_blocks_noted(network: Any, noted: dict[str, list[int]]) -> Iterator[None]:
    """Record how many blocks are whole when one begins, forward or backward."""
    blocks = [section for section, _ in network.sections() if not hasattr(section, "remember")]

    def count(pass_name: str) -> None:
        noted[pass_name].append(sum(is_whole(block) for block in blocks))

    def after(module: nn.Module, given: Any, found: Any) -> None:
        states = found[0] if isinstance(found, tuple) else found
        if states.requires_grad:
            states.register_hook(lambda gradient: count("backward"))

    handles = [block.register_forward_pre_hook(lambda *_: count("forward")) for block in blocks]
    handles += [block.register_forward_hook(after) for block in blocks]
    yield
    for handle in handles:
        handle.remove()


@pytest.mark.one_in(3)
@pytest.mark.filterwarnings("ignore:mkldnn_matmul failed")  # for CPUs without bf16
@pytest.mark.parametrize(
    ("name", "precision"),
    [
        ("transformer", "float32"),
        ("transformer", "bf16"),
        ("gpt", "float32"),
        pytest.param("bert", "float32", marks=pytest.mark.long),
        *(pytest.param(name, "bf16", marks=pytest.mark.long) for name in LAYERS if name != "transformer"),
    ],
)
def test_one_block_is_whole_at_a_time_and_the_loss_and_its_gradients_are_the_same(
    name: str, precision: str, tmp_path: Path
) -> None:
    """Two ranks take the same batch twice, so gradients are four times those of one pass."""

    def work(ranks: Ranks) -> Any:
        task, batch = opened(name, tmp_path, ranks, "train")

        def take(passes: Passes) -> float:
            torch.manual_seed(5)
            return float(passes(batch, None).total)

        passes = Passes(task, task, precision)
        losses = [take(passes)]
        expected = {key: 4 * parameter.grad for key, parameter in task.named_parameters() if parameter.grad is not None}
        task.zero_grad()
        shard(task, ranks)
        noted: dict[str, list[int]] = {"forward": [], "backward": []}
        passes = Passes(task, task, precision, sharded=True)
        with whole_blocks_noted(network_of(task), noted):
            losses += [take(passes), take(passes)]
        assert not is_whole(task)
        gradients = whole(
            {key: parameter.grad for key, parameter in task.named_parameters() if parameter.grad is not None}
        )
        torch.testing.assert_close({key: gradients[key] for key in expected}, expected)
        assert all(not gradient.any() for key, gradient in gradients.items() if key not in expected)
        return [losses, noted]

    for losses, noted in on_ranks(2, work):
        assert losses == pytest.approx([losses[0]] * 3)
        assert set(noted["forward"]) == {1}
        assert len(noted["backward"]) == len(noted["forward"])
        assert max(noted["backward"]) <= 2  # the next one is fetched early


def test_in_a_validation_weights_are_whole_and_ranks_need_not_work_in_step(tmp_path: Path) -> None:
    """Validate before the first loss, when FSDP2 has not been set up yet. A loss can follow."""

    def work(ranks: Ranks) -> Any:
        task, batch = opened("transformer", tmp_path, ranks, "valid")
        task.eval()
        measures = [task.measure(batch)["loss"].value]
        shard(task, ranks)
        with torch.no_grad(), whole_weights(task):
            assert not any(is_sharded(parameter) for parameter in task.parameters())
            if ranks.leads:
                measures.append(task.measure(batch)["loss"].value)
        assert not is_whole(task)
        task.loss(batch).total.backward()
        return measures

    first, _ = on_ranks(2, work)
    assert first[1] == pytest.approx(first[0])


def test_all_but_two_of_the_largest_blocks_can_rest(tmp_path: Path) -> None:
    """A decoder's blocks, which contain a section, can rest too."""
    task: Any = open_toy("transformer", tmp_path, encoder_layers=2, decoder_layers=3).task
    network = network_of(task)
    resting = {*network.encoder.parameters(), *network.decoder[0].parameters()}
    assert set(most_at_once(task)) == set(task.parameters()) - resting


def test_kernels_that_read_all_weights_are_not_taken_where_blocks_are_sharded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in ("transformer.packing", "gpt.network"):
        monkeypatch.setattr(f"regard.models.{module}.available", lambda: True)
    monkeypatch.setattr(torch.Tensor, "is_cuda", True)
    translator = Transformer(TransformerOptions(preset="tiny"), 5, 5, True, 0)
    assert packing.serves(translator, longest=4)
    translator.is_in_sections = True
    assert not packing.serves(translator, longest=4)
    model = GPT(GPTOptions(layers=1, width=8, heads=2, context=4), 5)
    tokens = torch.zeros(1, 4, dtype=torch.long)
    assert model._can_fuse(tokens)
    model.is_in_sections = True
    assert not model._can_fuse(tokens)
