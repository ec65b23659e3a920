"""/v1/attention, /v1/next, /v1/beam and /v1/models: the content of `regard look` for the page."""

import math
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

import regard
from regard.seeing.next_token import beam_tree, next_choices
from regard.seeing.sentences import see

TEXT = "Ana sees the red house."


@pytest.fixture(scope="module")
def model(forth: Path) -> regard.Model:
    return regard.load(forth)


def asked(client: httpx.Client, view: str, **question: Any) -> dict[str, Any]:
    answer = client.post(f"/v1/{view}", json={"model": "forth", "text": TEXT, **question})
    assert answer.status_code == 200, answer.text
    assert answer.json()["model"] == "forth"
    return dict(answer.json())


def refused(client: httpx.Client, view: str, status: int = 400, **question: Any) -> str:
    answer = client.post(f"/v1/{view}", json={"model": "forth", "text": TEXT, **question})
    assert answer.status_code == status, answer.text
    return str(answer.json()["error"])


# Attention


def test_attention_is_what_look_sees(client: httpx.Client, model: regard.Model) -> None:
    report = asked(client, "attention")
    assert report["source"] == {"text": TEXT, "language": "en"}
    assert report["target"]["language"] == "pt"
    assert list(report["modes"]) == ["words"]
    for side in ("cross", "encoder", "decoder"):
        seen, view = see(model, TEXT).seen(side), report["modes"]["words"][side]
        assert (view["rows"], view["columns"], view["usual"]) == (seen.rows, seen.columns, seen.usual)
        assert [block["layer"] for block in view["blocks"]] == [1, 2]
        for block, expected in zip(view["blocks"], seen.blocks, strict=True):
            assert block["where"] == expected.where
            for head, weights in zip(block["heads"], expected.weights, strict=True):
                assert head == pytest.approx((10_000 * weights).ravel().tolist(), abs=0.51)
            size = math.log(len(view["columns"]))
            assert all(0 <= value <= size + 1e-3 for value in block["entropy"])


def test_attention_can_be_narrowed(client: httpx.Client) -> None:
    whole = asked(client, "attention")["modes"]["words"]
    one = asked(client, "attention", sides=["cross"], layers=[2], heads="max")["modes"]["words"]
    assert list(one) == ["cross"]
    (block,) = one["cross"]["blocks"]
    assert block["layer"] == 2
    heads = whole["cross"]["blocks"][1]["heads"]
    assert block["heads"] == [[max(pair) for pair in zip(*heads, strict=True)]]
    mean = asked(client, "attention", sides=["cross"], heads="mean")["modes"]["words"]["cross"]["blocks"][0]
    assert len(mean["heads"]) == 1


def test_attention_between_tokens_and_of_a_given_output(client: httpx.Client) -> None:
    report = asked(client, "attention", mode="tokens", output="Eu amo livros.")
    assert report["target"]["text"] == "Eu amo livros."
    assert report["modes"]["tokens"]["cross"]["rows"] == ["Eu", "amo", "livros", ".", "</s>"]
    exact = asked(client, "attention", mode="tokens", tokens=["Eu", "amo", "livros", "."])
    assert {**exact, "seconds": 0} == {**report, "seconds": 0}


def test_attention_is_refused_in_words(client: httpx.Client) -> None:
    assert "no layer 3" in refused(client, "attention", layers=[3])
    assert "give one of the two" in refused(client, "attention", output="a", tokens=["Eu"])
    assert "omit it" in refused(client, "attention", tokens=["Eu", "</s>"])
    assert "it is blank" in refused(client, "attention", text=" ")
    assert "longer than" in refused(client, "attention", text="books " * 300)
    assert "sides[0] is 'across'" in refused(client, "attention", sides=["across"])


def test_a_model_without_attention_says_so(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regard.seeing.gazes.Sight.looks", [])
    assert "has no attention" in refused(client, "attention")


# The next token


def test_the_next_token_is_what_look_foresees(client: httpx.Client, model: regard.Model) -> None:
    report, choices = asked(client, "next", prefix="Eu amo", shown=5), next_choices(model, TEXT, "Eu amo", shown=5)
    probabilities = choices.panels[0].probabilities
    assert report["before"] == ["Eu", "amo"]
    assert report["target"]["text"] == "Eu amo"
    assert [token["token"] for token in report["tokens"]] == list(choices.tokens)
    assert [token["probability"] for token in report["tokens"]] == pytest.approx(probabilities[:5].tolist(), rel=1e-4)
    assert report["vocabulary"] == choices.vocabulary == len(report["log_probabilities"])
    assert sum(map(math.exp, report["log_probabilities"])) == pytest.approx(1, abs=1e-4)
    assert report["rest"] == {"count": 0, "probability": 0}
    assert asked(client, "next", before=["Eu", "amo"], shown=5)["tokens"] == report["tokens"]


def test_what_is_not_kept_is_counted_together(client: httpx.Client) -> None:
    report = asked(client, "next", kept=10, shown=3)
    assert (len(report["log_probabilities"]), len(report["tokens"])) == (10, 3)
    assert report["rest"]["count"] == report["vocabulary"] - 10
    total = sum(map(math.exp, report["log_probabilities"])) + report["rest"]["probability"]
    assert total == pytest.approx(1, abs=1e-4)


def test_along_the_best_output_the_token_taken_is_marked(client: httpx.Client) -> None:
    tokens = client.post("/v1/translate", json={"model": "forth", "text": TEXT, "engine": "torch"}).json()
    best = tokens["translations"][0]["tokens"]
    for place, expected in enumerate([*best, "</s>"]):
        report = asked(client, "next", at=place, shown=200)
        assert [token["token"] for token in report["tokens"] if token["taken"]] == [expected]
        assert report["before"] == best[:place]
    assert [token["token"] for token in report["tokens"] if token["end"]] == ["</s>"]


def test_the_next_token_is_refused_in_words(client: httpx.Client) -> None:
    assert "give one of them" in refused(client, "next", at=1, prefix="Eu")
    assert "lies beyond its end" in refused(client, "next", at=60)
    assert "no token follows" in refused(client, "next", before=["</s>"])
    assert "shown is 201, expected 200 or less" in refused(client, "next", shown=201)


# The beam


def test_the_beam_is_what_look_draws(client: httpx.Client, model: regard.Model) -> None:
    beam, tree = asked(client, "beam", beam=3), beam_tree(model, TEXT, 3)
    assert (beam["width"], beam["outputs"], len(beam["nodes"])) == (3, tree.outputs, len(tree.nodes))
    assert [node["fate"] for node in beam["nodes"]] == tree.fates
    assert [node["parent"] for node in beam["nodes"]] == [node.parent for node in tree.nodes]
    assert beam["target"]["text"] == tree.nodes[tree.outputs[0]].text
    assert len(beam["lanes"]["all"]) == len(beam["lanes"]["outputs"]) == len(tree.nodes)
    lasting = [place for place, lane in enumerate(beam["lanes"]["outputs"]) if lane is not None]
    assert lasting == sorted(tree.lasting)
    assert asked(client, "beam", beam=3, length_penalty=5.0)["nodes"] != beam["nodes"]


def test_the_beam_is_refused_in_words(client: httpx.Client) -> None:
    assert "here it may be at most 8" in refused(client, "beam", beam=9)
    assert "it is blank" in refused(client, "beam", text="")


# Models


def test_models_are_described(client: httpx.Client) -> None:
    report = client.get("/v1/models").json()
    assert report["version"] == regard.__version__
    assert report["limits"]["beam"] == 8
    forth, back = report["models"]
    assert (forth["name"], forth["source"], forth["target"]["name"]) == (
        "forth", {"code": "en", "name": "English"}, "Portuguese",
    )  # fmt: skip
    assert (forth["engine"], forth["engines"], back["engines"]) == ("ctranslate2", ["ctranslate2", "torch"], ["torch"])
    assert forth["blocks"] == {"encoder": [2, 2], "decoder": [2, 2], "cross": [2, 2]}
    assert (forth["longest"], forth["family"], forth["decoding"]["beam"]) == (64, "transformer", 4)
    assert {"translate", "attention", "next", "beam"} <= set(forth["can"])


# Edits


def test_attention_under_edits_shows_both_outputs(client: httpx.Client, model: regard.Model) -> None:
    edits = [{"at": f"cross.{block}", "do": "force", "keys": [0]} for block in (1, 2)]
    report, plain = asked(client, "attention", mode="tokens", edits=edits), asked(client, "attention", mode="tokens")
    assert report["unedited"] == plain["target"]
    assert plain["unedited"] is None
    for block in report["modes"]["tokens"]["cross"]["blocks"]:
        for head in block["heads"]:
            assert head[0] == 10_000
    with regard.editing(model, [regard.Edit(**edit) for edit in edits]):
        assert report["target"]["text"] == see(model, TEXT).output


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        ({"at": "cross.9", "do": "zero", "keys": [0]}, "no attention 'cross.9'"),
        ({"at": "cross.1", "do": "zero", "keys": [99]}, "never reached key 99"),
        ({"at": "cross.1", "do": "zero"}, "needs keys"),
        ({"at": "cross.1", "do": "zero", "keys": [0], "more": 1}, "has no 'more'"),
        ({"at": "cross.1", "do": "replace", "values": [[1, 2], [3]]}, "different lengths"),
    ],
)
def test_bad_edits_are_refused(client: httpx.Client, edit: dict[str, Any], sentence: str) -> None:
    assert sentence in refused(client, "attention", edits=[edit])


def test_too_many_edits_are_refused(client: httpx.Client) -> None:
    refused(client, "attention", edits=[{"at": "cross.1", "do": "zero", "keys": [0]}] * 65)
    refused(client, "attention", edits=[])
