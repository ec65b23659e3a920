"""Packed, captured, reserved and fused paths leave the work to the plain path while something is watched or edited."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from test_laws import BUILDS, PAIRS, build
from torch import nn
from toys import open_toy

from regard.attention.core import Attention
from regard.attention.editing import Edit, editing
from regard.attention.masks import Causal
from regard.attention.watch import watching
from regard.base.faults import Fault
from regard.base.recipe import check
from regard.decoding.options import DecodingOptions
from regard.models.gpt import network as gpt
from regard.models.transformer import packing
from regard.tasks.language import reserving as reserving_language
from regard.tasks.translation import reserving
from regard.tasks.translation.objectives import forced
from regard.tasks.translation.packs import pack
from regard.tasks.translation.task import Translation
from regard.training.passes import Passes
from regard.verbs.generate import continuing
from regard.verbs.translate import search

HEAD = Edit(at="1", part="head", do="zero")
CROSS = Edit(at="cross.1", part="head", do="zero")
Block = Callable[[nn.Module, Edit], AbstractContextManager[Any]]
# The ways to look inside a model while it runs; an edit of one head is the smallest one.
BLOCKS: dict[str, Block] = {"watched": lambda model, edit: watching(model), "edited": editing}


class OnGPU(torch.Tensor):
    """A tensor that pretends to be on a GPU."""

    is_cuda = True


@pytest.fixture(params=BLOCKS)
def block(request: pytest.FixtureRequest) -> Block:
    return BLOCKS[request.param]


@pytest.fixture
def translator() -> Translation:
    task = build("transformer", BUILDS["transformer"][1])
    task.eval()
    return task


@pytest.fixture(scope="module")
def writer(tmp_path_factory: pytest.TempPathFactory) -> Any:
    task: Any = open_toy("gpt", tmp_path_factory.mktemp("gpt")).task
    task.eval()
    return task


def test_reserved_caches_of_a_translator_are_declined(
    translator: Translation, block: Block, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Translation, "device", torch.device("cuda"))  # as if it were on a GPU
    monkeypatch.setattr(search, "captures_of", lambda task: "captures")
    assert reserving.can_reserve(translator)
    assert search.captures_for(translator) == "captures"
    batch = _on_the_cpu(translator)
    with block(translator.model, CROSS):
        assert not reserving.can_reserve(translator)
        assert search.captures_for(translator) is None
        forced(translator.model, batch)  # an edit that never applies is refused
    assert search.captures_for(translator) == "captures"


def _on_the_cpu(task: Translation) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Translation, "device", torch.device("cpu"))
        return task.pair_up(PAIRS)


def test_captured_steps_of_a_language_model_are_declined(
    writer: Any, block: Block, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch, limits, options = writer.read(["lessons"]), torch.tensor([3]), DecodingOptions()
    monkeypatch.setattr(type(writer), "device", torch.device("cuda"))
    monkeypatch.setattr(continuing, "captures_of", lambda task: "captures")
    assert reserving_language.can_reserve(writer)
    assert continuing._captures_for(writer, batch, limits, options) == "captures"
    with block(writer.model, HEAD):
        assert not reserving_language.can_reserve(writer)
        assert continuing._captures_for(writer, batch, limits, options) is None
        monkeypatch.undo()
        writer.foresee(batch)  # an edit that never applies is refused


def test_packed_sentences_are_declined(translator: Translation, block: Block, monkeypatch: pytest.MonkeyPatch) -> None:
    network: Any = build("transformer", BUILDS["transformer"][1] | {"width": 32, "heads": 2}).model
    out = network.out
    del network.out
    network.out = SimpleNamespace(weight=SimpleNamespace(is_cuda=True))  # as if it were on a GPU
    monkeypatch.setattr(packing, "available", lambda: True)
    assert packing.serves(network, 5)
    with block(network, CROSS):
        assert not packing.serves(network, 5)
        network.out = out
        forced(network, translator.pair_up(PAIRS))  # an edit that never applies is refused


def test_a_batch_that_was_packed_before_is_refused(translator: Translation, block: Block) -> None:
    pairs = translator.pair_up(PAIRS)
    packed = pack(pairs, 256, torch.device("cpu"))
    assert packed is not None
    with block(translator.model, CROSS):
        with pytest.raises(Fault, match="packed before watching or editing began"):
            forced(translator.model, packed)
        forced(translator.model, pairs)  # an edit that never applies is refused


def test_the_fused_pass_of_a_language_model_is_declined(block: Block, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = {"layers": 1, "width": 32, "heads": 2, "context": 8, "activation": "gelu-tanh", "norm": "before"}
    model = gpt.GPT(check(gpt.GPTOptions, sizes), 19, (0, 2))
    monkeypatch.setattr(gpt, "available", lambda: True)
    tokens = torch.tensor([[3, 4]]).as_subclass(OnGPU)
    assert model._can_fuse(tokens)
    with block(model, HEAD):
        assert not model._can_fuse(tokens)
        model.read(torch.tensor([[3, 4]]), model.begin(1))  # an edit that never applies is refused
    assert model._can_fuse(tokens)


def test_captured_passes_of_training_are_declined(
    translator: Translation, block: Block, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A replayed pass would run what was captured without the edit, and a captured one would keep it."""
    passes = Passes(translator, translator, "float32")
    passes.device = torch.device("cuda")
    ways: list[str] = []
    monkeypatch.setattr(passes, "replay", lambda batch, carry: ways.append("replayed"))
    monkeypatch.setattr(passes, "plainly", lambda batch, carry: ways.append("plain"))
    batch = pack(translator.pair_up(PAIRS), 256, torch.device("cpu"))
    passes(batch, None)
    with block(translator.model, CROSS):
        passes(batch, None)
        forced(translator.model, translator.pair_up(PAIRS))  # an edit that never applies is refused
    passes(batch, None)
    assert ways == ["replayed", "plain", "replayed"]


@pytest.mark.parametrize(
    ("edit", "is_fused"),
    [
        (Edit(at="1", part="head", do="zero"), True),
        (Edit(at="1", part="head", do="scale", by=0.5, queries=[1]), True),
        (Edit(at="1", do="zero", keys=[0], queries=[2]), False),
    ],
)
def test_a_fused_look_stays_fused_unless_its_weights_are_edited(
    edit: Edit, is_fused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    look, calls = Attention(looks_from="text", looks_at="text"), list[str]()
    whole = Attention._fuse

    def fuse(self: Attention, *given: Any, **named: Any) -> Any:
        calls.append("fused")
        return whole(self, *given, **named)

    monkeypatch.setattr(Attention, "_fuse", fuse)
    vectors = torch.randn(1, 2, 4, 3, dtype=torch.float64)
    plain = look(vectors, vectors, vectors, Causal())
    assert calls == ["fused"]
    with editing(look, edit):
        changed = look(vectors, vectors, vectors, Causal())
    assert len(calls) == 1 + is_fused
    assert not torch.allclose(changed, plain)
