"""Exported graphs of language models, classifiers, taggers and BERTs: the numbers of PyTorch, for every build."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from exported_texts import ExportedReader, ExportedWriter, Session
from toys import open_toy, open_trained_toy

from regard.attention.watch import watching
from regard.base.faults import Fault
from regard.cli import main
from regard.engines.onnx.export import export_onnx, watched_graphs
from regard.loading import Loaded
from regard.training.snapshot import named_weights

CLASSIFIED = ["the film is good", "dull", "a very very lovely film , rather good"]
TAGGED = ["the bilo meta .", "the mifuno", "Rio 12 de-x ."]
MASKED = ["a [MASK] c", "[MASK] [MASK]", "b a"]
CLASSIFIERS: list[tuple[str, dict[str, Any]]] = [
    ("encoder", {}),
    ("encoder", {"pooling": "attention", "score": "bilinear"}),
    ("encoder", {"pooling": "mean", "norm": "after", "positions": "learned", "longest": 30}),
    ("encoder", {"pooling": "max", "positions": "rotary", "longest": 30}),
    ("encoder", {"pooling": "first", "positions": "alibi", "longest": 30}),
    ("classes bert", {"longest": 20}),
    ("classes bert", {"longest": 20, "pooler": True, "activation": "swish"}),
    ("classes bert", {"longest": 20, "pooling": "mean", "layers": 2}),
    ("classes bert", {"longest": 20, "pooling": "max", "activation": "relu"}),
]
TAGGERS: list[tuple[str, dict[str, Any]]] = [
    ("tagging encoder", {"previous_label": False}),
    ("tagging encoder", {"previous_label": False, "output": "crf", "shape_width": 0}),
    ("tagging encoder", {"previous_label": False, "letters": {"reader": "none"}}),
    ("tagging encoder", {"previous_label": False, "letters": {"reader": "none"}, "shape_width": 0, "layers": 1}),
    ("tagging bert", {}),
    ("tagging bert", {"letters": {"reader": "none"}, "shape_width": 0}),
]
WRITERS: list[dict[str, Any]] = [
    {},
    {"layers": 2, "norm": "after", "activation": "gelu", "tied": False},
    {"positions": "sinusoidal", "activation": "relu"},
    {"positions": "rotary", "key_value_heads": 1, "activation": "swish"},
    {"positions": "alibi"},
    {"positions": "none"},
]

_WATCHED = [("encoder", CLASSIFIED[0]), ("bert", MASKED[0]), ("tagging bert", TAGGED[0])]


def untrained(name: str, folder: Path, **options: Any) -> Loaded:
    """Return a toy with random weights that are large enough to matter."""
    run = open_toy(name, folder, **options)
    torch.manual_seed(5)
    with torch.no_grad():
        for tensor in named_weights(run.task).values():
            tensor.add_(torch.randn_like(tensor) * 0.2)
    return Loaded(run.task, run.recipe)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("name", "options"), CLASSIFIERS, ids=str)
def test_a_classifier_gives_the_probabilities_of_torch(name: str, options: dict[str, Any], tmp_path: Path) -> None:
    model = untrained(name, tmp_path, **options)
    export_onnx(model, tmp_path / "onnx")
    found = ExportedReader(model, tmp_path / "onnx")(CLASSIFIED)["log_probabilities"]
    with torch.no_grad():
        expected = model.task.model.answer(model.task.read(CLASSIFIED).texts)
    np.testing.assert_allclose(found, expected.numpy(), rtol=1e-4, atol=1e-5)
    about = json.loads((tmp_path / "onnx" / "about.json").read_text())
    assert (about["kind"], about["classes"]) == ("classification", ["neg", "pos"])


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("name", "options"), TAGGERS, ids=str)
def test_a_tagger_gives_the_scores_of_torch(name: str, options: dict[str, Any], tmp_path: Path) -> None:
    model = untrained(name, tmp_path, **options)
    export_onnx(model, tmp_path / "onnx")
    found = ExportedReader(model, tmp_path / "onnx")(TAGGED)["scores"]
    batch = model.task.read(TAGGED)
    with torch.no_grad():
        expected = model.task.model.scores(model.task.model.states(batch.inputs))
    for row, length in enumerate(batch.inputs.lengths.tolist()):
        np.testing.assert_allclose(found[row, :length], expected[row, :length].numpy(), rtol=1e-4, atol=1e-5)


def test_a_bert_fills_masks_as_torch_does(tmp_path: Path) -> None:
    model = untrained("bert", tmp_path, layers=2)
    export_onnx(model, tmp_path / "onnx")
    found = ExportedReader(model, tmp_path / "onnx")(MASKED)["log_probabilities"]
    batch = model.task.read(MASKED)
    with torch.no_grad():
        expected = model.task._logits(batch).log_softmax(-1)
    np.testing.assert_allclose(found, expected.numpy(), rtol=1e-4, atol=1e-5)
    assert json.loads((tmp_path / "onnx" / "about.json").read_text())["mask"] == model.task.tokeniser.mask


@pytest.mark.one_in(3)
@pytest.mark.parametrize("options", WRITERS, ids=str)
def test_a_language_model_reads_as_torch_does_at_once_and_token_by_token(
    options: dict[str, Any], tmp_path: Path
) -> None:
    model = untrained("gpt", tmp_path, **options)
    export_onnx(model, tmp_path / "onnx")
    writer, task = ExportedWriter(model, tmp_path / "onnx"), model.task
    tokens = [task.end, *task.read(["b a c a b a"]).tokens[0]]
    with torch.no_grad():
        states = task.model.read(torch.tensor([tokens]), task.model.begin(1)).states
        expected = task.model.logits(states).log_softmax(-1)[0].numpy()
    at_once, _ = writer.read(tokens, {})
    np.testing.assert_allclose(at_once["log_probabilities"][0], expected, rtol=1e-4, atol=1e-5)
    past: dict[str, Any] = {}
    for place, token in enumerate(tokens):
        outputs, past = writer.read([token], past)
        np.testing.assert_allclose(outputs["log_probabilities"][0, 0], expected[place], rtol=1e-4, atol=1e-5)
    assert np.isneginf(expected[:, list(task.model.never)]).all()


@pytest.mark.parametrize(
    ("name", "text"), [("encoder", CLASSIFIED[0]), ("bert", MASKED[0]), ("tagging bert", TAGGED[0])]
)
def test_a_watched_reader_gives_the_attention_of_every_head(name: str, text: str, tmp_path: Path) -> None:
    model = untrained(name, tmp_path)
    for file, content in watched_graphs(model).items():
        (tmp_path / file).write_bytes(content)
    found = ExportedReader(model, tmp_path)([text])
    with watching(model.task) as watched:
        model.task.answers(model.task.read([text]))
    looks = {key: value for key, value in found.items() if key.startswith(("looks.", "pooling"))}
    assert len(looks) == len(watched)
    for weights, look in zip(looks.values(), watched, strict=True):
        np.testing.assert_allclose(weights.reshape(look.weights.shape), look.weights.detach(), atol=0.03)  # int8
        np.testing.assert_allclose(weights.sum(-1), 1.0, rtol=1e-5)


def test_a_watched_writer_looks_back_only(tmp_path: Path) -> None:
    model = untrained("gpt", tmp_path, layers=2)
    for file, content in watched_graphs(model).items():
        (tmp_path / file).write_bytes(content)
    outputs, _ = ExportedWriter(model, tmp_path).read([3, 5, 6, 7], {})
    for number in range(2):
        weights = outputs[f"looks.{number}"][0]
        assert weights.shape == (2, 4, 4)
        np.testing.assert_array_equal(np.triu(weights, 1), 0)
        np.testing.assert_allclose(weights.sum(-1), 1.0, rtol=1e-5)


def test_int8_is_close_and_smaller(tmp_path: Path) -> None:
    model = untrained("gpt", tmp_path, width=64, layers=2)
    sizes, found = [], []
    for kind in ("float32", "int8"):
        export_onnx(model, tmp_path / kind, kind)
        outputs, _ = ExportedWriter(model, tmp_path / kind).read([3, 5, 6], {})
        sizes.append((tmp_path / kind / "weights.data").stat().st_size)
        found.append(outputs["log_probabilities"][0, :, model.task.end])
    assert sizes[1] < sizes[0] / 1.5
    np.testing.assert_allclose(found[0], found[1], atol=0.5)
    assert (found[0] != found[1]).any()


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("tagging encoder", {"previous_label": True}, "previous_label = true"),
        ("tagging encoder", {"previous_label": False, "letters": {"reader": "lstm"}}, "letters.reader = 'lstm'"),
        ("rnn", {}, "Only a Transformer, gpt, encoder or bert has ONNX graphs; this model is of the family rnn"),
        ("rnnlm", {}, "of the family rnnlm"),
        ("from-gates", {}, "of the family from-gates"),
    ],
)
def test_what_has_no_graph_is_refused(name: str, options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(Fault, match=message):
        export_onnx(untrained(name, tmp_path, **options), tmp_path / "onnx")
    assert not (tmp_path / "onnx").exists()


def test_the_command_writes_and_replaces_an_export(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = open_trained_toy("tagging bert", tmp_path).folder.folder
    for _ in range(2):
        assert main(["export", str(folder), "--to", "onnx", "--quantisation", "int8", "--overwrite"]) == 0
    names = {path.name for path in (folder / "onnx").iterdir()}
    assert names == {"about.json", "export.json", "lexicon.json", "reader.onnx", "tokeniser.json", "weights.data"}
    assert "tokens" in Session(folder / "onnx" / "reader.onnx").inputs
    assert main(["export", str(folder), "--to", "onnx", "--shortlist", "--overwrite"]) == 2
    assert "tag for each word; use `regard answer`" in capsys.readouterr().err
