"""Attention among the words of a text, and edits of it, on a served language model, BERT, classifier and tagger."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from loopback import on_loopback
from toys import open_trained_toy

import regard
from regard.serving.app import make_app

# Each toy, a text that it reads, and the sides of its attention.
READERS = {
    "gpt": ("lessons read", ["text to text"]),
    "from-gates": ("lessons read", ["text to text"]),
    "bert": ("two [MASK] run", ["encoder"]),
    "rnn": ("good film bad", ["pooling"]),
    "encoder": ("good film bad", ["pooling", "encoder"]),
    "tagging encoder": ("good film bad", ["encoder"]),
    "tagging bert": ("good film bad", ["encoder"]),
}


def name_of(toy: str) -> str:
    return toy.replace(" ", "-")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("readers")
    made = {}
    for toy in (*READERS, "gat"):
        (place / "data" / toy).mkdir(parents=True)
        open_trained_toy(toy, place / "data" / toy)
        made[toy] = (place / "data" / toy / "run").rename(place / name_of(toy))
    return made


@pytest.fixture(scope="module")
def client(folders: dict[str, Path]) -> Iterator[httpx.Client]:
    with on_loopback(make_app(list(folders.values()))) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


def look(client: httpx.Client, toy: str, status: int = 200, **body: Any) -> dict[str, Any]:
    whole = {"model": name_of(toy), "input": READERS[toy][0] if toy in READERS else 0, "mode": "tokens", **body}
    answer = client.post("/v1/look", json=whole)
    assert answer.status_code == status, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.one_in(3)
@pytest.mark.parametrize("toy", READERS)
def test_all_attention_among_words_comes_with_the_places_that_edits_name(client: httpx.Client, toy: str) -> None:
    found = look(client, toy)
    assert (found["view"], found["unedited"], found["checksum"]) == ("attention", None, None)
    sides = found["looks"]["modes"]["tokens"]
    assert list(sides) == READERS[toy][1]
    for side in sides.values():
        assert side["row_of_token"] == list(range(len(side["rows"])))
        assert side["column_of_token"] == list(range(len(side["columns"])))
        for block in side["blocks"]:
            assert {len(head) for head in block["heads"]} == {len(side["rows"]) * len(side["columns"])}


@pytest.mark.parametrize("toy", READERS)
def test_a_forced_link_is_seen_and_answers_as_python_does(
    client: httpx.Client, folders: dict[str, Path], toy: str
) -> None:
    text, (side, *_) = READERS[toy]
    plain = look(client, toy)
    edit = {"at": f"{side}.1", "do": "force", "queries": [0], "keys": [0]}
    found = look(client, toy, edits=[edit])
    seen = found["looks"]["modes"]["tokens"][side]
    for head in seen["blocks"][0]["heads"]:
        assert head[: len(seen["columns"])] == [10_000] + [0] * (len(seen["columns"]) - 1)
    model = regard.load(folders[toy])
    view = model.look(text, edits=regard.Edit(**edit))
    assert found["output"] == view.about["output"]
    assert found["unedited"] == view.about["unedited"] == plain["output"]
    assert found["checksum"] == model.fingerprint
    assert look(client, toy) | {"seconds": 0} == plain | {"seconds": 0}  # nobody else is edited


def test_a_language_model_continues_with_and_without_edits(client: httpx.Client, folders: dict[str, Path]) -> None:
    text, edits = READERS["gpt"][0], [{"at": "1", "part": "head", "do": "zero"}]
    found = look(client, "gpt", edits=edits, write=6)
    model = regard.load(folders["gpt"])
    (plain,) = model.generate([text], tokens=6, beam=1)[0]
    with regard.editing(model, [regard.Edit(**edit) for edit in edits]):
        (edited,) = model.generate([text], tokens=6, beam=1)[0]
    assert (text + found["unedited"], text + found["output"]) == (plain.text, edited.text)
    assert (found["looks"]["unedited"]["text"], found["looks"]["target"]["text"]) == (
        found["unedited"],
        found["output"],
    )
    assert look(client, "gpt", write=6)["output"] == found["unedited"]


def test_words_are_the_rows_and_columns_in_the_other_mode(client: httpx.Client) -> None:
    (side,) = look(client, "bert", mode="words")["looks"]["modes"]["words"].values()
    assert side["rows"] == side["columns"] == ["[CLS]", "two", "[MASK]", "run", "[SEP]"]
    assert sorted(set(side["row_of_token"])) == list(range(5))
    assert len(side["row_of_token"]) > 5  # "two" and "run" have several tokens


@pytest.mark.parametrize(
    ("toy", "body", "sentence"),
    [
        ("gpt", {"edits": [{"at": "9.1", "part": "head", "do": "zero"}]}, "no attention '9.1'"),
        ("gpt", {"edits": [{"at": "1", "do": "force", "queries": [0], "keys": [2]}]}, "may not look at"),
        ("gpt", {"edits": [{"at": "1", "do": "force", "queries": [90], "keys": [0]}]}, "never reached"),
        ("gpt", {"mode": None, "write": 3}, "together with 'mode'"),
        ("bert", {"write": 3}, "for language models"),
        ("gat", {}, "read a text"),
        ("gpt", {"write": 201}, "write"),
        ("gpt", {"mode": "letters"}, "mode"),
    ],
)
def test_what_has_no_meaning_is_refused(client: httpx.Client, toy: str, body: dict[str, Any], sentence: str) -> None:
    assert sentence in look(client, toy, 400, **body)["error"]
