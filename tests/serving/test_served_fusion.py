"""/v1/translate with a served language model; folders that a client names are never opened."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
import tomli_w
from loopback import on_loopback
from toy import PORTUGUESE

import regard
from regard.cli import main
from regard.serving.app import make_app

TEXT = "Ana sees the red house ."


@pytest.fixture(scope="module")
def fluent(forth: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a language model over the translator's tokens."""
    folder = tmp_path_factory.mktemp("fluent")
    (folder / "text.pt").write_text(f"{PORTUGUESE}\nAna lê livros .\nAna vê os livros .\n", "utf-8")
    data = {"train": str(folder / "text.pt"), "tokeniser": {"from": str(forth)}}
    recipe = {"family": "ngram", "data": data, "model": {"order": 2, "discount_fallback": True}}
    (folder / "recipe.toml").write_text(tomli_w.dumps(recipe), "utf-8")
    assert main(["train", str(folder / "recipe.toml"), "--out", str(folder / "fluent")]) == 0
    return folder / "fluent"


@pytest.fixture(scope="module")
def both(forth: Path, fluent: Path) -> Iterator[httpx.Client]:
    with on_loopback(make_app([forth, fluent])) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


def test_it_gives_what_python_gives_and_says_that_torch_computes(both: httpx.Client, forth: Path, fluent: Path) -> None:
    question = {"text": TEXT, "split_sentences": False, "fuse": "fluent", "fuse_weight": 3.0}
    answer: dict[str, Any] = both.post("/v1/translate", json=question).json()
    translator: Any = regard.load(forth)
    (expected,) = translator.translate([TEXT], fuse=regard.load(fluent), fuse_weight=3.0)
    (translation,) = answer["translations"]
    assert (answer["engine"], translation["text"]) == ("torch", expected.text)
    assert translation["language_scores"] == pytest.approx(expected.language_scores)
    assert translation["text"] != translator.translate([TEXT])[0].text


@pytest.mark.parametrize("name", ["forth", "/etc", "nobody", ""])
def test_a_name_that_is_not_of_a_served_language_model_is_refused(both: httpx.Client, name: str) -> None:
    answer = both.post("/v1/translate", json={"text": TEXT, "fuse": name})
    assert answer.status_code == 400
    assert answer.json()["error"] == f"There is no language model {name!r} here; there are fluent."


def test_without_a_language_model_none_is_named(client: httpx.Client) -> None:
    answer = client.post("/v1/translate", json={"text": TEXT, "fuse": "fluent"})
    assert answer.json()["error"] == "There is no language model 'fluent' here; none is served."
