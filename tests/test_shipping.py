"""Files shipped with the code: the image that serves the demo, the citation file and the changelog."""

import importlib
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest
import yaml

import regard
from regard.cli import _root

ROOT = Path(__file__).parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def instructions(name: str) -> Iterator[list[str]]:
    """Return the words of every instruction with this name, in order, whether written as a line or as a list."""
    for line in re.findall(rf"^(?:HEALTHCHECK .*?)?{name} (.*)$", DOCKERFILE, re.MULTILINE):
        yield json.loads(line) if line.startswith("[") else shlex.split(line)


def programs() -> list[list[str]]:
    """Return the programs that run in the image, at build time and later."""
    return [*instructions("RUN"), *instructions("CMD")]


def copied(folder: Path) -> Path:
    """Return the checkout as the first stage of the image has it."""
    for *sources, target in instructions("COPY"):
        for source in (word for word in sources if not word.startswith(("--", "/"))):
            if (ROOT / source).is_dir():
                shutil.copytree(ROOT / source, folder / target)
            else:
                shutil.copy(ROOT / source, folder)
    return folder


def regard_lines() -> list[list[str]]:
    return [words[1:] for words in programs() if Path(words[0]).name == "regard"]


def test_every_command_of_the_image_exists_with_its_options() -> None:
    demo, serve = regard_lines()
    assert (demo[0], serve[0]) == ("demo", "serve")
    for line in (demo, serve):
        with _root().make_context("regard", line, resilient_parsing=False) as context:
            command = context.command.get_command(context, line[0])
            assert command is not None
            command.make_context(line[0], line[1:], parent=context).close()
    assert demo[demo.index("--out") + 1] == serve[1]  # the trained model is the one served


def test_the_image_is_told_to_run_as_somebody_without_rights() -> None:
    (user,) = instructions("USER")
    assert ["useradd", "--create-home", *user] in programs()
    assert DOCKERFILE.index("\nUSER") < DOCKERFILE.index("\nCMD")


def test_what_is_copied_is_not_ignored() -> None:
    patterns = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    names = [name for *sources, _ in instructions("COPY") for name in sources if not name.startswith(("--", "/"))]
    assert all((ROOT / name).exists() and any(fnmatch(name, pattern) for pattern in patterns) for name in names)


def _free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def test_the_steps_serve_a_model_that_is_found_healthy(trained: Path, tmp_path: Path) -> None:
    """Run from the copied files alone, with a quickly trained model in place of the demo, at any free port."""
    _, serve = regard_lines()
    (health,) = [words for words in instructions("CMD") if words[0].endswith("python")]
    port, tree = _free_port(), copied(tmp_path)
    (tmp_path / "runs").mkdir()
    shutil.copytree(trained, tmp_path / "runs" / "demo")
    environment = os.environ | {"PYTHONPATH": str(tree)}
    command = [sys.executable, "-m", "regard", *serve, "--port", port]
    command[command.index("0.0.0.0")] = "127.0.0.1"
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        assert any("serving on" in line for line in server.stderr)
        health_check = [sys.executable, *(word.replace(":5000", f":{port}") for word in health[1:])]
        assert subprocess.run(health_check, timeout=60).returncode == 0
        server.terminate()
        server.communicate(timeout=60)


@pytest.mark.long
def test_the_steps_train_the_demo_in_a_folder_of_its_own(tmp_path: Path) -> None:
    demo, serve = regard_lines()
    environment = os.environ | {"PYTHONPATH": str(copied(tmp_path))}
    subprocess.run([sys.executable, "-m", "regard", *demo], cwd=tmp_path, env=environment, check=True)
    command = [sys.executable, "-m", "regard", "translate", serve[1], "--text", "I love books."]
    done = subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True)
    assert len(done.stdout.split()) > 1
    assert any((tmp_path / serve[1] / "pictures").iterdir())


def test_the_citation_is_whole_and_of_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= citation.keys()  # required by the format
    assert citation["authors"] == [{"name": "The regard contributors"}]
    assert citation["version"] == regard.__version__
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["license"] == citation["license"]


def test_the_package_takes_its_version_from_the_code() -> None:
    """The installed package takes its version from one line of the code."""
    metadata = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" not in metadata["project"]
    assert "version" in metadata["project"]["dynamic"]
    module, _, name = metadata["tool"]["setuptools"]["dynamic"]["version"]["attr"].rpartition(".")
    assert getattr(importlib.import_module(module), name) == regard.__version__


def test_the_changelog_has_what_comes_and_this_version() -> None:
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[0] == "Unreleased"
    assert headings[1].split()[0] == regard.__version__


def test_a_wheel_brings_every_file_of_the_package() -> None:
    setuptools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    package = ROOT / "regard"
    brought = {path for pattern in setuptools["package-data"]["regard"] for path in package.glob(pattern)}
    files = {path for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert {path for path in files if path.suffix != ".py"} <= brought
    assert package / "page" / "views" / "attention" / "matrix.js" in brought
