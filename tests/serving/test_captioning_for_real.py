"""The door of captions, from a trained toy."""

from base64 import b64encode
from pathlib import Path

import httpx2 as httpx
from loopback import on_loopback
from small import undrawn
from toys import open_toy

from regard.runs.train import train
from regard.serving.app import make_app


def test_the_server_has_a_door_for_captions(tmp_path: Path) -> None:
    with undrawn():
        train(open_toy("caption-transformer", tmp_path), [])
    with on_loopback(make_app([tmp_path / "run"])) as address, httpx.Client(base_url=address) as client:
        assert client.get("/v1/models").json()["models"][0]["can"] == ["caption", "look", "why"]
        refused = client.post("/v1/caption", json={"pictures": [{"picture": b64encode(b"nothing").decode()}]})
        assert refused.status_code == 400
        assert "regard cannot compute the features of 2 × 2 places" in refused.json()["error"]
