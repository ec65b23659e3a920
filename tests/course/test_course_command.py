"""`regard course 1` on the real command line: the printed address, the browser, the language, and the end by Ctrl-C."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from paged_lessons import make_material

from regard.cli import main
from regard.course.progress import ProgressFile

# The lessons of the package take minutes; those in the first argument take none.
PROGRAM = """
import sys
from pathlib import Path
from regard.course import sources
sources.MATERIAL = Path(sys.argv.pop(1))
from regard.cli import run
run()
"""
CODE = """# %% endless
import os, time

print(os.getpid(), flush=True)
time.sleep(600)
"""


@contextmanager
def served(
    material: Path, *arguments: str, stdout: int = subprocess.DEVNULL, **settings: str
) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """Yield the address of the first lesson's page and the process that serves it, which Ctrl-C ends."""
    unset = {name: value for name, value in os.environ.items() if name not in ("LC_ALL", "LC_MESSAGES", "LANG")}
    command = [sys.executable, "-c", PROGRAM, str(material), "course", "1", "--port", "0", *arguments]
    with subprocess.Popen(
        command, stdout=stdout, stderr=subprocess.PIPE, text=True, cwd=material.parent, env=unset | settings
    ) as process:
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            match = re.fullmatch(r"regard: lesson 1 is at (http://127\.0\.0\.1:\d+/[\w-]{22}/1)\n", line)
            assert match is not None, line + process.stderr.read()
            assert process.stderr.readline() == "regard: models and progress go to runs/course; Ctrl-C ends.\n"
            yield match[1], process
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        assert "Traceback" not in process.stderr.read()


def read(address: str, body: object = None) -> str:
    content = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(
        urllib.request.Request(address, content, {"Content-Type": "application/json"}), timeout=20
    ) as answer:
        text: str = answer.read().decode()
        return text


def test_ctrl_c_ends_the_server_and_what_it_runs(tmp_path: Path) -> None:
    with served(make_material(tmp_path / "material", 1, CODE)) as (page, _):
        root = page.removesuffix("1")
        read(f"{root}run", {"lesson": 1, "steps": {"endless": {}}})
        state: dict[str, Any] = {}
        while not state.get("steps", {}).get("endless", {}).get("pieces"):
            state = json.loads(read(f"{root}state/1"))
        worker = int(state["steps"]["endless"]["pieces"][0]["text"])
        os.kill(worker, 0)
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)


@pytest.mark.long
def test_the_language_is_that_of_the_reader_or_of_the_system(tmp_path: Path) -> None:
    material = make_material(tmp_path / "material", 1)
    with served(material, LANG="pt_BR.UTF-8") as (page, _):
        assert 'data-language="pt"' in read(page)
        read(page.removesuffix("1") + "language", {"language": "ru"})
    with served(material, LANG="pt_BR.UTF-8") as (page, _):
        assert 'data-language="ru"' in read(page)
        with served(material, "--language", "en", LANG="pt_BR.UTF-8") as (other, _):
            assert 'data-language="en"' in read(other)
            assert 'data-language="ru"' in read(page)
    assert ProgressFile(tmp_path / "runs" / "course").read().language == "en"


@pytest.mark.one_in(2)
@pytest.mark.parametrize("arguments", [(), ("--no-open",)])
def test_a_browser_is_opened_only_at_a_terminal_and_not_against_ones_wish(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    material, opened = make_material(tmp_path / "material", 1), tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}.part\nmv {opened}.part {opened}\n')
    browser.chmod(0o755)
    settings = {"BROWSER": f"{browser} %s"}
    with served(material, *arguments, **settings) as (page, _):
        read(page)
    assert not opened.exists()
    ours, terminal = pty.openpty()
    try:
        with served(material, *arguments, stdout=terminal, **settings) as (page, _):
            end = time.monotonic() + (0.5 if arguments else 30)
            while not opened.exists() and time.monotonic() < end:
                time.sleep(0.01)
            assert (opened.read_text().strip() if opened.exists() else None) == (None if arguments else page)
    finally:
        os.close(ours)
        os.close(terminal)


@pytest.mark.long
def test_a_damaged_progress_file_is_refused_before_a_page_is_served(tmp_path: Path) -> None:
    (tmp_path / "progress.json").write_text("{}]")
    for arguments in (["--language", "pt"], []):
        command = [sys.executable, "-c", PROGRAM, str(make_material(tmp_path / f"m{len(arguments)}")), "course"]
        done = subprocess.run(
            [*command, "1", "--folder", str(tmp_path), *arguments], capture_output=True, text=True, timeout=60
        )
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert "progress.json is damaged" in done.stderr
        listed = subprocess.run([*command, "--folder", str(tmp_path)], capture_output=True, text=True, timeout=60)
        assert listed.returncode == 2
    assert (tmp_path / "progress.json").read_text() == "{}]"


@pytest.mark.parametrize("arguments", [[], ["3"], ["3", "--run"], ["3", "-o", "lesson.ipynb"]])
def test_a_file_is_no_folder_for_the_course(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notes.txt").write_text("mine")
    assert main(["course", *arguments, "--folder", "notes.txt"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("regard: notes.txt is a file, not a folder;")
    assert captured.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_the_list_says_how_far_one_is(tmp_path: Path) -> None:
    material = make_material(tmp_path / "material")
    file = ProgressFile(tmp_path / "runs")
    file.keep_step(2, "first", {})
    file.keep_skipped(2, "second")
    file.keep_answer(2, "sum", "0.67")
    file.keep_language("pt")
    command = [sys.executable, "-c", PROGRAM, str(material), "course", "--folder", str(file.folder)]
    lines = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.splitlines()
    assert [line.split("  ")[-1].strip() for line in lines[-2:]] == ["0 of 3", "1 of 3"]
    assert "Title in pt" in lines[-1]
    assert "1 of 5, 1 skipped" in lines[-1]
    assert "skipped" not in lines[-2]
