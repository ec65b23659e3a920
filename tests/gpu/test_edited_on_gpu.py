"""On a GPU, watchers and edits reach every model, and nothing of an edit stays behind in what was captured.

Packed, captured, reserved and fused paths leave watched and edited work to the plain path.
"""

from pathlib import Path
from typing import Any

import pytest
import torch
from small import undrawn
from toy_verbs import inputs_of
from toys import TOYS, open_trained_toy

import regard
from regard.attention.editing import Edit, editing
from regard.attention.watch import watching
from regard.base.progress import silent
from regard.base.recipe import check
from regard.families import FAMILIES, check_recipe
from regard.models.draw import network as draw
from regard.models.gpt.network import GPT, GPTOptions
from regard.models.transformer import packing
from regard.models.transformer.network import Transformer
from regard.models.transformer.options import TransformerOptions
from regard.promises.asking import ASKED, check_same, plain
from regard.promises.learning import numbers
from regard.runs.open import open_run
from regard.training.passes import Passes

pytestmark = pytest.mark.usefixtures("no_curves")
GPU = "cuda"
WITHOUT_WEIGHTS = ("decision", "alignment", "occupancy", "shares", "moments", "rollout", "look_back")
LOOKING = [toy for toy in TOYS if FAMILIES[TOYS[toy].family or toy].learns == "gradient"]
# Models that write on a GPU with captured steps, and an edit that changes what they write.
WRITERS = {
    "transformer": Edit(at="encoder.0", part="output", do="scale", by=0.2),
    "seq2seq": Edit(at="cross.1", do="force", keys=[0]),
    "gpt": Edit(at="blocks.0", part="output", do="scale", by=0.2),
}
# Models whose training passes are captured, and an edit of each.
CAPTURED = {
    "decoder": Edit(at="blocks.0.look_back.look", part="head", do="zero"),
    "caption-transformer": Edit(at="cross.1", part="head", do="zero"),
    "patches": Edit(at="encoder.1", part="head", do="zero"),
}


def open_task(toy: str, folder: Path) -> Any:
    """Return the task of an untrained toy on the GPU, as it answers."""
    training = {"device": GPU, "precision": "float32"}
    table, family = TOYS[toy].table(folder), TOYS[toy].family or toy
    table["training"] = table["training"] | training
    recipe = check_recipe(table | {"family": family, "seed": 3})
    with undrawn():
        task: Any = open_run(recipe, folder / "run", True, silent, lambda remark: None).task
    task.eval()
    return task


def measured(task: Any, batch: Any, *edits: Edit) -> tuple[dict[str, Any], Any]:
    torch.manual_seed(5)  # some measures draw numbers
    with torch.no_grad(), watching(task.model) as gazes, editing(task.model, list(edits)):
        return numbers(task.measure(batch)), gazes


@pytest.mark.parametrize("toy", LOOKING)
def test_forced_weights_are_seen_and_change_what_is_measured(toy: str, tmp_path: Path) -> None:
    task = open_task(toy, tmp_path)
    batch = next(iter(task.batches("valid", 0, 0, 0)))
    expected, seen = measured(task, batch)
    editable = [gaze for gaze in seen if gaze.edges is None and gaze.where.rpartition(".")[2] not in WITHOUT_WEIGHTS]
    for gaze in {gaze.where: gaze for gaze in editable}.values():
        assert gaze.weights.is_cuda
        key = 1 if bool((gaze.weights[..., 0] == 1).all()) else 0
        outcome, gazes = measured(task, batch, Edit(at=gaze.where, do="force", keys=[key]))
        edited = [other for other in gazes if other.where == gaze.where]
        assert edited
        assert all(bool((other.weights[..., key] == 1).all()) for other in edited), gaze.where
        assert outcome != expected, gaze.where


@pytest.mark.parametrize("toy", WRITERS)
def test_edited_searches_are_those_of_a_cpu_and_leave_no_trace(toy: str, tmp_path: Path) -> None:
    open_trained_toy(toy, tmp_path)
    models = [regard.load(tmp_path / "run", device=device) for device in ("cpu", GPU)]
    inputs = inputs_of(toy, models[0].recipe.task, tmp_path)
    verbs = [verb for verb in ("translate", "generate") if verb in models[0].verbs]
    for verb in verbs:
        before = plain(ASKED[verb](models[1], inputs))
        assert plain(ASKED[verb](models[1], inputs)) == before  # by steps that are captured now
        answers = []
        for model in models:
            with editing(model, WRITERS[toy]):
                answers.append(plain(ASKED[verb](model, inputs)))
        check_same(answers[1], answers[0], verb)
        assert answers[1] != before
        assert plain(ASKED[verb](models[1], inputs)) == before
        with watching(models[1]) as gazes:
            ASKED[verb](models[1], inputs)
        assert len(gazes) > 0


@pytest.mark.parametrize("toy", CAPTURED)
def test_a_captured_pass_of_training_is_not_replayed_while_edited(toy: str, tmp_path: Path) -> None:
    task = open_task(toy, tmp_path)
    batch = next(iter(task.batches("train", 3, 0, 0)))
    passes = Passes(task, task, "float32")
    first, *others = (passes(batch, None).total.item() for _ in range(4))
    assert passes.capturing
    assert others == pytest.approx([first] * 3, rel=1e-5)
    with editing(task.model, CAPTURED[toy]):
        edited = passes(batch, None).total.item()
        assert edited == pytest.approx(task.loss(batch, None).total.item(), rel=1e-5)
    assert edited != pytest.approx(first, rel=1e-6)
    with watching(task.model) as gazes:
        passes(batch, None)
    assert len(gazes) > 0
    assert passes(batch, None).total.item() == pytest.approx(first, rel=1e-5)


def test_sentences_are_not_packed_while_something_is_watched_or_edited() -> None:
    sizes = {"encoder_layers": 1, "decoder_layers": 1, "width": 32, "feed_forward": 24, "heads": 2}
    network = Transformer(check(TransformerOptions, sizes), 19, 19, True, pad=0).to(GPU).eval()
    tokens, lengths = torch.randint(4, 19, (2, 5), device=GPU), torch.tensor([5, 3])
    assert packing.serves(network, 5)
    with watching(network), editing(network, Edit(at="encoder.1", part="head", do="zero")):
        assert not packing.serves(network, 5)
        network.read(tokens, lengths)
    assert packing.serves(network, 5)


def test_the_fused_pass_of_a_language_model_is_not_taken_while_edited(monkeypatch: pytest.MonkeyPatch) -> None:
    from regard.models.gpt import fused  # needs Triton

    calls: list[int] = []
    whole = fused.fused_states

    def counted(network: GPT, tokens: Any) -> Any:
        calls.append(1)
        return whole(network, tokens)

    monkeypatch.setattr(fused, "fused_states", counted)
    sizes = {"layers": 2, "width": 32, "heads": 2, "context": 6, "dropout": 0.0, "attention_dropout": 0.0}
    network = GPT(check(GPTOptions, sizes), 19, (0, 2)).to(GPU).train()
    tokens = torch.randint(3, 19, (2, 5), device=GPU)
    states = network.read(tokens, network.begin(2)).states
    assert len(calls) == 1
    edit = Edit(at="1", do="force", keys=[0])
    with editing(network, edit), watching(network) as gazes:
        edited = network.read(tokens, network.begin(2)).states
    assert len(calls) == 1
    assert len(gazes) == 2
    assert bool((gazes[0].weights[..., 0] == 1).all())
    assert not torch.allclose(edited, states)
    on_cpu = network.cpu()
    with editing(on_cpu, edit):
        expected = on_cpu.read(tokens.cpu(), on_cpu.begin(2)).states
    torch.testing.assert_close(edited.cpu(), expected, rtol=1e-4, atol=1e-5)


def test_kernels_of_draw_are_not_taken_while_edited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    by_kernels = draw.Draw._redraw_by_kernels
    monkeypatch.setattr(draw.Draw, "_redraw_by_kernels", lambda *given: calls.append(1) or by_kernels(*given))
    model = open_task("draw", tmp_path).model
    model.compiles_step = True
    pictures = torch.rand(2, model.height, model.width, device=GPU)
    noise = torch.randn(2, 3, model.options.latent, device=GPU)
    plain_canvas = model(pictures, noise).canvas
    taken = len(calls)
    assert taken > 0
    with editing(model, Edit(at="encode", part="state", do="zero", queries=[0])):
        edited = model(pictures, noise).canvas
    assert len(calls) == taken
    assert not torch.allclose(edited, plain_canvas)
