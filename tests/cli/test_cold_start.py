"""Imports of a command before its first answer, counted because seconds depend on the machine."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from regard.cli import main

PROGRAM = """
import json, sys
from regard.cli import main
status = main(sys.argv[1:])
print()
print(json.dumps(sorted(sys.modules)))
sys.exit(status)
"""
HEAVY = {"matplotlib", "numba", "onnxruntime", "PIL", "pyarrow", "sacrebleu", "scipy", "sympy", "transformers"} | {
    "rich.console",  # rich.cells alone, for the widths of columns, is small
}
COMPILERS = {"torch._dynamo", "torch._inductor", "triton"}  # seconds each, and nothing here is compiled


def modules_after(*arguments: str) -> set[str]:
    """Return the names of all modules that a command line has imported when it ends."""
    done = subprocess.run([sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True, check=True)
    return {*json.loads(done.stdout.splitlines()[-1])}


def ours(modules: set[str]) -> list[str]:
    return sorted(name for name in modules if name.partition(".")[0] == "regard")


@pytest.fixture(scope="module")
def exported(trained: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exported") / "run"
    shutil.copytree(trained, folder)
    assert main(["export", str(folder), "--to", "ctranslate2"]) == 0
    return folder


@pytest.mark.parametrize("command", ["families", "recipes"])
def test_a_table_is_printed_without_torch(command: str) -> None:
    modules = modules_after(command)
    assert not modules & {"torch", "numpy", *HEAVY}
    assert len(ours(modules)) <= 40, ours(modules)


def test_a_translation_by_torch_imports_its_own_room(exported: Path) -> None:
    modules = modules_after("translate", str(exported), "--text", "I love books.", "--engine", "torch")
    assert not modules & (HEAVY | COMPILERS)
    assert len(ours(modules)) <= 215, ours(modules)
    elsewhere = (
        "regard.metrics",
        "regard.runs",
        "regard.seeing",
        "regard.serving",
        "regard.models.recurrent",
        "regard.models.words",
        "regard.models.online",
        "regard.tasks.words",
        "regard.data.corpora.prepare",
        "regard.engines.ctranslate2",
        "regard.engines.onnx",
    )
    assert [name for name in ours(modules) if name.startswith(elsewhere)] == []


def test_a_translation_by_ctranslate2_imports_neither_torch_nor_corpora(exported: Path) -> None:
    modules = modules_after("translate", str(exported), "--text", "I love books.")
    assert "ctranslate2" in modules
    assert not modules & {"numpy", "torch", *HEAVY}
    assert len(ours(modules)) <= 85, ours(modules)
    elsewhere = ("regard.data.corpora.text", "regard.data.corpora.options", "regard.engines.onnx", "regard.tasks")
    assert [name for name in ours(modules) if name.startswith(elsewhere)] == []


def test_the_program_looks_for_garbage_less_often_than_python_does() -> None:
    program = (
        "import gc, sys, atexit; atexit.register(lambda: print(gc.get_threshold()[0]));"
        "sys.argv = ['regard', '--version']; from regard.cli import run; run()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(done.stdout.splitlines()[-1]) >= 10_000
