"""What the functions that steps use do when a step runs again."""

from pathlib import Path

import pytest

from regard.course import run
from regard.course.cells import shows_pictures


def test_a_command_that_draws_may_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cost.png").write_bytes(b"of an earlier run")
    shown: list[bytes] = []
    token = shows_pictures.set(shown.append)
    try:
        run("regard show cost -o cost.png")
    finally:
        shows_pictures.reset(token)
    assert [picture[:8] for picture in shown] == [b"\x89PNG\r\n\x1a\n"]
