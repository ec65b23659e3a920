"""Captions from files to sentences: what is read, refused, written and measured."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from caption_files import SHAPES, captioned, write_captions
from small import undrawn
from toys import TOYS, open_trained_toy

import regard
from regard.base.faults import Fault
from regard.base.progress import silent
from regard.base.recipe import check
from regard.cli import main
from regard.commands.train import say_result
from regard.console.inputs import example_command
from regard.data.captions.files import plain_words, read_array, read_captions
from regard.data.captions.options import CaptionData
from regard.data.captions.prepare import prepare_captions
from regard.data.tokenisers.symbols import BEGIN, NAMES, PAD, UNKNOWN
from regard.families import check_recipe
from regard.runs.open import open_run
from regard.runs.train import train
from regard.verbs.caption import run as captioning
from regard.verbs.caption.run import rewrite


def prepared(folder: Path, **changes: Any) -> Any:
    return prepare_captions(check(CaptionData, write_captions(folder) | changes), folder / "ready", silent)


def test_captions_are_plain_words() -> None:
    assert plain_words('A "T-shirt" , isn\'t it ?  Two  dogs .') == "a t-shirt isn't it two dogs"


def test_lines_of_captions(tmp_path: Path) -> None:
    file = tmp_path / "c.txt"
    file.write_text("a.jpg#0\tA dog .\na.jpg#1  Two spaces .\nb c.jpg\tA cat\na.jpg#2\t.\n", encoding="utf-8")
    assert read_captions(str(file)) == {"a.jpg": ["a dog", "two spaces"], "b c.jpg": ["a cat"]}
    file.write_text("a.jpg A dog\n", encoding="utf-8")
    with pytest.raises(Fault, match="line 1: a line must hold a picture's name, a tab, a caption"):
        read_captions(str(file))


def test_prepared_features_are_those_of_the_pictures_in_their_order(tmp_path: Path) -> None:
    ready = prepared(tmp_path)
    assert ready.features.dtype == np.int8
    assert ready.features.shape == (15, 4, 5)
    np.testing.assert_array_equal(ready.features[ready.first_of("valid")], captioned(10)[0])
    assert ready.format.step == 0.25
    assert "circle" in ready.tokeniser.pieces(range(ready.tokeniser.size))


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("valid.txt", "train-1.jpg\n", "train-1.jpg is in both train and valid"),
        ("valid.txt", "nobody.jpg\n", "has no caption for nobody.jpg, which"),
        (
            "captions.txt",
            "train-0.jpg\t😀 !\ntest-0.jpg\ta dog\n",
            "has no caption with a word in it for train-0.jpg, which",
        ),
        ("captions.txt", "train-0.jpg\t😀 !\n", "captions.txt holds no caption"),
        ("valid.txt", "valid-0.jpg\nvalid-0.jpg\n", "names valid-0.jpg twice"),
        ("names.txt", "train-1.jpg\n", "has the features of 15 pictures, but .*names.txt names 1"),
        ("features.npy", "no array", "is not an array in numpy's format"),
        ("features.npy", "PK\x03\x04 of a zip", "is not an array in numpy's format"),
        ("components.npz", "PK\x03\x04 of a zip", "is not an .npz file with a 'step' in it"),
    ],
)
def test_data_that_does_not_fit_together_is_refused(tmp_path: Path, file: str, content: str, words: str) -> None:
    options = check(CaptionData, write_captions(tmp_path))
    (tmp_path / file).write_text(content, encoding="utf-8")
    with pytest.raises(Fault, match=words):
        prepare_captions(options, tmp_path / "ready", silent)


def test_arrays_of_any_width_are_read_and_damaged_ones_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "it.npy"
    np.save(path, np.array([[0.5, 1e300]]))
    assert read_array(path, "it.npy").tolist() == [[0.5, np.inf]]
    whole = path.read_bytes()
    for content in (
        whole[:-1],
        whole[:10] + b"\xff" * 50 + whole[60:],
        whole[:10] + whole[10:].replace(b"shape", b"shap_"),
    ):
        path.write_bytes(content)
        with pytest.raises(Fault, match=r"it\.npy is a damaged array: "):
            read_array(path, "it.npy")


def test_features_that_are_no_numbers_are_refused_by_the_name_of_their_picture(tmp_path: Path) -> None:
    options = check(CaptionData, write_captions(tmp_path))
    features = np.load(tmp_path / "features.npy").astype(np.float64)
    features[0, 1, 2] = np.nan
    np.save(tmp_path / "features.npy", features)
    with pytest.raises(Fault, match=r"a value that is not a finite number, for the picture train-1\.jpg"):
        prepare_captions(options, tmp_path / "ready", silent)


def test_words_are_counted_and_captions_without_one_that_is_frequent_enough_are_refused(tmp_path: Path) -> None:
    ready = prepared(tmp_path)
    assert ready.report[0].endswith(f", {len(ready.tokeniser.pieces(range(4, ready.tokeniser.size)))} words")
    options = check(CaptionData, write_captions(tmp_path) | {"at_least": 1000})
    with pytest.raises(Fault, match=r"No word occurs 1000 times in the training captions; lower data\.at_least"):
        prepare_captions(options, tmp_path / "other", silent)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an almost untrained captioner."""
    place = tmp_path_factory.mktemp("captions")
    open_trained_toy("captioner", place)
    return place


def test_a_picture_is_captioned_by_its_name_its_features_or_a_file_of_them(folder: Path, tmp_path: Path) -> None:
    model = regard.load(folder / "run", device="cpu")
    features = captioned(10)[0]
    np.save(tmp_path / "own.npy", features.reshape(2, 2, 5) * np.float32(0.25))
    by_name, by_array, by_file = model.caption(["valid-0.jpg", features, tmp_path / "own.npy"])
    assert by_name.text == by_array.text == by_file.text
    assert by_name.attention is not None
    assert by_name.attention.shape == (len(by_name.words), 2, 2)
    np.testing.assert_allclose(by_name.attention.sum(axis=(1, 2)), 1.0, atol=1e-5)


def test_captions_are_written_again_only_to_say_where_their_words_looked(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    passes: list[int] = []

    def count(task: Any, batch: Any, written: Any) -> None:
        passes.append(batch.rows)
        rewrite(task, batch, written)

    monkeypatch.setattr(captioning, "rewrite", count)
    model = regard.load(folder / "run", device="cpu")
    (plain,), (whole,) = model.caption(["valid-0.jpg"], attention=False), model.caption(["valid-0.jpg"])
    assert (plain.text, plain.score, plain.words) == (whole.text, whole.score, whole.words)
    assert plain.attention is None
    assert whole.attention is not None
    assert passes == [1]
    with regard.watching(model) as gazes:
        model.caption(["valid-0.jpg"], attention=False)
    assert gazes
    assert passes == [1, 1]
    assert main(["caption", str(folder / "run"), "valid-0.jpg", "valid-1.jpg"]) == 0
    assert passes == [1, 1]
    assert main(["caption", str(folder / "run"), "valid-0.jpg", "valid-1.jpg", "--json"]) == 0
    assert passes == [1, 1, 2]
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["attention"]


def test_a_beam_finds_nothing_less_probable_and_scores_what_the_network_gives(folder: Path) -> None:
    model = regard.load(folder / "run", device="cpu")
    (greedy,) = model.caption(["valid-0.jpg"], beam=1, length_penalty=0.0)
    (best,) = model.caption(["valid-0.jpg"], beam=8, length_penalty=0.0)
    assert best.score >= greedy.score - 1e-6
    tokens = model.task.tokeniser.encode(greedy.text)
    with torch.no_grad():
        scores = model.task.token_scores(model.task.read(["valid-0.jpg"]).writing([tokens]))
    assert float(scores.sum()) == pytest.approx(greedy.score, abs=1e-4)


@pytest.mark.parametrize("options", [{"beam": 1}, {"beam": 3}, {"sample": {"seed": 1}}], ids=str)
def test_no_caption_has_a_token_that_says_nothing(
    folder: Path, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = regard.load(folder / "run", device="cpu")
    favoured, logits = torch.zeros(model.task.tokeniser.size), model.task.model.logits
    favoured[[PAD, UNKNOWN, BEGIN]] = 50.0
    monkeypatch.setattr(model.task.model, "logits", lambda states: logits(states) + favoured)
    for caption in model.caption(["valid-0.jpg", "valid-1.jpg"], **options):
        assert not {NAMES[token] for token in (PAD, UNKNOWN, BEGIN)} & set(caption.words)


def test_captions_are_drawn_by_a_seed_and_greedily_at_temperature_zero(folder: Path) -> None:
    model = regard.load(folder / "run", device="cpu")
    pictures = ["valid-0.jpg", "valid-1.jpg"]
    texts = [[caption.text for caption in model.caption(pictures, sample={"seed": seed})] for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]
    greedy, cold = model.caption(pictures, beam=1), model.caption(pictures, sample={"temperature": 0.0})
    assert [caption.text for caption in cold] == [caption.text for caption in greedy]
    with pytest.raises(Fault, match="are for a search"):
        model.caption(pictures, beam=2, sample={})


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("nobody.jpg", "There is no file nobody.jpg, and no picture of that name"),
        (np.zeros((3, 5), np.int8), "The array holds 3 × 5 numbers; this model reads features of 2 × 2 places, 5 num"),
        (np.full((4, 5), np.nan, np.float32), "not a finite number"),
    ],
)
def test_features_of_another_model_are_refused(folder: Path, given: Any, words: str) -> None:
    with pytest.raises(Fault, match=words):
        regard.load(folder / "run", device="cpu").caption([given])


def test_the_command_writes_a_line_or_an_object_for_each_picture(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["caption", str(folder / "run"), "valid-0.jpg", "valid-1.jpg"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert main(["caption", str(folder / "run"), "valid-0.jpg", "--beam", "2", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [*report] == ["file", "text", "score", "attention"]
    assert [len(step["weights"]) for step in report["attention"]] == [2] * len(report["attention"])
    assert all(weight == round(weight, 4) for step in report["attention"] for row in step["weights"] for weight in row)


def test_a_model_is_scored_by_its_captions_beside_all_that_people_wrote(folder: Path) -> None:
    scores_found = regard.evaluate(folder / "run", split="valid", metrics=["loss", "bleu1", "cider"])
    scores = {score.metric: score for score in scores_found}
    assert [*scores] == ["loss", "bleu1", "cider"]
    assert scores["bleu1"].n == 3
    assert "nrefs:2" in scores["bleu1"].signature
    assert scores["cider"].signature.endswith("text:plain words|beam:4|lp:0.6")
    model = regard.load(folder / "run", device="cpu")
    (greedy,) = regard.evaluate(model, split="valid", metrics=["cider"], beam=1)
    assert greedy.signature.endswith("text:plain words|beam:1|lp:0.6")
    assert model.recipe.decoding.beam == 4


def test_who_has_trained_on_features_is_told_of_features(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = folder / "run"
    say_result(run)
    assert f"try: regard caption {run} features.npy" in capsys.readouterr().err
    assert main(["look", str(run)]) == 2
    assert "A captioner reads a .npy file of features; give one to look at" in capsys.readouterr().err
    recipe = regard.load(run).recipe
    features = recipe.data.features.model_copy(update={"extractor": "efficientnet-lite2"})
    read = recipe.model_copy(update={"data": recipe.data.model_copy(update={"features": features})})
    assert example_command(read, Path("run")) == "regard caption run picture.png"


def test_what_it_is_built_of_is_told_without_options_that_do_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["info", str(folder / "run")]) == 0
    lines = capsys.readouterr().out
    assert "\nfeatures       2 × 2 places, 5 numbers each, components " in lines
    built = " ".join(lines.partition("built")[2].partition("cost")[0].split())
    assert {"attention soft", "evenness 0.5"} <= {*built.split(", ")}
    for name in (
        "encoder.kernel",
        "samples",
        "baseline",
        "reward",
        "entropy",
        "discount",
        "expected",
        "outside_training",
    ):
        assert f"{name} " not in built


def test_what_it_looked_at_is_drawn_over_the_grid(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "look.json"
    assert main(["look", str(folder / "run"), "valid-0.jpg", "-o", str(out)]) == 0
    assert json.loads(out.read_text())["grid"] == [2, 2]


@pytest.mark.long
def test_an_animation_of_what_does_not_move_is_refused_before_anything_is_said(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "look.gif"
    assert main(["look", str(folder / "run"), "valid-0.jpg", "-o", str(out)]) == 2
    captured = capsys.readouterr()
    assert (captured.out, len(captured.err.splitlines())) == ("", 1)
    assert f"{out} would be an animation" in captured.err
    assert not out.exists()


@pytest.mark.long
def test_captions_of_shapes_are_learnt_and_each_word_looks_where_the_shape_is(tmp_path: Path) -> None:
    table = TOYS["captioner"].table(tmp_path)
    training = table["training"] | {"steps": 100, "batch": 20, "validate_every": 100, "save_every": 100}
    optimizer = {"learning_rate": 0.03, "warmup": 5, "schedule": "cosine"}
    model = {"embedding": 8, "width": 24, "compared": 12, "dropout": 0.0}
    recipe = {
        "family": "captioner",
        "data": table["data"],
        "model": model,
        "training": training | {"optimizer": optimizer},
    }
    with undrawn():
        train(open_run(check_recipe(recipe), tmp_path / "run", True, silent, lambda remark: None), [])
    captions = regard.load(tmp_path / "run", device="cpu").caption(["valid-0.jpg", "valid-1.jpg", "valid-2.jpg"])
    assert [caption.text.split()[-1] for caption in captions] == ["square", "cross", "circle"]
    for number, caption in enumerate(captions, start=10):
        assert caption.attention is not None
        (look,) = (look for word, look in zip(caption.words, caption.attention, strict=True) if word in SHAPES)
        assert look.flatten()[number % 4] > 0.5
