"""Every command reports a model that has hardly been trained, and the server tells its page."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from regard.base.model_folder import RECIPE, WEIGHTS, update_folder
from regard.cli import MODELS, _root, main
from regard.serving.known import known_of
from regard.training.pace import Course

# Arguments that a command needs besides its model.
REST: dict[str, list[str]] = {
    "back-translate": ["a.txt", "-o", "a.tsv"],
    "data filter": ["a.tsv", "-o", "b.tsv"],
    "neighbours": ["word"],
    "analogy": ["a", "b", "c"],
    "show implied": ["--text", "a"],
    "show loss": ["--text", "a", "--target", "b"],
    "show gates": ["--text", "a"],
    "show gallery": ["-o", "gallery.html"],
    "speak": ["--text", "a", "-o", "a.wav"],
    "draw": ["-o", "a.png"],
    "embed": ["-o", "a.npz"],
    "map": ["-o", "a.png"],
    "export": ["--to", "onnx", "-o", "there"],
    "look": ["--text", "a"],
    "caption": ["a.png"],
    "transcribe": ["a.wav"],
}
CAUTION = "This model has hardly been trained (step 22 of 3,000, never validated), so expect little of it."


def commands(command: Any, name: str) -> dict[str, Any]:
    """Return all subcommands of a command by the words to type."""
    command = command._load() if hasattr(command, "_load") else command
    inner = getattr(command, "commands", {})
    if not inner:
        return {name: command}
    return {key: value for part, command in inner.items() for key, value in commands(command, f"{name} {part}").items()}


ALL = {key: value for name, command in _root().commands.items() for key, value in commands(command, name).items()}
OF_MODELS = {
    name: parameter
    for name, command in ALL.items()
    for parameter in command.params
    if parameter.name in MODELS
}  # fmt: skip


def hardly_trained(folder: Path, **more: Any) -> Path:
    """Write the relevant files of a run that was stopped in its first minutes."""
    (folder / "training").mkdir(parents=True)
    course = asdict(Course(step=22, steps=3000, best=22, ended="the 3 minutes are over")) | more
    (folder / "training" / "pace.json").write_text(json.dumps({"items": 1, "seconds": 1.0, "course": course}))
    (folder / WEIGHTS).touch()
    return folder


@pytest.mark.parametrize("name", OF_MODELS)
def test_every_command_with_a_model_says_it_first(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = hardly_trained(tmp_path / "run")
    place = [str(folder)] if OF_MODELS[name].param_type_name == "argument" else ["--model", str(folder)]
    assert main([*name.split(), *place, *REST.get(name, [])]) == 2  # there is no model to use
    assert " ".join(capsys.readouterr().err.split()).startswith(CAUTION)


def test_verbs_are_among_them() -> None:
    from regard.promises.capabilities import VERBS

    without = {"train", "compare", "average"}  # these make a model
    assert set(VERBS) - without <= set(OF_MODELS)


def test_a_trained_model_is_not_spoken_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = hardly_trained(tmp_path / "run", step=3000, best=2500, validated=True, finished=True)
    assert main(["info", str(folder)]) == 2
    assert "hardly" not in capsys.readouterr().err


def test_nothing_is_said_of_a_run_without_weights(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = hardly_trained(tmp_path / "run")
    (folder / WEIGHTS).unlink()
    assert main(["info", str(folder)]) == 2
    assert "hardly" not in capsys.readouterr().err


def test_of_several_models_it_is_said_which(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = [str(hardly_trained(tmp_path / name)) for name in ("one", "two")]
    assert main(["serve", *folders]) == 2
    message = " ".join(capsys.readouterr().err.split())
    assert all(f"{folder}: {CAUTION}" in message for folder in folders)


@pytest.mark.parametrize("validated", [True, False])
def test_the_server_tells_of_it_and_of_the_measure_that_chose(tmp_path: Path, validated: bool) -> None:
    folder = hardly_trained(tmp_path / "run", validated=validated)
    update_folder(folder, {RECIPE: b'family = "rnn"\n[data]\ntrain = "a.txt"\n[training]\nbest_by = "f1"\n'})
    knowledge = known_of(folder)
    assert knowledge["best_by"] == "f1"
    assert knowledge["hardly_trained"].model_dump() == {"step": 22, "steps": 3000, "validated": validated}
