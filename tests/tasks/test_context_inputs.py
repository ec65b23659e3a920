"""Features of a bidirectional language model as inputs: what the folder holds, what learns, and their values."""

from pathlib import Path

import pytest
import torch
from labelled_files import write_labelled
from small import undrawn
from toys import open_trained_toy

import regard
from regard.base.faults import Fault
from regard.families import check_recipe
from regard.model import load
from regard.models.text.classifier import TextClassifier
from regard.runs.open import Run, open_run
from regard.runs.train import train


@pytest.fixture(scope="module")
def bilm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of two small language models."""
    return open_trained_toy("bilm", tmp_path_factory.mktemp("bilm")).folder.folder


def open_classifier(folder: Path, contexts: Path, out: str = "run") -> Run:
    data = {"train": str(write_labelled(folder / "texts.txt", 20)), "contexts": str(contexts)}
    table = {
        "family": "rnn",
        "data": data | {"hold_out": 0.25, "tokeniser": {"kind": "words"}},
        "model": {"inputs": {"vectors": "none"}, "width": 6},
        "training": {"steps": 2, "batch": 5, "device": "cpu"},
    }
    return open_run(check_recipe(table), folder / out, False, lambda *done: None, lambda remark: None)


def test_a_classifier_takes_over_a_language_model_and_learns_how_to_mix_its_layers(bilm: Path, tmp_path: Path) -> None:
    run, source = open_classifier(tmp_path, bilm), load(bilm, device="cpu").task
    assert isinstance(run.task.model, TextClassifier)
    contexts = run.task.model.reader.inputs.contexts
    assert contexts is not None
    assert {name for name, parameter in contexts.named_parameters() if parameter.requires_grad} == {"mixture", "scale"}
    with undrawn():
        train(run, [])
    task = regard.load(run.folder.folder, device="cpu").task  # no longer needs the other folder
    word = source.tokeniser.pieces([7])[0]  # no labelled text has it
    texts = task.read([f"{word} film"]).texts
    features = task.model.reader.inputs(texts.tokens)
    with torch.no_grad():
        vectors, *layers = source.model.layers(torch.tensor([[7, source.tokeniser.unknown]]), torch.tensor([2]))
    inputs = task.model.reader.inputs.contexts
    shares = inputs.mixture.softmax(dim=0)
    assert shares.tolist() != [0.5, 0.5]
    expected = inputs.scale * sum(share * layer for share, layer in zip(shares, layers, strict=True))
    torch.testing.assert_close(features, torch.cat([expected, vectors], dim=-1))


def test_features_are_read_from_a_bidirectional_language_model_alone(bilm: Path, tmp_path: Path) -> None:
    other = open_classifier(tmp_path, bilm).folder.folder
    with pytest.raises(Fault, match="a model of the family rnn; features are read from a bilm"):
        open_classifier(tmp_path, other, "second")
    with pytest.raises(Fault, match="There is no model folder at"):
        open_classifier(tmp_path, tmp_path / "nowhere", "third")
    for family, model in (("rnn", {"inputs": {"vectors": "none"}}), ("bag", {})):
        data = {"train": "texts.txt"} | ({"contexts": "runs/bilm"} if family == "bag" else {})
        with pytest.raises(Fault, match=r"data\.contexts must name a language model|which a bag lacks"):
            check_recipe({"family": family, "data": data, "model": model})
