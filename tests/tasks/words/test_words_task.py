"""Word vectors from text to output: what they learn, what is composed, and refusals."""

import json
import math
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tomli_w
import torch

import regard
from regard.base.faults import Fault
from regard.base.progress import silent
from regard.cli import main
from regard.families import check_recipe
from regard.models.words import devices
from regard.models.words.devices import check_device
from regard.models.words.ngrams import rows_of
from regard.models.words.vocabulary import COUNTS
from regard.protocols import Lexical, Measures, Task, Updates
from regard.runs.open import Run, open_run
from regard.runs.train import train
from regard.tasks.words.task import Words
from regard.training.checkpoint import update_folder, weights_to_bytes

pytestmark = pytest.mark.usefixtures("no_curves")
CHILDREN = ("menino", "moleque", "piá", "filho")
VERBS = ("jogar", "brincar", "correr")


def sentences() -> list[str]:
    """Return sentences like Deixa o menino jogar: one of four words in one place, one of three in the other."""
    chance = random.Random(1)
    return [f"deixa o {chance.choice(CHILDREN)} {chance.choice(VERBS)} agora" for _ in range(100)]


def run_of(folder: Path, lines: list[str], family: str = "word2vec", **changes: Any) -> Run:
    text = folder / "text.txt"
    text.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    table: dict[str, Any] = {
        "family": family,
        "data": {"train": str(text)},
        "model": {"width": 8, "window": 2},
        "training": {"epochs": 6, "learning_rate": 0.1, "batch_words": 300},
    }
    for name, value in changes.items():
        table[name] |= value
    return open_run(check_recipe(table), folder / "run", False, silent, lambda remark: None)


def neighbours(task: Words, word: str, count: int) -> set[str]:
    vectors = task.word_vectors()
    order = np.argsort(-vectors.cosines(vectors[word][None])[0])
    return {vectors.words[number] for number in order[1 : count + 1]}


@pytest.mark.parametrize("model", [{"negatives": 2}, {"method": "cbow", "loss": "hierarchical"}])
def test_words_that_fill_one_place_are_each_others_neighbours(model: dict, tmp_path: Path) -> None:
    run = run_of(tmp_path, sentences(), model={"subsampling": 0} | model, training={"epochs": 4, "learning_rate": 0.2})
    assert train(run, []).finished
    for place in (CHILDREN, VERBS):
        for word in place:
            assert neighbours(run.task, word, len(place) - 1) == {*place} - {word}


def test_glove_learns_the_logarithms_of_counts(tmp_path: Path) -> None:
    """deixa comes right before o in each of 100 sentences: their vectors and biases reach log 100."""
    run = run_of(tmp_path, sentences(), "glove", training={"epochs": 25, "learning_rate": 0.4})
    train(run, [])
    tables, numbers = run.task.weights(), run.task.word_vectors().numbers
    first, second = numbers["deixa"], numbers["o"]
    guess = tables["centres"][first] @ tables["contexts"][second]
    guess += tables["centre_biases"][first] + tables["context_biases"][second]
    assert float(guess) == pytest.approx(math.log(100), abs=0.1)


def test_an_unknown_word_is_composed_of_its_letters(tmp_path: Path) -> None:
    run = run_of(tmp_path, sentences(), "fasttext", model={"buckets": 500}, training={"epochs": 1})
    train(run, [])
    task = regard.load(tmp_path / "run").task
    assert all(isinstance(task, capability) for capability in (Task, Updates, Measures, Lexical))
    assert "meninos" not in task.word_vectors()
    composed = task.vector_of("meninos")
    rows = rows_of("meninos", 10, 3, 6, 500)
    assert composed == pytest.approx(task.model.centres[rows].mean(0).numpy())
    assert np.array_equal(task.vector_of("menino"), task.word_vectors()["menino"])
    assert task.vector_of("") is None
    assert task.vector_of("meninos", "contexts") is None


def test_vectors_of_contexts_and_their_mean(tmp_path: Path) -> None:
    run = run_of(tmp_path, sentences(), training={"epochs": 1})
    train(run, [])
    centres, contexts = (run.task.word_vectors(which).matrix for which in ("centres", "contexts"))
    assert not np.allclose(centres, contexts)
    assert np.allclose(run.task.word_vectors("mean").matrix, (centres + contexts) / 2)
    assert run.task.vector_of("xyz") is None
    counts = json.loads((tmp_path / "run" / COUNTS).read_text())["counts"]
    assert counts[:3] == [100, 100, 100]
    assert sum(counts) == 5 * 100


def test_a_tree_has_no_vectors_of_contexts(tmp_path: Path) -> None:
    task = run_of(tmp_path, sentences(), model={"loss": "hierarchical"}).task
    with pytest.raises(Fault, match="words have no context vectors: U belongs to the branches of the tree"):
        task.word_vectors("contexts")


def test_vectors_that_came_from_a_file_are_of_centres_alone(tmp_path: Path) -> None:
    train(run_of(tmp_path, sentences(), training={"epochs": 1}), [])
    folder = tmp_path / "run"
    vectors = regard.load(folder).task.word_vectors().matrix
    update_folder(folder, {"weights.safetensors": weights_to_bytes({"centres": torch.from_numpy(vectors)})})
    loaded = regard.load(folder).task
    assert np.array_equal(loaded.word_vectors().matrix, vectors)
    with pytest.raises(Fault, match="has vectors of centres only"):
        loaded.word_vectors("mean")
    update_folder(folder, {"weights.safetensors": weights_to_bytes({"centres": torch.zeros(2, 8)})})
    with pytest.raises(Fault, match=r"'centres' should have shape \(10, 8\)"):
        regard.load(folder)


def test_validation_text_of_unknown_words_has_no_loss(tmp_path: Path) -> None:
    (tmp_path / "valid.txt").write_text("uma frase de outras palavras\n", encoding="utf-8")
    run = run_of(tmp_path, sentences(), data={"valid": str(tmp_path / "valid.txt")}, training={"epochs": 1})
    assert train(run, []).validations == []
    assert json.loads((tmp_path / "run" / "scores.json").read_text())["scores"] == []


def test_where_it_cannot_learn_is_said_first(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu, cpu = torch.device("cuda"), torch.device("cpu")
    with pytest.raises(Fault, match=r"model.loss = 'softmax' is computed on a CPU only. Set training.device = 'cpu'"):
        check_device(gpu, "softmax")
    monkeypatch.setattr(devices, "obstacle", lambda: "Triton is not installed")
    with pytest.raises(Fault, match="learn on a GPU by kernels, but Triton is not installed"):
        check_device(gpu, "negative")
    check_device(cpu, "softmax")
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(Fault, match=r"word vectors on a CPU needs numba, .*: pip install 'regard\[words\]'\."):
        check_device(cpu, "negative")


def test_two_threads_learn_as_much_as_one(tmp_path: Path) -> None:
    """The bits differ, but every word is learnt from, and the loss falls."""
    run = run_of(tmp_path, sentences(), model={"subsampling": 0}, training={"threads": 2, "epochs": 2})
    facts = train(run, [])
    assert facts.losses[-1][1] < facts.losses[0][1]


@pytest.mark.parametrize(
    ("lines", "changes", "sentence"),
    [
        ([], {}, "There is no text to train the tokeniser on"),
        (["", " "], {}, "There is no text to train the tokeniser on"),
        (["uma uma", "uma"], {}, "The vocabulary has one word, 'uma'"),
        (["a b", "a c"], {"data": {"tokeniser": {"at_least": 3}}}, "The vocabulary has no word"),
        (["um dois " * 500], {"data": {"longest": 100}}, "line 1 has 1,000 tokens, more than data.longest"),
        (sentences(), {"model": {"negatives": 3, "loss": "softmax"}}, "negatives is for loss = 'negative'"),
        (sentences(), {"training": {"steps": 5}}, "training.steps belongs to models that learn by gradient"),
        (sentences(), {"training": {"lowest_rate": 0.2}}, "lowest_rate is 0.2, above the learning_rate of 0.1"),
        (sentences(), {"data": {"tokeniser": {"kind": "bytes"}}}, "vectors are for words"),
    ],
    ids=["empty", "blank", "one word", "no word", "a long line", "negatives", "steps", "rates", "bytes"],
)
def test_what_cannot_be_learnt_from_is_said_in_a_sentence(
    lines: list[str], changes: dict, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "text.txt"
    text.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    recipe = {"family": "word2vec", "data": {"train": str(text)}, "model": {}, "training": {"learning_rate": 0.1}}
    for name, value in changes.items():
        recipe[name] |= value
    (tmp_path / "recipe.toml").write_bytes(tomli_w.dumps(recipe).encode())
    assert main(["train", str(tmp_path / "recipe.toml"), "--out", str(tmp_path / "run")]) == 2
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "run" / "weights.safetensors").exists()
