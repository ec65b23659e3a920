"""Runs docs/tutorial.ipynb and keeps its outputs in it: `.venv/bin/python docs/run_tutorial.py`; takes some minutes.

Kept is what another machine would show too: no progress with its speeds, no paths of this machine, and no pages that
are only alive in a running notebook, of which their text remains.
"""

import base64
import hashlib
import io
import os
import re
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from PIL import Image

ROOT = Path(__file__).parents[1]
TUTORIAL = ROOT / "docs" / "tutorial.ipynb"
RECORD = "outputs_of"  # in the metadata of the notebook: the checksum of the sources that the outputs belong to
_PAGE = "<iframe "
_WIDEST, _COLOURS = 800, 64  # of a picture
_FILE = re.compile(r"\nFILE\n.*", re.DOTALL)  # where `help` says that a module lies
_PLACE = re.compile(r" at 0x[0-9a-f]+")


def checksum_of_sources(notebook: Any) -> str:
    """The checksum of all code, in its order."""
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    return hashlib.sha256("\0".join(code).encode()).hexdigest()


def clean(outputs: list[Any]) -> list[Any]:
    """The outputs of a cell as they are kept."""
    kept = []
    for output in outputs:
        if output.output_type == "stream":
            if output.name == "stdout":
                kept.append({**output, "text": _FILE.sub("\n", output.text)})
        elif output.output_type in ("display_data", "execute_result"):
            data = {kind: value for kind, value in output.data.items() if _PAGE not in str(value)}
            if "text/plain" in data:
                data["text/plain"] = _PLACE.sub("", data["text/plain"])
            if "image/png" in data:
                data["image/png"] = smaller(data["image/png"])
            kept.append({**output, "data": data, "metadata": {}})
        else:
            raise SystemExit(f"A cell of the tutorial fails: {output.get('evalue', output.output_type)}")
    return [nbformat.from_dict(each) for each in kept]


def smaller(picture: str) -> str:
    """A picture in base64, narrower and of fewer colours."""
    image = Image.open(io.BytesIO(base64.b64decode(picture))).convert("RGB")
    if image.width > _WIDEST:
        image = image.resize((_WIDEST, round(image.height * _WIDEST / image.width)), Image.Resampling.LANCZOS)
    file = io.BytesIO()
    image.quantize(_COLOURS, Image.Quantize.FASTOCTREE).save(file, "PNG", optimize=True)
    return base64.b64encode(file.getvalue()).decode() + "\n"


def main() -> None:
    """Run the notebook in a folder of its own, and write it back with its outputs."""
    os.environ["PYTHONPATH"] = str(ROOT)
    notebook = nbformat.read(TUTORIAL, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(notebook, timeout=3600, resources={"metadata": {"path": folder}}).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # when each cell began and ended
        if cell.cell_type == "code":
            cell.outputs = clean(cell.outputs)
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
        RECORD: checksum_of_sources(notebook),
    }
    nbformat.validate(notebook)
    TUTORIAL.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
