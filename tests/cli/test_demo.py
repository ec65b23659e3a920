"""The demo shows right translations, and says so where one is wrong."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from regard.cli import main
from regard.commands import demo
from regard.data.demo import corpus


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_all_that_is_shown_is_right(seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--seed", str(seed), "--out", str(tmp_path / "demo")]) == 0
    shown = capsys.readouterr().out.splitlines()
    for source, right in demo.PORTUGUESE.sentences.items():
        assert f"  {source}  →  {right}" in shown


@pytest.mark.parametrize(
    ("called", "shown"),
    [("/place/regard/__main__.py", f"{sys.executable} -m regard"), (".venv/bin/regard", ".venv/bin/regard")],
)
def test_what_to_try_next_can_be_typed(called: str, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [called, "demo"])
    assert demo._how_called() == shown


def test_the_corpus_is_written_with_its_links(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    few = corpus.demo_sentences("train", "demo-ru", count=300)
    monkeypatch.setattr(corpus, "_corpus", lambda name: dict.fromkeys(corpus.SPLITS, few))
    command = ["demo", "--languages", "en-ru", "--write-corpus", str(tmp_path / "corpus")]
    assert main(command) == 0
    written = capsys.readouterr().out.splitlines()
    endings = ["en", "ru", "links", "roles.jsonl"]
    assert written == [str(tmp_path / "corpus" / f"{s}.{e}") for s in ("train", "valid", "test") for e in endings]
    columns = [(tmp_path / "corpus" / f"train.{e}").read_text(encoding="utf-8").split("\n") for e in endings]
    assert [len(column) for column in columns] == [301] * 4
    assert [column[0] for column in columns[:3]] == ["I love books.", "Я люблю книги.", "0-0 1-1 2-2"]
    assert json.loads(columns[3][0])["target"] == {"verb-subject": [[1, 0]], "verb-object": [[1, 2]]}
    assert main(command) == 2
    assert "train.en exists already; give --overwrite to replace it." in capsys.readouterr().err
    assert main([*command, "--overwrite"]) == 0


def test_languages_that_there_are_not_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--languages", "en-fr"]) == 2
    assert "The demo has no corpus in 'en-fr'; its languages are en-pt and en-ru." in capsys.readouterr().err


def test_a_wrong_translation_is_told_with_the_right_one(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """After twelve steps hardly anything is right."""
    shutil.copytree(trained, tmp_path / "run", ignore=shutil.ignore_patterns("training"))
    demo._show(tmp_path / "run", demo.PORTUGUESE)
    shown = capsys.readouterr().out
    assert "  I love books.  →  " in shown
    assert "  (the grammar says: As meninas comprarão três livros?)\n" in shown
