"""The functions that the steps of lessons use."""

from pathlib import Path

import pytest

from regard.course import run, trained
from regard.course.cells import shows_pictures


def test_a_model_that_is_trained_already_is_loaded_with_a_remark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The remark is no output: a step shows the same whether it trained the model or another lesson did."""
    monkeypatch.chdir(tmp_path)
    Path("text.txt").write_text("a b a c\nb a c a\na c b\n" * 20, encoding="utf-8")
    recipe = {
        "family": "ngram",
        "data": {"train": "text.txt", "hold_out": 0.1},
        "model": {"order": 2, "discount_fallback": True},
    }
    first = trained("counts", recipe)
    assert capsys.readouterr().out == ""
    second = trained("counts", recipe)
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "counts is trained already.\n")
    assert second.parameters == first.parameters


@pytest.mark.long
def test_a_command_that_draws_may_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cost.png").write_bytes(b"of an earlier run")
    shown: list[bytes] = []
    token = shows_pictures.set(shown.append)
    try:
        run("regard show cost --longest 32 --heads 2 --depth 4 -o cost.png")
    finally:
        shows_pictures.reset(token)
    assert [picture[:8] for picture in shown] == [b"\x89PNG\r\n\x1a\n"]
