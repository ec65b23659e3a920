"""The tutorial is a notebook that runs from its first cell to its last; the page of Python is what docstrings say."""

import ast
import re
import runpy
import socket
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
TUTORIAL = ROOT / "docs" / "tutorial.ipynb"


def read() -> Any:
    import nbformat

    notebook = nbformat.read(TUTORIAL, as_version=4)
    nbformat.validate(notebook)
    return notebook


def test_it_is_a_notebook_without_outputs_whose_code_compiles() -> None:
    cells = read().cells
    code = [cell for cell in cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in code)
    for cell in code:
        ast.parse(cell.source)
    assert [cell.metadata.get("tags") for cell in code].count(["parameters"]) == 1


def test_what_it_links_to_and_mentions_is_there() -> None:
    from test_documents import unknown_mentions

    text = "\n".join(cell.source for cell in read().cells if cell.cell_type == "markdown")
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    assert links
    assert [link for link in links if not (TUTORIAL.parent / link).exists()] == []
    assert unknown_mentions(text) == []


@pytest.mark.long
def test_it_runs_in_a_kernel_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from nbclient import NotebookClient

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    notebook = read()
    for cell in notebook.cells:
        if cell.metadata.get("tags") == ["parameters"]:
            cell.source = f"SENTENCES, STEPS, PORT = 3_000, 150, {port}"
    NotebookClient(notebook, timeout=900, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    pages = [output.data["text/html"] for output in shown if "text/html" in output.get("data", {})]
    assert sum("<iframe " in page for page in pages) == 3  # a look into each kind of model
    said = "".join(output.text for output in shown if output.output_type == "stream" and output.name == "stdout")
    perplexities = {
        name: float(value) for name, value in re.findall(r"^(counts|network) +([\d.]+)$", said, re.MULTILINE)
    }
    assert all(1 < value < 400 for value in perplexities.values())
    assert len(perplexities) == 2


def test_the_page_of_python_is_what_the_docstrings_say() -> None:
    script = runpy.run_path(str(ROOT / "docs" / "make_python_page.py"))
    remedy = "run `.venv/bin/python docs/make_python_page.py > docs/python.md`"
    assert script["page"]() == (ROOT / "docs" / "python.md").read_text(encoding="utf-8"), remedy


def test_a_signature_is_written_as_its_source_has_it() -> None:
    script = runpy.run_path(str(ROOT / "docs" / "make_python_page.py"))
    assert script["signature"](_example) == (
        '```python\ndef _example(one: str, two: int | None = None, *, three: str = "a") -> Path: ...\n```'
    )
    assert script["signature"](NotebookMethods.method) == "```python\ndef method() -> list[str]: ...\n```"


def _example(one: str, two: "int | None" = None, *, three: str = "a") -> Path:
    raise NotImplementedError


class NotebookMethods:
    def method(self) -> "list[str]":
        raise NotImplementedError
