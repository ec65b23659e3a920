"""Exported graphs in onnxruntime: the same logits, token by token and all at once, for every Transformer."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from torch import Tensor

from regard.base.faults import Fault
from regard.data.tokenisers.bytewise import ByteTokeniser
from regard.data.tokenisers.tokeniser import TokeniserOptions, load_tokeniser
from regard.engines.onnx.engine import load_graphs
from regard.engines.onnx.export import export_onnx
from regard.engines.shortlist import Shortlist
from regard.families import check_recipe
from regard.tasks.translation.building import build_translation
from regard.training.snapshot import named_weights
from regard.verbs.translate.model import TranslationModel

SIZES = {"encoder_layers": 2, "decoder_layers": 2, "width": 16, "feed_forward": 24, "heads": 4, "longest": 40}
BUILDS: list[dict[str, Any]] = [
    {},
    {"norm": "before", "activation": "gelu"},
    {"positions": "learned", "tied": False},
    {"positions": "rotary", "activation": "swish"},
    {"positions": "alibi"},
    {"positions": "none"},
    {"score": "dot"},
    {"score": "bilinear"},
    {"score": "additive"},
    {"key_value_heads": 2},
    {"key_value_heads": 1, "positions": "rotary"},
    {"shared_key_value": True},
    {"join": "averaged", "shared_key_value": True, "key_value_heads": 2},
    {"decoder_heads": 2, "decoder_feed_forward": 30, "output_bias": True, "shared_embeddings": False},
    {"decoder_cell": "ssru"},
    {"decoder_cell": "ssru", "norm": "before", "positions": "rotary", "decoder_heads": 2},
]


def ours(family: str = "transformer", **options: Any) -> TranslationModel:
    data = {"train": "x.tsv", "cleaning": {"longest": 30}, "tokeniser": {"kind": "bytes"}}
    model = (SIZES if family == "transformer" else {"embedding": 8, "width": 8}) | options
    recipe = check_recipe({"family": family, "data": data, "model": model, "decoding": {"beam": 1}})
    task = build_translation(recipe, ByteTokeniser(), ByteTokeniser())
    torch.manual_seed(5)
    for tensor in named_weights(task).values():
        tensor.add_(torch.randn_like(tensor) * 0.2)
    return TranslationModel(task, recipe)


class Graphs:
    """Code that a user would write to run an export."""

    def __init__(self, folder: Path) -> None:
        self.encoder, self.decoder = (
            onnxruntime.InferenceSession(folder / f"{n}.onnx") for n in ("encoder", "decoder")
        )
        self.about = json.loads((folder / "about.json").read_text())

    def logits(self, source: Tensor, lengths: Tensor, target: Tensor, at_once: int) -> np.ndarray:
        """Return the logits of all target tokens, written this many at a time."""
        memory = self._run(self.encoder, {"source": source.numpy(), "lengths": lengths.numpy()})
        past, outputs = self._nothing(len(target)), []
        for first in range(0, target.shape[1], at_once):
            tokens = {"target": target[:, first : first + at_once].numpy(), "lengths": lengths.numpy()}
            new = self._run(self.decoder, tokens | memory | past)
            outputs.append(new.pop("logits"))
            past = {name.replace("present", "past"): tensor for name, tensor in new.items()}
        return np.concatenate(outputs, axis=1)

    def _nothing(self, rows: int) -> dict[str, np.ndarray]:
        shape, layers = self.about["past"], self.about["decoder_layers"]
        if "width" in shape:  # the states of recurrent cells, and their place
            states = {f"past.state.{number}": np.zeros((rows, shape["width"]), np.float32) for number in range(layers)}
            return states | {"past.place": np.zeros((rows, 1), np.float32)}
        return {
            f"past.{kind}s.{number}": np.zeros((rows, shape["heads"], 0, shape[f"{kind}_depth"]), np.float32)
            for number in range(layers)
            for kind in ("key", "value")
        }

    @staticmethod
    def _run(session: onnxruntime.InferenceSession, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        names = [output.name for output in session.get_outputs()]
        return dict(zip(names, session.run(names, inputs), strict=True))


@torch.no_grad()
def expected(model: TranslationModel, source: Tensor, lengths: Tensor, target: Tensor) -> np.ndarray:
    network = model.task.model
    logits: np.ndarray = network.logits(network.write(target, network.read(source, lengths), [])[0]).numpy()
    return logits


@pytest.mark.one_in(3)
@pytest.mark.parametrize("options", BUILDS, ids=str)
def test_same_logits(tmp_path: Path, options: dict[str, Any]) -> None:
    model = ours(**options)
    export_onnx(model, tmp_path / "onnx")
    graphs = Graphs(tmp_path / "onnx")
    generator = torch.Generator().manual_seed(1)
    source, target = (torch.randint(4, 260, shape, generator=generator) for shape in ((3, 7), (6, 5)))
    lengths = torch.tensor([7, 5, 2])  # and two rows for each sentence
    reference = expected(model, source, lengths, target)
    for at_once in (1, 2, 5):
        np.testing.assert_allclose(graphs.logits(source, lengths, target, at_once), reference, rtol=1e-4, atol=1e-5)
    one = torch.tensor([[9]]), torch.tensor([1]), torch.tensor([[2]])
    np.testing.assert_allclose(graphs.logits(*one, 1), expected(model, *one), rtol=1e-4, atol=1e-5)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("options", BUILDS, ids=str)
def test_a_step_gives_the_best_of_the_same(tmp_path: Path, options: dict[str, Any], listed: bool) -> None:
    """Token by token, with rows derived from others, and among some tokens only."""
    model, source, out = ours(**options), [9, 77, 30, 3], tmp_path / "onnx"
    some = [3, 40, 41, 42, 43, 44, 45] if listed else [*range(260)]
    export_onnx(model, out, shortlist=Shortlist(some, {}) if listed else None)
    engine = load_graphs(out, model.task.target)
    sentence, rows = engine.read(source), list[list[int]]([[]])
    for number, origins in enumerate(([0], [0, 0, 0], [2, 0, 1], [1, 1, 2])):
        rows = [[*rows[origin], 40 + place if number else 2] for place, origin in enumerate(origins)]
        step = sentence.step([row[-1] for row in rows], origins, 5)
        target, spread = torch.tensor(rows), torch.tensor([source]).expand(len(rows), -1)
        logits = expected(model, spread, torch.tensor([len(source)] * len(rows)), target)[:, -1]
        log_probabilities = torch.from_numpy(logits)[:, some].log_softmax(-1)
        best = log_probabilities.topk(5)
        np.testing.assert_allclose(step.values, best.values, rtol=1e-3, atol=1e-4)
        assert step.tokens.tolist() == torch.tensor(some)[best.indices].tolist()
        np.testing.assert_allclose(step.end, log_probabilities[:, some.index(3)], rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(step.attention.sum(1), 1, rtol=1e-5)


def test_an_export_is_complete(tmp_path: Path) -> None:
    model, out = ours(), tmp_path / "onnx"
    export_onnx(model, out)
    for name in ("encoder.onnx", "decoder.onnx", "step.onnx"):
        onnx.checker.check_model(str(out / name), full_check=True)
    about = json.loads((out / "about.json").read_text())
    assert about["target"] == {"tokens": 260, "pad": 0, "begin": 2, "end": 3}
    assert about["languages"] == ["src", "tgt"]
    tokeniser = load_tokeniser(out, "source", TokeniserOptions(**about["tokeniser"]))
    assert tokeniser.encode("ação") == model.task.source.encode("ação")
    weights = sum(tensor.numel() for tensor in named_weights(model.task).values())
    assert (out / "weights.data").stat().st_size < 4 * weights + 4 * 40 * 16 + 4096 * 100  # embeddings are stored once


def test_it_can_be_moved_and_written_again(tmp_path: Path) -> None:
    export_onnx(ours(), tmp_path / "first")
    export_onnx(ours(norm="before"), tmp_path / "first")
    (tmp_path / "first").rename(tmp_path / "second")
    Graphs(tmp_path / "second")
    (tmp_path / "second" / "encoder.onnx").unlink()
    export_onnx(ours(), tmp_path / "second")  # leftovers of an export are replaced
    Graphs(tmp_path / "second")
    (tmp_path / "second" / "letters.txt").touch()
    with pytest.raises(Fault, match=r"it has letters\.txt"):
        export_onnx(ours(), tmp_path / "second")


def test_other_families_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Fault, match="this model is of the family seq2seq"):
        export_onnx(ours("seq2seq"), tmp_path / "onnx")


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("regard.engines.onnx.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(Fault, match=r"needs onnx, which is not installed: pip install 'regard\[onnx\]'\."):
        export_onnx(ours(), tmp_path / "onnx")


@pytest.mark.usefixtures("unchecked_shapes")
def test_the_loop_in_the_document_translates(tmp_path: Path) -> None:
    """Greedy, with the same result as our own search."""
    text = (Path(__file__).parents[2] / "docs" / "other-tools.md").read_text(encoding="utf-8")
    (program,) = [block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "onnxruntime" in block]
    space: dict[str, Any] = {}
    exec(program, space)
    model = ours()
    export_onnx(model, tmp_path / "onnx")
    for words in ("Olá", "I love books."):
        expected = model.search_tokens(words)
        tokens = space["translate"](tmp_path / "onnx", model.task.source.encode(words))
        assert len(expected) > 5
        assert tokens[: len(expected)] == expected  # which has a lower limit
