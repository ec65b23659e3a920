"""Exports that answer: the answers of torch, their refusals, and no torch."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from small import undrawn
from toys import open_toy, open_trained_toy

import regard
from regard.base.faults import Fault, TextFault
from regard.cli import main
from regard.engines.exported import origins
from regard.engines.onnx.export import export_onnx
from regard.engines.onnx.reading import OnnxReader, load_reader
from regard.engines.tag_chain import TagChain
from regard.models.tagging.crf import Chain
from regard.runs.train import train
from regard.training.checkpoint import read_folder
from regard.training.snapshot import named_weights

CLASSIFIED = ["the film is good", "dull", "a very very lovely film , rather good"]
TAGGED: list[Any] = ["the bilo meta .", "", "the mifuno", "Rio 12 de-x .", ["the", "bilo"]]
MASKED = ["a [MASK] c", "[MASK] [MASK]", "[MASK] b a"]
READERS: list[tuple[str, dict[str, Any], list[Any]]] = [
    ("encoder", {}, CLASSIFIED),
    ("encoder", {"pooling": "first", "positions": "learned", "longest": 30}, CLASSIFIED),
    ("classes bert", {"longest": 20}, CLASSIFIED),
    ("classes bert", {"longest": 6, "too_long": "ends"}, CLASSIFIED),
    ("tagging encoder", {"previous_label": False}, TAGGED),
    ("tagging encoder", {"previous_label": False, "output": "crf", "letters": {"reader": "none"}}, TAGGED),
    ("tagging bert", {}, TAGGED),
    ("bert", {}, MASKED),
]


def exported(name: str, folder: Path, quantisation: str = "float32", **options: Any) -> regard.Model:
    """Return a toy, trained from large weights, loaded from a folder that also has its export."""
    folder.mkdir(exist_ok=True)
    run = open_toy(name, folder, **options)
    torch.manual_seed(5)
    with torch.no_grad():
        for tensor in named_weights(run.task).values():
            tensor.add_(torch.randn_like(tensor) * 0.2)
    with undrawn():
        train(run, [])
    place = run.folder.folder
    model = regard.load(place, "cpu")
    export_onnx(model, place / "onnx", quantisation, origins(read_folder(place)))  # type: ignore[arg-type]
    return model


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("name", "options", "texts"), READERS, ids=str)
def test_answers_are_those_of_torch(name: str, options: dict[str, Any], texts: list[Any], tmp_path: Path) -> None:
    model = exported(name, tmp_path, **options)
    for found, expected in zip(model.answer(texts, engine="onnx"), model.answer(texts), strict=True):
        assert type(found) is type(expected)
        assert found.answer == expected.answer
        assert found.probability == pytest.approx(expected.probability, rel=1e-4)
        if isinstance(found.probabilities, dict):
            assert isinstance(expected.probabilities, dict)
            assert found.probabilities == pytest.approx(expected.probabilities, rel=1e-4, abs=1e-7)
        else:
            assert found.probabilities == pytest.approx(expected.probabilities, rel=1e-4)
            assert (found.words, found.spans) == (expected.words, expected.spans)  # type: ignore[union-attr]


def test_int8_answers_are_close(tmp_path: Path) -> None:
    model = exported("encoder", tmp_path, "int8")
    for found, expected in zip(model.answer(CLASSIFIED, engine="onnx"), model.answer(CLASSIFIED), strict=True):
        assert found.probability == pytest.approx(expected.probability, abs=0.05)
        assert found.probability != expected.probability


def test_a_chain_without_torch_gives_the_numbers_of_the_network() -> None:
    torch.manual_seed(1)
    chain = Chain(4)
    with torch.no_grad():
        for parameter in chain.parameters():
            parameter.normal_()
    emissions = torch.randn(1, 6, 4)
    ours = TagChain(*(getattr(chain, name).detach().numpy() for name in TagChain._fields))
    tags, lengths = chain.best(emissions, torch.tensor([6])), torch.tensor([6])
    assert ours.best(emissions[0].numpy()) == tags[0].tolist()
    each, together = ours.probabilities(emissions[0].numpy(), tags[0].tolist())
    np.testing.assert_allclose(
        each, chain.marginals(emissions, lengths).gather(2, tags[..., None]).flatten(), rtol=1e-5
    )
    assert together == pytest.approx(float(chain.log_probability(emissions, lengths, tags).detach().exp()), rel=1e-5)


def test_bad_inputs_are_refused_with_the_sentences_of_torch(tmp_path: Path) -> None:
    model = exported("classes bert", tmp_path / "class", longest=20, too_long="refuse")
    masked = exported("bert", tmp_path / "mask", longest=20)
    for asked, texts in (
        (model, ["good", ""]),
        (model, ["good", "very " * 30]),
        (masked, ["[MASK]", "no mask"]),
        (masked, ["[MASK]" + " a" * 100]),
    ):
        with pytest.raises(TextFault) as by_torch:
            asked.answer(texts)
        with pytest.raises(TextFault) as by_export:
            asked.answer(texts, engine="onnx")
        assert str(by_export.value) == str(by_torch.value)


def test_what_exports_cannot_do_is_refused_or_left_to_torch(tmp_path: Path) -> None:
    model = exported("encoder", tmp_path)
    with pytest.raises(Fault, match="onnxruntime cannot do 'beam'; omit it, or set 'engine' to torch"):
        model.answer(["good"], beam=2, engine="onnx")
    with pytest.raises(Fault, match="raw is for models that tag each word"):
        model.answer(["good"], raw=True, engine="onnx")
    with regard.watching(model) as gazes:
        with pytest.raises(Fault, match="cannot be watched; use torch"):
            model.answer(["good"], engine="onnx")
        model.answer(["good"], engine="auto")
    assert gazes


def test_a_missing_or_changed_export_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("encoder", "rnn"):
        (tmp_path / name).mkdir()
    folder = open_trained_toy("encoder", tmp_path / "encoder").folder.folder
    assert main(["answer", str(folder), "--text", "good", "--engine", "onnx"]) == 2
    assert f"make one with `regard export {folder} --to onnx`" in capsys.readouterr().err
    assert main(["export", str(folder), "--to", "onnx"]) == 0
    (folder / "onnx" / "weights.data").write_bytes(b"\0" * 10)
    assert main(["answer", str(folder), "--text", "good"]) == 2
    assert "is damaged: its checksum is not the one it was written with" in capsys.readouterr().err
    other = open_trained_toy("rnn", tmp_path / "rnn").folder.folder
    assert main(["answer", str(other), "--text", "good", "--engine", "onnx"]) == 2
    assert (
        "Only a Transformer, gpt, encoder or bert has ONNX graphs; this model is of the family rnn"
        in capsys.readouterr().err
    )


def test_exports_of_other_models_leave_the_refusal_to_the_verb(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = exported("gpt", tmp_path).folder
    assert folder is not None
    assert load_reader(folder, "onnx") is None
    assert main(["answer", str(folder), "--text", "good", "--engine", "onnx"]) == 2
    assert "use `regard generate`" in capsys.readouterr().err


def test_pairs_and_aspects_are_left_to_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = exported("encoder", tmp_path).folder
    assert folder is not None
    assert isinstance(load_reader(folder), OnnxReader)
    monkeypatch.setattr("regard.data.labelled.options.LabelledData.has_pairs", True)
    assert load_reader(folder) is None
    with pytest.raises(Fault, match="classifies single texts, and this model reads pairs or aspects; use torch"):
        load_reader(folder, "onnx")


def test_the_command_answers_without_torch(tmp_path: Path) -> None:
    folder = exported("tagging bert", tmp_path).folder
    code = (
        "import sys; from regard.cli import main\n"
        f"code = main(['answer', {str(folder)!r}, '--text', 'the bilo', '--spans'])\n"
        "sys.exit('torch was loaded' if 'torch' in sys.modules else code)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "bilo" in ran.stdout
