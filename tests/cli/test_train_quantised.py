"""`training.quantise` from the command line: tuning a model, resuming, exporting what was tuned, and its remarks."""

import shutil
from pathlib import Path

import pytest
from small import SETTINGS, train_arguments, write_corpus
from spared import spare

import regard
from regard.cli import main
from regard.engines.fast import load_fast
from regard.training.checkpoint import WEIGHTS, update_folder, weights_to_bytes
from regard.training.snapshot import named_weights

pytestmark = pytest.mark.usefixtures("no_curves")
CONSTANT = ["--set", "training.optimizer.schedule=constant"]  # whatever the number of steps
TEXTS = ["I love books.", "Ana sees the red house.", "The girls do not eat the green apples."]


@pytest.fixture
def tuned(trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a translator that was tuned in int8 from a trained one."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(trained, "parent")
    assert main(tuning(tmp_path, "child")) == 0
    return tmp_path / "child"


def tuning(folder: Path, out: str, scheme: str = "int8") -> list[str]:
    sizes = {name: value for name, value in SETTINGS.items() if not name.startswith(("model.", "data."))}
    sizes |= {"training.steps": 6, "training.validate_every": 6}
    changes = [word for name, value in sizes.items() for word in ("--set", f"{name}={value}")]
    source, target = write_corpus(folder)
    files = ["--source", str(source), "--target", str(target), "--from", "parent", "--out", out]
    return ["train", *files, *changes, "--set", f"training.quantise={scheme}", "--set", "decoding.beam=1", *CONSTANT]


def test_an_engine_writes_what_was_tuned(tuned: Path) -> None:
    """CTranslate2 in int8 and the rounded network choose the same tokens; float32 has other scores."""
    model = regard.load(tuned)
    spare(model.task.model)
    update_folder(tuned, {WEIGHTS: weights_to_bytes(named_weights(model.task))})
    assert main(["export", str(tuned), "--to", "ctranslate2"]) == 0
    engine = load_fast(tuned, "ctranslate2")
    assert engine is not None
    by_engine = engine.translations(TEXTS, engine.decoding)
    plain = model.translate(TEXTS)
    model.task.model.round_as("int8")
    rounded = model.translate(TEXTS)
    assert [output.text for output in rounded] == [output.text for output in by_engine]
    assert all(output.text for output in rounded)
    near, far = (
        max(abs(ours.score - theirs.score) for ours, theirs in zip(outputs, by_engine, strict=True))
        for outputs in (rounded, plain)
    )
    # Sums in another order may round a state the other way, which moves a score of 28 nats by less than a thousandth.
    assert near < 1e-3 < far / 10


@pytest.mark.long
def test_a_resumed_tuning_has_the_same_bits_and_rounding_matters(tuned: Path, tmp_path: Path) -> None:
    assert main([*tuning(tmp_path, "again"), "--set", "training.steps=3"]) == 0
    assert main([*tuning(tmp_path, "again"), "--resume"]) == 0
    assert main(tuning(tmp_path, "four", "int4")) == 0
    assert main(tuning(tmp_path, "plain", "none")) == 0
    weights = [(tmp_path / name / WEIGHTS).read_bytes() for name in (tuned.name, "again", "four", "plain")]
    assert weights[0] == weights[1]
    assert len(set(weights)) == 3


def test_a_decoder_that_no_engine_rounds_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = {"model__decoder_cell": "gru", "training__quantise": "int8"}
    assert main(train_arguments(*write_corpus(tmp_path), tmp_path / "run", **settings)) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "training.quantise is for models that engines run rounded" in said
