"""The models' abilities decide which doors are open; the others name these abilities in one sentence."""

from pathlib import Path

import httpx2 as httpx
import pytest
from loopback import on_loopback
from oracles import Oracle

from regard.base.doors import Door
from regard.serving.app import app_of, every_door
from regard.serving.catalogue import open_models


@pytest.mark.parametrize("door", [door for door in every_door() if door.can], ids=lambda door: door.path)
def test_what_no_model_can_is_refused_with_what_it_can(door: Door) -> None:
    with on_loopback(app_of([Oracle("delphi")])) as address, httpx.Client(base_url=address) as client:
        answer = client.request(door.method, door.path, json={} if door.method == "POST" else None)
        described = client.get("/openapi.json").json()["paths"]
    assert answer.status_code == 404
    looks = door.can in ("look", "attention", "next", "beam", "forward", "why", "examples")
    instead = "it can" if looks else "use /v1/prophesy. It can"
    assert answer.json() == {
        "error": f"The model delphi does not answer at /v1/{door.can}: it gives riddles; {instead} prophesy, be silent."
    }
    assert door.path not in described


def test_beside_others_each_is_asked_for_what_it_can(back: Path) -> None:
    models = [Oracle("delphi"), *open_models([back])]
    with on_loopback(app_of(models)) as address, httpx.Client(base_url=address, timeout=60) as client:
        assert [model["name"] for model in client.get("/v1/models").json()["models"]] == ["delphi", "back"]
        text = {"text": "Eu amo livros."}
        assert client.post("/v1/translate", json=text).json()["model"] == "back"
        assert client.get("/languages").json()[0]["code"] == "pt"
        wrong = client.post("/v1/translate", json=text | {"model": "delphi"})
        assert (wrong.status_code, wrong.json()["error"]) == (
            400,
            "The model delphi does not answer at /v1/translate: it gives riddles; use /v1/prophesy. It can prophesy, "
            "be silent.",
        )
        assert "/v1/translate" in client.get("/openapi.json").json()["paths"]


def test_two_that_cannot_are_both_told() -> None:
    models = [Oracle("delphi"), Oracle("dodona", ["rustle"])]
    with on_loopback(app_of(models)) as address:
        answer = httpx.post(f"{address}/v1/translate", json={})
    assert answer.json()["error"] == (
        "No model here answers at /v1/translate: delphi can prophesy, be silent; dodona can rustle."
    )
