"""Finite weights so large that every result is NaN: each engine reports it."""

import shutil
from pathlib import Path

import pytest
import torch

import regard
from regard.base.faults import Fault
from regard.engines.ctranslate2.export import export_ctranslate2
from regard.engines.exported import CTRANSLATE2, ONNX, origins
from regard.engines.fast import Choice, load_fast
from regard.engines.onnx.export import export_onnx
from regard.training import checkpoint
from regard.training.snapshot import named_weights

SAID = "Text 2: the model's outputs are not numbers; its weights are damaged or too large."
TEXTS = ["", "I love books."]


@pytest.fixture(scope="module")
def overgrown(trained: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("overgrown") / "run"
    shutil.copytree(trained, folder)
    model = regard.load(folder)
    with torch.no_grad():
        for weight in model.task.parameters():
            weight.fill_(3e38)
    checkpoint.update_folder(folder, {checkpoint.WEIGHTS: checkpoint.weights_to_bytes(named_weights(model.task))})
    export_ctranslate2(folder, folder / CTRANSLATE2, "float32")
    export_onnx(model, folder / ONNX, "float32", origins(checkpoint.read_folder(folder)))
    return folder


def test_torch_says_so(overgrown: Path) -> None:
    model = regard.load(overgrown)
    for search in ({"beam": 1}, {"beam": 4}):
        with pytest.raises(Fault, match=SAID):
            model.translate(TEXTS, **search)
    with pytest.raises(Fault, match=SAID):
        model.translate(TEXTS, sample={"seed": 1})


@pytest.mark.parametrize("name", [CTRANSLATE2, ONNX])
def test_exports_say_so(overgrown: Path, name: Choice) -> None:
    engine = load_fast(overgrown, name)
    assert engine is not None
    with pytest.raises(Fault, match=SAID):
        engine.translations(TEXTS, engine.decoding)
