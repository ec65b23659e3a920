"""The gates of classifiers and language models, and the answer after each word."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from toys import open_toy

from regard.base.faults import Fault
from regard.cli import main
from regard.model import Model, make_model
from regard.runs.train import train
from regard.seeing.lessons.gates import gates_of
from regard.seeing.lessons.reading import read
from regard.viewing.gates import draw_gates, gates_to_json


def untrained_toy(family: str, folder: Path, **model: object) -> Model:
    folder.mkdir(exist_ok=True)
    run = open_toy(family, folder, **model)
    return make_model(run.task, run.recipe)


@pytest.mark.parametrize("pooling", ["last", "attention"])
def test_after_each_word_stands_the_answer_to_the_words_so_far(tmp_path: Path, pooling: str) -> None:
    model = untrained_toy("rnn", tmp_path, pooling=pooling)
    words = ["good", "or", "bad", "."]
    gates = gates_of(model, " ".join(words))
    assert gates.words == words
    for count in range(1, len(words) + 1):
        (answer,) = model.answer([" ".join(words[:count])])
        for name, probability in answer.probabilities.items():
            assert gates.answers[name][count - 1] == pytest.approx(probability, abs=1e-6)


def test_the_gates_are_those_of_the_text_itself_not_of_its_beginnings(tmp_path: Path) -> None:
    model = untrained_toy("rnn", tmp_path, bidirectional=False)
    (layer,) = read(model, "good or bad", "needed").layers
    assert layer.inputs.shape[:2] == (1, 3)
    states, _ = layer.module(layer.inputs)
    assert gates_of(model, "good or bad").traces["cell"].shape == (3, states.shape[-1])


def test_answers_are_drawn_and_written(tmp_path: Path) -> None:
    gates = gates_of(untrained_toy("rnn", tmp_path), "good or bad")
    path = tmp_path / "gates.svg"
    assert draw_gates(gates, path) == set()
    assert "answer so far" in path.read_text(encoding="utf-8")
    assert gates_to_json(gates)["answers"].keys() == gates.answers.keys()


def test_a_language_model_has_read_the_end_of_another_sentence_before_each(tmp_path: Path) -> None:
    model = untrained_toy("rnnlm", tmp_path)
    gates = gates_of(model, "Ana.\nAna.", layer=2)
    assert gates.words == ["</s>", "Ana", ".", "</s>", "Ana", "."]
    assert not gates.answers
    first, second = gates.traces["output"][1], gates.traces["output"][4]
    assert not np.allclose(first, second)  # by then it remembers a sentence
    reading = read(model, "Ana.", "needed")
    states, _ = reading.layers[0].module(reading.layers[0].inputs)
    torch.testing.assert_close(states, reading.layers[1].inputs, rtol=1e-4, atol=1e-6)


def test_models_without_recurrent_layers_are_refused(tmp_path: Path) -> None:
    for family in ("bag", "ngram"):
        with pytest.raises(Fault, match=f"This {family} has no recurrent layers; `regard show gates` needs recurrent"):
            gates_of(untrained_toy(family, tmp_path / family), "good or bad")


def test_look_shows_the_gates_where_there_is_no_attention(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], no_curves: None
) -> None:
    run = open_toy("rnn", tmp_path, pooling="last")
    train(run, [])
    folder, out = str(run.folder.folder), tmp_path / "gates.json"
    assert main(["look", folder, "good or bad"]) == 0
    title, heads = capsys.readouterr().out.splitlines()[:2]
    assert title.startswith("The gates of an LSTM")
    assert heads.split()[:4] == ["word", "forget", "input", "output"]
    assert main(["look", folder, "good or bad", "-o", str(out)]) == 0
    assert json.loads(out.read_text(encoding="utf-8"))["words"] == ["good", "or", "bad"]
    assert main(["look", folder, "good or bad", "-o", str(tmp_path / "gates.html")]) == 2
    assert "there is no page for its gates; name a .png, .svg or .json file." in capsys.readouterr().err
