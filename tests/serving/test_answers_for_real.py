"""Answering models served from their folders: the server matches Python and `regard look`."""

from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx2 as httpx
import numpy as np
import pytest
import tomli_w
from loopback import on_loopback
from picture_files import flags, write_set
from PIL import Image
from small import undrawn
from small_graph import small_recipe

import regard
from regard.cli import main
from regard.serving.app import make_app


def train(folder: Path, table: dict[str, Any]) -> Path:
    recipe = folder / "recipe.toml"
    recipe.write_text(tomli_w.dumps(table), encoding="utf-8")
    with undrawn():
        assert main(["train", str(recipe), "--out", str(folder / "run")]) == 0
    return folder / "run"


@contextmanager
def serving(folder: Path) -> Iterator[httpx.Client]:
    with on_loopback(make_app([folder])) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


def test_the_nodes_of_a_graph(tmp_path: Path) -> None:
    folder = train(tmp_path, small_recipe(tmp_path / "graph", steps=5))
    task = regard.load(folder).task
    expected = task.answers(task.read(["0", "7"]))
    with serving(folder) as client:
        answers = client.post("/v1/answer", json={"inputs": [0, "7"]}).json()["answers"]
        looks = client.post("/v1/look", json={"input": 7}).json()
        wrong = client.post("/v1/answer", json={"inputs": [99]})
        (model,) = client.get("/v1/models").json()["models"]
    assert [answer["answer"] for answer in answers] == [answer.answer for answer in expected]
    assert answers[1]["probabilities"] == pytest.approx(expected[1].probabilities, abs=1e-6)
    assert looks["view"] == "graph"
    assert (looks["looks"]["nodes"][0]["name"], len(looks["looks"]["blocks"])) == ("7", 2)
    assert (wrong.status_code, "There is no node 99" in wrong.json()["error"]) == (400, True)
    assert (model["family"], model["can"]) == ("gat", ["answer", "look", "why"])


def test_pictures(tmp_path: Path) -> None:
    pictures, labels = flags(40)
    height, width = pictures.shape[1:]
    table = {
        "family": "ram",
        "data": {
            "train": write_set(tmp_path, pictures, labels),
            "valid": write_set(tmp_path, pictures, labels, "valid"),
        },
        "training": {"steps": 2, "validate_every": 2, "save_every": 2},
    }
    folder = train(tmp_path, table)
    image = tmp_path / "flag.png"
    Image.fromarray(pictures[0].astype(np.uint8)).save(image)
    task = regard.load(folder).task
    (expected,) = task.answers(task.read([str(image)]))
    small = BytesIO()
    Image.new("L", (3, 2)).save(small, "PNG")
    with serving(folder) as client:
        item = {"picture": b64encode(image.read_bytes()).decode()}
        (result,) = client.post("/v1/answer", json={"inputs": [item]}).json()["answers"]
        looks = client.post("/v1/look", json={"input": item}).json()
        other = {"picture": b64encode(small.getvalue()).decode()}
        (fitted,) = client.post("/v1/answer", json={"inputs": [other]}).json()["answers"]
        seen = client.post("/v1/look", json={"input": other}).json()
        wrong = client.post("/v1/answer", json={"inputs": [other], "as_is": True})
        unseen = client.post("/v1/look", json={"input": other, "as_is": True})
        none = client.post("/v1/answer", json={"inputs": [{"picture": b64encode(b"none").decode()}]})
    assert (result["answer"], result["probability"]) == (expected.answer, pytest.approx(expected.probability, abs=1e-6))
    assert looks["view"] == "windows"
    assert looks["looks"]["title"].startswith(f"The picture: {expected.answer} (")
    assert looks["looks"]["picture"]["width"] == width
    for refused in (wrong, unseen):
        assert f"The picture has 2 × 3 pixels, expected {height} × {width}" in refused.json()["error"]
    assert fitted["remark"] == seen["remark"]
    assert fitted["remark"].startswith("The picture is adapted to the training pictures: scaled from 2 × 3 to ")
    assert result["remark"] == looks["remark"] == ""
    assert none.json()["error"].startswith("The picture is not in a picture format that can be read")
