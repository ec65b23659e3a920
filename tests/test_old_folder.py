"""What an older version wrote is still read: `old_folder` holds a run of version 0.1 and what that version made of it.

It was trained from `old.en` and `old.pt` for 600 steps, and there are no checksums in its prepared corpus. In
`expected.json` are its translations, and its validation loss after it was resumed for 20 steps more.
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
    found = regard.load(OLD / "run", device="cpu").translate(EXPECTED["texts"])
    for output, expected in zip(found, EXPECTED["outputs"], strict=True):
        assert output.text == expected["text"]
        assert output.score == pytest.approx(expected["score"], rel=1e-4)


@pytest.mark.usefixtures("no_curves")
def test_an_old_run_goes_on_as_it_would_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its text has the date of this checkout, and nothing vouches for what was prepared from it: both are said."""
    shutil.copytree(OLD, tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")
    assert main(["train", "--out", "run", "--resume", "--set", f"training.steps={EXPECTED['steps']}"]) == 0
    step, measures = RunFolder(Path("run")).facts().validations[-1]
    assert (step, measures["loss"]) == (EXPECTED["steps"], pytest.approx(EXPECTED["loss"], rel=1e-3))
    told = " ".join(capsys.readouterr().err.split())
    assert "old.en has a different date than when an older version of regard prepared it" in told
    assert "prepared by an older version of regard without checksums" in told
