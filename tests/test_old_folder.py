"""Folders of older versions still load: `old_folder` holds a run of version 0.1 and that version's results.

The run was trained on `old.en` and `old.pt` for 600 steps; its prepared corpus has no checksums. `expected.json` holds
its translations, and its validation loss after 20 more steps.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import regard
from regard.base.model_folder import is_whole
from regard.cli import main
from regard.training.checkpoint import RunFolder

OLD = Path(__file__).parent / "old_folder"
EXPECTED: dict[str, Any] = json.loads((OLD / "expected.json").read_text(encoding="utf-8"))


def test_an_old_model_is_whole_and_translates_as_it_did() -> None:
    assert is_whole(OLD / "run")
    translations = regard.load(OLD / "run", device="cpu").translate(EXPECTED["texts"])
    for output, expected in zip(translations, EXPECTED["outputs"], strict=True):
        assert output.text == expected["text"]
        assert output.score == pytest.approx(expected["score"], rel=1e-4)


@pytest.mark.usefixtures("no_curves")
def test_an_old_run_goes_on_as_it_would_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The text has the date of this checkout and nothing vouches for its preparation; both are reported."""
    shutil.copytree(OLD, tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")
    assert main(["train", "--out", "run", "--resume", "--set", f"training.steps={EXPECTED['steps']}"]) == 0
    step, measures = RunFolder(Path("run")).facts().validations[-1]
    assert (step, measures["loss"]) == (EXPECTED["steps"], pytest.approx(EXPECTED["loss"], rel=1e-3))
    message = " ".join(capsys.readouterr().err.split())
    assert "old.en has a different date than when an older version of regard prepared it" in message
    assert "prepared by an older version of regard without checksums" in message
