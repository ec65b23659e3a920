"""The tutorial notebook runs from first cell to last, and the Python page matches the docstrings."""

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


def code_cells(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def ends_in_an_expression(source: str) -> bool:
    last = ast.parse(source).body[-1]
    return isinstance(last, ast.Expr)


def test_its_code_compiles_and_has_one_cell_of_parameters() -> None:
    code = code_cells(read())
    for cell in code:
        ast.parse(cell.source)
    assert [cell.metadata.get("tags") for cell in code].count(["parameters"]) == 1


def test_it_has_the_outputs_of_a_run_of_these_very_cells() -> None:
    notebook, script = read(), runpy.run_path(str(ROOT / "docs" / "run_tutorial.py"))
    remedy = "run `.venv/bin/python docs/run_tutorial.py`"
    assert notebook.metadata[script["RECORD"]] == script["checksum_of_sources"](notebook), remedy
    code = code_cells(notebook)
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    for cell in code:
        shown = [output.output_type for output in cell.outputs]
        assert "error" not in shown
        assert shown or not ends_in_an_expression(cell.source), cell.source


def test_its_outputs_are_small_and_of_no_machine() -> None:
    assert TUTORIAL.stat().st_size < 150_000
    outputs = [output for cell in code_cells(read()) for output in cell.outputs]
    texts = [str(output.get("text") or output.data.get("text/plain", "")) for output in outputs]
    pages = [str(output.data.get("text/html", "")) for output in outputs if "data" in output]
    places, speeds = r"/(?:home|root|tmp|work|usr|Users|private|opt)/| at 0x[0-9a-f]{6,}", r"\d (?:tokens|steps|it)/s"
    machine = re.compile(f"{places}|{speeds}|Warning")
    assert [text for text in (*texts, *pages) if machine.search(text)] == []
    assert not any("<script" in page or "<iframe" in page for page in pages)
    assert {output.name for output in outputs if output.output_type == "stream"} == {"stdout"}


def test_a_run_is_cleaned_of_what_is_its_own() -> None:
    clean = runpy.run_path(str(ROOT / "docs" / "run_tutorial.py"))["clean"]
    import nbformat.v4 as v4

    stream = v4.new_output("stream", name="stderr", text="step 100, 900 tokens/s")
    helped = v4.new_output("stream", name="stdout", text="NAME\n    regard\n\nFILE\n    /home/ana/regard/__init__.py\n")
    data = {"text/html": '<iframe srcdoc="">', "text/plain": "<View at 0x7f00aa>"}
    seen = v4.new_output("execute_result", data=data, execution_count=1)
    first, second = clean([stream, helped, seen])
    assert first.text == "NAME\n    regard\n\n"
    assert dict(second.data) == {"text/plain": "<View>"}
    with pytest.raises(SystemExit, match="fails: no such thing"):
        clean([v4.new_output("error", ename="NameError", evalue="no such thing", traceback=[])])


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
    output_text = "".join(output.text for output in shown if output.output_type == "stream" and output.name == "stdout")
    perplexities = {
        name: float(value) for name, value in re.findall(r"^(counts|network) +([\d.]+)$", output_text, re.MULTILINE)
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
    return Path(one, *[three] * (two or 0))


class NotebookMethods:
    def method(self) -> "list[str]":
        return []
