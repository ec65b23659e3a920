"""Starting from a model: a run begins with its weights and tokenisers, and then no longer needs it."""

import shutil
from pathlib import Path

import pytest
import torch
from small import SETTINGS, write_corpus, write_recurrent_recipe

import regard
from regard.base.progress import silent
from regard.base.recipe import read_table
from regard.cli import main
from regard.data.demo.corpus import pairs
from regard.families import check_recipe
from regard.runs.from_text.defaults import TextFiles
from regard.runs.from_text.fine_tuning import recipe_from
from regard.runs.open import locked_run, open_run
from regard.runs.parents import resolve
from regard.training.checkpoint import WEIGHTS, RunFolder, bytes_to_weights, read_recipe, update_folder

pytestmark = pytest.mark.usefixtures("no_curves")

CHILD = """
start_from = "parent"
seed = 7

[data]
train = ["new.en", "new.pt"]

[model]
dropout = 0.2

[training]
steps = 8
batch_tokens = 256
validate_every = 4
save_every = 2
keep = 9
optimizer = { warmup = 2, learning_rate = 0.01, schedule = "constant" }
"""
NEW_FILES = ["train", "--source", "new.en", "--target", "new.pt", "--from", "parent", "--out", "child"]
QUICKLY = ["--set", "training.steps=2", "--set", "training.validate_every=2"]


@pytest.fixture(autouse=True)
def place(tmp_path: Path, trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a copy of a trained model, `parent`, unseen text, a recipe to learn it, and a run that has only begun."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(trained, "parent")
    _write("new", pairs("train", count=480)[400:])
    Path("child.toml").write_text(CHILD, encoding="utf-8")
    recipe = Path("parent", "recipe.toml").read_bytes()
    update_folder(Path("begun"), {"recipe.toml": recipe})


def _write(name: str, chosen: list[tuple[str, str]]) -> None:
    for side, suffix in enumerate(("en", "pt")):
        Path(f"{name}.{suffix}").write_text("".join(f"{pair[side]}\n" for pair in chosen), encoding="utf-8")


def _said(capsys: pytest.CaptureFixture[str]) -> str:
    return " ".join(capsys.readouterr().err.split())


def _weights(run: str, step: int) -> bytes:
    return (RunFolder(Path(run)).checkpoints / f"{step:08d}" / WEIGHTS).read_bytes()


def test_before_its_first_step_a_run_is_its_parent_whatever_becomes_of_that() -> None:
    """Killed before a checkpoint and in the middle, it resumes without the parent to the same bits."""
    assert main(["train", "child.toml", "--out", "whole"]) == 0
    with locked_run(RunFolder(Path("child"))):
        open_run(resolve(read_table(Path("child.toml"))), Path("child"), False, silent, lambda text: None)
    assert main(["train", "child.toml", "--out", "stopped", "--set", "training.steps=4"]) == 0
    sentences = [source for source, _ in pairs("valid", count=5)]
    parent, child = (regard.load(name, device="cpu").translate(sentences) for name in ("parent", "child"))
    assert [(translation.text, translation.score) for translation in child] == [
        (translation.text, translation.score) for translation in parent
    ]
    assert Path("child", WEIGHTS).read_bytes() == Path("parent", WEIGHTS).read_bytes()
    shutil.rmtree("parent")
    assert main(["train", "--out", "child", "--resume"]) == 0
    assert main(["train", "child.toml", "--out", "stopped", "--resume"]) == 0
    assert _weights("child", 8) == _weights("stopped", 8) == _weights("whole", 8)
    assert Path("child", WEIGHTS).read_bytes() == Path("whole", WEIGHTS).read_bytes()


def test_the_watchdog_of_a_run_knows_whether_its_weights_were_trained() -> None:
    assert main(["train", "child.toml", "--out", "child", *QUICKLY]) == 0
    kept = [RunFolder(Path(run)).latest() for run in ("child", "parent")]
    assert [snapshot is not None and snapshot.facts.watchdog["began_trained"] for snapshot in kept] == [True, False]


@pytest.mark.long
def test_variants_that_start_from_a_model_are_compared_with_its_tokens() -> None:
    _write("unseen", pairs("valid", count=20))
    rates = {"training.optimizer.learning_rate": [0.01, 0.001]}
    few = {"training.steps": 2, "training.validate_every": 2, "data.test": ["unseen.en", "unseen.pt"]}
    found = regard.compare("child.toml", rates, settings=few, seeds=1, metrics=["exact"], out="rates", quiet=True)
    assert not found.failures
    tokens = Path("parent", "tokeniser.model").read_bytes()
    children = [*Path("rates").glob("*/seed-7")]
    assert len(children) == 2
    assert all((child / "tokeniser.model").read_bytes() == tokens for child in children)


def test_what_a_recipe_does_not_say_is_as_in_its_parent() -> None:
    child, parent = resolve(read_table(Path("child.toml"))), read_recipe(Path("parent"))
    assert child.model.width == parent["model"]["width"] == SETTINGS["model.width"]
    assert child.model.norm == "before"
    assert child.model.dropout == 0.2
    assert child.data.tokeniser.vocabulary == 400
    assert (child.data.source_language, child.data.target_language) == ("en", "pt")
    assert child.decoding.longest_extra == SETTINGS["decoding.longest_extra"]
    assert (child.seed, child.training.steps, child.training.best_by) == (7, 8, "loss")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("model.width=32", "does not fit parent, which it starts from: model.width is 32, but the model has 16"),
        ("model.encoder_layers=3", "model.encoder_layers is 3, but the model has 1"),
        (
            "model.preset=small",
            "model.encoder_layers is 3, but the model has 1; model.decoder_layers is 3, but the model has 2; model",
        ),
        ("data.tokeniser.vocabulary=500", "data.tokeniser.vocabulary is 500, but the model has 400"),
        ("data.tokeniser.kind=bpe", "data.tokeniser.kind is 'bpe', but the model has 'unigram'"),
        ("family=seq2seq", "family is 'seq2seq', but the model has 'transformer'"),
        ("start_from=begun", "begun has no weights.safetensors yet: its training has not kept a model so far"),
        ("start_from=nowhere", "There is no model folder at nowhere"),
        (
            "start_from=child/parent",
            "cannot start from child/parent, which is inside that folder; choose another --out",
        ),
        (
            "training.freeze=['heads']",
            "the parts of this model (transformer) are embeddings, encoder, decoder",
        ),
        ("training.freeze=['encoder', 'decoder', 'embeddings']", "nothing would learn"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(change: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "child.toml", "--out", "child", "--set", change]) == 2
    assert words in _said(capsys)
    assert not Path("child").exists()


def test_a_preset_of_the_same_sizes_fits() -> None:
    table = read_table(Path("child.toml"))
    sizes = {name.removeprefix("model."): value for name, value in SETTINGS.items() if name.startswith("model.")}
    assert resolve(table | {"model": {"preset": "base", **sizes}}).model.preset == "base"


def test_a_damaged_parent_is_found_before_another_run_is_replaced(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "child.toml", "--out", "child", *QUICKLY]) == 0
    before = Path("child", WEIGHTS).read_bytes()
    Path("parent", WEIGHTS).write_bytes(b"nothing")
    assert main(["train", "child.toml", "--out", "child", "--overwrite"]) == 2
    assert f"{WEIGHTS} is damaged" in _said(capsys)
    assert Path("child", WEIGHTS).read_bytes() == before


@pytest.mark.parametrize(
    "part",
    [
        "embeddings",
        pytest.param("encoder", marks=pytest.mark.long),
        pytest.param("decoder", marks=pytest.mark.long),
    ],
)
def test_frozen_parts_keep_their_bits(part: str, capsys: pytest.CaptureFixture[str]) -> None:
    freeze = ["--set", f"training.freeze=['{part}']", "--set", "training.final=average"]
    assert main(["train", "child.toml", "--out", "child", *freeze]) == 0
    assert f"of them frozen ({part})" in _said(capsys)
    before, after = (bytes_to_weights(Path(name, WEIGHTS).read_bytes(), name) for name in ("parent", "child"))
    same = {name for name in before if torch.equal(before[name], after[name])}
    begins = {"embeddings": ("model.source_embedding",)}.get(part, (f"model.{part}.", f"model.{part}_norm"))
    assert same == {name for name in before if name.startswith(begins)} != set()


def test_much_new_text_is_learnt_boldly_on_a_gpu_and_carefully_elsewhere() -> None:
    lines = [(f"word {number}", f"palavra {number}") for number in range(2_001)]
    _write("much", lines)
    _write("few", lines[:2_000])
    much, few = (TextFiles((Path(f"{name}.en"), Path(f"{name}.pt"))) for name in ("much", "few"))
    parent, width = Path("parent"), read_recipe(Path("parent"))["model"]["width"]
    bold, careful, little = (
        recipe_from(parent, *choice)[0]["training"]
        for choice in ((much, 0.0, True), (much, 0.0, False), (few, 0.0, True))
    )
    assert bold["optimizer"]["learning_rate"] == float(f"{0.25 / width:.0e}")
    assert careful["optimizer"]["learning_rate"] == little["optimizer"]["learning_rate"] == 5e-4
    assert bold["steps"] * bold["batch_tokens"] > 2 * careful["steps"] * careful["batch_tokens"]
    text = Path("parent", "recipe.toml").read_text(encoding="utf-8")
    for name in check_recipe(read_recipe(parent)).data.train[0].names:
        text = text.replace(name, "gone.txt")
    update_folder(Path("orphan"), {"recipe.toml": text.encode()})
    assert recipe_from(Path("orphan"), much, 0.0, True)[0]["training"]["optimizer"]["learning_rate"] == 5e-4


def test_two_files_and_a_model_are_enough(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*NEW_FILES, *QUICKLY]) == 0
    message = _said(capsys)
    assert "80 pairs of en and pt, starting from parent" in message
    assert "100 steps of at most 1,024 tokens, at a learning rate of 5e-04 that falls to zero" in message
    assert "the existing tokenisers spell" in message
    table = read_recipe(Path("child"))
    assert table["start_from"] == str(Path("parent").resolve())
    assert table["model"] == read_recipe(Path("parent"))["model"]
    assert main([*NEW_FILES, *QUICKLY, "--resume"]) == 0
    assert "is finished" in _said(capsys)
    Path("other").mkdir()
    shutil.copytree("parent", "other/parent")
    other = [word.replace("parent", "other/parent") for word in NEW_FILES]
    assert main([*other, *QUICKLY, "--resume"]) == 2
    assert "start_from was" in _said(capsys)
    assert main(["info", "child"]) == 0
    assert f"started from   {Path('parent').resolve()}\n" in capsys.readouterr().out


def test_old_text_is_mixed_in_by_its_share_and_validates_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*NEW_FILES, *QUICKLY, "--old-share", "0.25"]) == 0
    message = _said(capsys)
    assert "25% of the pairs come from the text that it was trained on" in message
    assert f"75.0% from {Path('new.en').resolve()}, 25.0% from" in message
    assert "held out 4 for validation" in message  # a twentieth of the 80 new ones
    train = read_recipe(Path("child"))["data"]["train"]
    assert [(corpus["weight"], corpus["held_out"]) for corpus in train] == [(0.75, True), (0.25, False)]
    assert main([*NEW_FILES, *QUICKLY, "--old-share", "0.25", "--resume"]) == 0
    assert "is finished" in _said(capsys)


def test_a_run_that_is_refused_for_its_texts_leaves_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    _write("long", [("casa " * 100, "casa " * 100)])
    valid = ["--valid-source", "long.en", "--valid-target", "long.pt"]
    lengths = ["--set", "model.longest=60", "--set", "data.cleaning.longest=50"]
    arguments = [*NEW_FILES[:-1], "runs/deep/child", *QUICKLY, *valid, *lengths]
    assert main(arguments) == 2
    assert "The longest validation sentence has" in _said(capsys)
    assert not Path("runs").exists()
    Path("runs/deep/child").mkdir(parents=True)
    assert main(arguments) == 2
    assert list(Path("runs/deep/child").iterdir()) == []  # that folder was there


def test_old_text_that_is_gone_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    source, target = write_corpus(Path.cwd(), 60)
    arguments = ["--source", str(source), "--target", str(target), "--from", "parent"]
    assert main(["train", *arguments, "--out", "first", *QUICKLY]) == 0
    source.unlink()
    capsys.readouterr()
    first = [word.replace("parent", "first") for word in NEW_FILES]
    assert main([*first, "--old-share", "0.5"]) == 2
    assert f"trained on, but there is no file '{source}'; omit it" in _said(capsys)
    assert main(["train", "child.toml", "--old-share", "0.5", "--out", "child"]) == 2
    assert "--old-share needs text files and --from" in _said(capsys)
    assert not Path("child").exists()


@pytest.mark.long
def test_going_on_with_another_rate_is_starting_from_itself(capsys: pytest.CaptureFixture[str]) -> None:
    """The advice of a refused --resume works."""
    assert main(["train", "child.toml", "--out", "child", *QUICKLY]) == 0
    rate = ["--set", "training.optimizer.learning_rate=0.001"]
    assert main(["train", "--out", "child", "--resume", *rate]) == 2
    message = _said(capsys)
    assert "training.optimizer.learning_rate was 0.01 and is now 0.001" in message
    assert "To start a new run from its weights: regard train … --from child --out child-2" in message
    assert main(["train", "child.toml", *rate, *QUICKLY, "--from", "child", "--out", "child-2"]) == 0
    assert _weights("child-2", 0) == Path("child", WEIGHTS).read_bytes()
    assert main([*NEW_FILES[:1], "--source", "new.pt", "--target", "new.en", "--out", "child", "--resume"]) == 2
    assert "To start a new run from its weights: regard train … --from child --out child-2" in _said(capsys)


@pytest.mark.long
def test_a_recurrent_model_is_started_from_too_but_not_for_text_it_cannot_spell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree("parent")
    recipe = str(write_recurrent_recipe(tmp_path))
    without_bytes = ["--set", "data.tokeniser.byte_fallback=false", "--set", "training.validation_beam=0"]
    assert main(["train", recipe, "--out", "parent", *without_bytes]) == 0
    quickly = [*QUICKLY, "--set", "training.validation_beam=0", "--set", "training.best_by=loss"]
    assert main([*NEW_FILES, *quickly, "--set", "training.freeze=['encoder']"]) == 0
    assert _weights("child", 0) == Path("parent", WEIGHTS).read_bytes()
    capsys.readouterr()
    _write(
        "new", [(f"Мы видим дом {source.split()[-1]}", target) for source, target in pairs("train", count=480)[400:]]
    )
    assert main([*NEW_FILES[:-1], "cyrillic", *quickly]) == 2
    assert "75% of the source's words have characters" in _said(capsys)
