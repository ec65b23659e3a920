"""Other kinds of models: imported from OPUS-MT's format, and recurrent; all page requests work with them."""

import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from loopback import on_loopback
from toy import make_family, make_recurrent

import regard
from regard.cli import main
from regard.seeing.next_token import beam_tree, next_choices
from regard.serving.app import make_app

sys.path.insert(0, str(Path(__file__).parents[1] / "engines"))
from marian_models import make

TEXT = "Ana sees the red house."
HEADS = {  # for each block, on each side that has attention
    "opus": {"encoder": [4, 4], "decoder": [4, 4, 4], "cross": [4, 4, 4]},
    "uneven": {"encoder": [2], "decoder": [8, 8, 8], "cross": [8, 8, 8]},
    "luong": {"cross": [1]},
    "bottleneck": {},
    "heads behind blocks": {"encoder": [2], "cross": [4]},
    "bottleneck behind blocks": {"encoder": [2]},
    "recurrent encoder": {"decoder": [2], "cross": [2]},
}
BLOCKS = {"encoder": "transformer", "encoder_heads": 2, "feed_forward": 8}
LOOKING = [name for name, heads in HEADS.items() if heads]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("others")
    uneven = {"encoder_attention_heads": 2, "decoder_attention_heads": 8, "encoder_layers": 1}
    shapes = {"opus": {}, "uneven": {"separate": True, **uneven}}
    short = {"search": {"max_length": 8}}  # random weights seldom end by themselves
    for name, shape in shapes.items():
        make(folder / "marian" / name, **shape, **short)
        assert main(["import", "marian", str(folder / "marian" / name), "-o", str(folder / name)]) == 0
    for name in ("luong", "bottleneck"):
        make_recurrent(folder / name, name)
    make_recurrent(folder / "heads behind blocks", "tanh", projected=True, heads=4, **BLOCKS)
    make_recurrent(folder / "bottleneck behind blocks", "bottleneck", **BLOCKS)
    sizes = {"width": 16, "heads": 2, "feed_forward": 8, "encoder_layers": 1, "decoder_layers": 1}
    make_family(folder / "recurrent encoder", "transformer", encoder="recurrent", **sizes)
    return {name: folder / name for name in HEADS}


@pytest.fixture(scope="module")
def others(folders: dict[str, Path]) -> Iterator[httpx.Client]:
    with on_loopback(make_app(list(folders.values()))) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


@pytest.fixture(scope="module")
def models(folders: dict[str, Path]) -> dict[str, regard.Model]:
    return {name: regard.load(folder) for name, folder in folders.items()}


def asked(client: httpx.Client, view: str, name: str, **question: Any) -> dict[str, Any]:
    answer = client.post(f"/v1/{view}", json={"model": name, "text": TEXT, **question})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("name", "target"), [("opus", "pt"), ("luong", "ru")])
def test_clients_translate_with_them(others: httpx.Client, models: Any, name: str, target: str) -> None:
    (expected,) = models[name].translate([TEXT])
    answer = others.post("/translate", data={"q": TEXT, "source": "en", "target": target})
    assert answer.json() == {"translatedText": expected.text}
    page = f"<p>{TEXT.replace('red', '<b>red</b>')}</p>"
    answer = others.post("/translate", data={"q": page, "source": "auto", "target": target, "format": "html"})
    assert answer.status_code == 200
    assert [answer.json()["translatedText"].count(tag) for tag in ("<p>", "<b>", "</b>", "</p>")] == [1, 1, 1, 1]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", HEADS)
def test_translations_are_explained(others: httpx.Client, models: Any, name: str) -> None:
    (expected,) = models[name].translate([TEXT], n_best=2)
    (translation,) = asked(others, "translate", name, n_best=2)["translations"]
    assert (translation["text"], translation["tokens"]) == (expected.text, expected.tokens)
    assert translation["score"] == pytest.approx(expected.score, abs=1e-5)
    assert [tuple(link) for link in translation["alignment"]] == expected.alignment
    assert [output["text"] for output in translation["n_best"]] == [text for text, _ in expected.n_best]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", LOOKING)
def test_attention_has_every_head(others: httpx.Client, name: str) -> None:
    described = {model["name"]: model for model in others.get("/v1/models").json()["models"]}[name]
    assert described["blocks"] == HEADS[name]
    assert "attention" in described["can"]
    for mode in ("words", "tokens"):
        sides = asked(others, "attention", name, mode=mode)["modes"][mode]
        assert {side: [len(block["heads"]) for block in view["blocks"]] for side, view in sides.items()} == HEADS[name]
        for view in sides.values():
            width = len(view["columns"])
            for head in (head for block in view["blocks"] for head in block["heads"]):
                rows = [sum(head[first : first + width]) for first in range(0, len(head), width)]
                assert rows == pytest.approx([10_000] * len(view["rows"]), abs=width)  # each weight is rounded


def test_a_side_that_is_not_there_is_refused(others: httpx.Client) -> None:
    def refused(name: str, **question: Any) -> str:
        answer = others.post("/v1/attention", json={"model": name, "text": TEXT, **question})
        assert answer.status_code == 400
        return str(answer.json()["error"])

    assert refused("luong", sides=["encoder"]) == "This model has no attention on the side encoder; it has cross."
    assert "has no attention" in refused("bottleneck")
    assert "has no attention" in refused("bottleneck", sides=["cross"])


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", HEADS)
def test_the_next_token_and_going_on_from_another(others: httpx.Client, models: Any, name: str) -> None:
    choice_report = asked(others, "next", name, at=1, shown=5)
    choices = next_choices(models[name], TEXT, at=1, shown=5)
    assert [token["token"] for token in choice_report["tokens"]] == list(choices.tokens)
    assert [token["probability"] for token in choice_report["tokens"]] == pytest.approx(
        choices.panels[0].probabilities[:5].tolist(), rel=1e-4
    )
    total = sum(map(math.exp, choice_report["log_probabilities"])) + choice_report["rest"]["probability"]
    assert total == pytest.approx(1, abs=1e-4)
    other = next(token["token"] for token in choice_report["tokens"] if not token["taken"] and not token["end"])
    (went_on,) = asked(others, "translate", name, before=[*choice_report["before"], other])["translations"]
    assert went_on["tokens"][:2] == [*choice_report["before"], other]


@pytest.mark.parametrize("name", ["opus", "uneven", "recurrent encoder"])
def test_the_forward_pass_has_every_head(others: httpx.Client, name: str) -> None:
    def heads(layers: list[dict[str, Any]]) -> int:
        return sum((layer["kind"] == "head") + heads(layer["inside"]) for layer in layers)

    assert heads(asked(others, "forward", name)["layers"]) == sum(map(sum, HEADS[name].values()))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", HEADS)
def test_the_beam(others: httpx.Client, models: Any, name: str) -> None:
    beam, tree = asked(others, "beam", name, beam=3), beam_tree(models[name], TEXT, 3)
    assert (beam["outputs"], len(beam["nodes"])) == (tree.outputs, len(tree.nodes))
    assert beam["target"]["text"] == tree.nodes[tree.outputs[0]].text
